package locktest

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// run is a scenario that was played.
type run struct {
	*settings
	outcome runner.Outcome
	rule    scenarios.Rule
}

// finding is what a run says of one property to the test.
type finding struct {
	fails, skipped bool // neither: it passes
	text           string
	steps          string // of the run, for a failure that they explain
}

// judge compares a verdict with what may be expected of such a lock. Worse fails, better passes.
func (r *run) judge(p checker.Property) finding {
	v, decided := r.outcome.Verdicts[p.Name]
	if !decided {
		v.Reason = "the run was not judged"
	}
	expected, demanded := r.rule.Statuses()[p.Name]
	may := slices.Contains(r.rule.May, p.Name)
	if k := r.knownFailure(p.Name); k != nil && (v.Status == checker.Violated || !r.outcome.Plan.Fencing) {
		return r.judgeKnown(p, v, k) // what fences mend is known without them
	}
	switch {
	case slices.Contains(r.notPromised, p.Name):
		return finding{skipped: true, text: "not promised"}
	case v.Status == checker.Violated && (expected == checker.Violated || may):
		return finding{text: fmt.Sprintf("violated, as with any lock like %s: %s%s", r.entry.Like, v.Witness.Sentence, r.because())}
	case v.Status == checker.Violated:
		return finding{fails: true, text: r.violation(p, v), steps: r.steps(v.Witness.Events)}
	case v.Status == checker.Held && expected == checker.Violated:
		return finding{text: fmt.Sprintf("held, which is better than a lock like %s: %s", r.entry.Like, v.Reason)}
	case v.Status == checker.Held:
		return finding{text: "held: " + v.Reason}
	case demanded && expected == checker.Held && !may:
		return finding{fails: true, steps: r.steps(nil), text: fmt.Sprintf("%s\nclaimed:   %s\nundecided: %s.\nexpected:  %s\n",
			r.title(), p.Claim, v.Reason, "that this is shown to hold, as by a lock like "+r.entry.Like)}
	}
	return finding{skipped: true, text: "undecided: " + v.Reason}
}

func (r *run) judgeKnown(p checker.Property, v checker.Verdict, k *known) finding {
	if v.Status == checker.Violated {
		return finding{text: fmt.Sprintf("violated, as is known (%s): %s", k.because, v.Witness.Sentence)}
	}
	return finding{fails: true, text: fmt.Sprintf("%s is %v here (%s), and no longer violated: take out ExpectViolated(%q, %q, ...)",
		p.Name, v.Status, v.Reason, k.scenario, k.property)}
}

func (r *run) knownFailure(property string) *known {
	for i, k := range r.known {
		if k.scenario == r.outcome.Plan.Scenario.Name && k.property == property {
			return &r.known[i]
		}
	}
	return nil
}

func (r *run) because() string {
	if r.rule.Because == "" {
		return ""
	}
	return " (" + r.rule.Because + ")"
}

// title names the scenario for a person.
func (r *run) title() string {
	s := r.outcome.Plan.Scenario
	if s.Code == "" {
		return s.Title + "."
	}
	return s.Code + ": " + s.Title + "."
}

// violation is the text of a failure.
func (r *run) violation(p checker.Property, v checker.Verdict) string {
	return fmt.Sprintf("%s\nclaimed:   %s\nviolated:  %s.\nexpected:  that a lock like %s keeps this here%s\n",
		r.title(), p.Claim, v.Witness.Sentence, r.entry.Like, r.because())
}

// brokenText says what no lock may do in any run.
func (r *run) brokenText() string {
	return fmt.Sprintf("%s\nthe lock broke the run: %v", r.title(), r.outcome.Err)
}

// again is how to run a subtest again, and what for.
func again(test string, seed uint64, why string) string {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	if why == "" {
		why = "with -artifacts it keeps history.jsonl, for `lockfault check`"
	}
	info, _ := debug.ReadBuildInfo()
	flags, tested := builtFrom(info)
	return fmt.Sprintf("again:     %s=%d go test -count=1%s -run '%s' %s\n           %s", seedVariable, seed, flags, strings.Join(parts, "/"), tested, why)
}

// builtFrom says which flags, each with a space before it, and which package make the same test binary: without its build
// tags, other code would be tested. The package of a binary that does not tell, or of files that were named one by one, is
// the one in the working directory. Info may be nil.
func builtFrom(info *debug.BuildInfo) (flags, tested string) {
	if info == nil {
		return "", "."
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "-tags" && s.Value != "":
			flags += " -tags " + s.Value
		case s.Key == "-race" && s.Value == "true":
			flags += " -race"
		}
	}
	tested, isTest := strings.CutSuffix(info.Path, ".test")
	if !isTest || tested == "" || tested == "command-line-arguments" {
		tested = "."
	}
	return flags, tested
}
