package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
)

// busy is a run in which exclusion shows as violated, and which failed.
func busy(scenario string) results.Run {
	r := violating(scenario)
	r.AsExpected, r.Error = false, "the machine was too busy for this run"
	return r
}

func violating(scenario string) results.Run {
	return results.Run{
		Lock: "single", Scenario: scenario, AsExpected: true, Seed: 1,
		Verdicts: map[string]checker.Verdict{checker.Exclusion: {Status: checker.Violated}, checker.Effects: {Status: checker.Held}},
	}
}

// concluded is what conclude makes of findings with --write-baseline: the baseline, "" if there is none, what it says, its
// exit status and its error.
func concluded(t *testing.T, f findings) (text, said string, code int, err error) {
	t.Helper()
	var stderr strings.Builder
	c := &call{ctx: t.Context(), stderr: &stderr}
	b := &baselineFlags{write: filepath.Join(t.TempDir(), "new.yaml")}
	code, err = c.conclude(f, outputFlags{quiet: true}, b)
	written, readErr := os.ReadFile(b.write)
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	return string(written), strings.ReplaceAll(stderr.String(), b.write, "new.yaml"), code, err
}

// TestAFailedRunIsNotKnown: it is an error, never a verdict.
func TestAFailedRunIsNotKnown(t *testing.T) {
	var many []results.Run
	for i := range 7 {
		many = append(many, busy(fmt.Sprint("s", i+1)))
	}
	for name, of := range map[string]struct {
		runs  []results.Run
		known int
		said  string
		code  int
	}{
		"none failed": {[]results.Run{violating("a"), violating("b")}, 2, "2 known failures are in new.yaml", exitExpected},
		"one failed":  {[]results.Run{violating("a"), busy("b")}, 1, "1 run failed and is not in it: single/b/unfenced#1\n", exitFailed},
		"two failed": {[]results.Run{busy("a"), violating("b"), busy("c")}, 1,
			"2 runs failed and are not in it: single/a/unfenced#1, single/c/unfenced#1\n", exitFailed},
		"all failed": {many, 0, "7 runs failed and are not in it: single/s1/unfenced#1, single/s2/unfenced#1, single/s3/unfenced#1, " +
			"single/s4/unfenced#1, single/s5/unfenced#1 and 2 more\n", exitFailed},
	} {
		text, said, code, err := concluded(t, findings{report: results.Report{Runs: of.runs}})
		if err != nil || code != of.code || !strings.Contains(said, of.said) || strings.Contains(said, "not in it") != (of.code == exitFailed) {
			t.Errorf("%s: status %d, %v, %q", name, code, err, said)
		}
		if strings.Count(text, "- lock: single") != of.known || strings.Count(text, "violated: [exclusion]") != of.known {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestBaselineNeedsAllRunsAndNothingElse: what goes wrong after the last run takes nothing from what was judged.
func TestBaselineNeedsAllRunsAndNothingElse(t *testing.T) {
	broken := errors.New("the containers could not be removed")
	for name, of := range map[string]struct {
		notRun  int
		written bool
		said    string
		err     string
	}{
		"all were judged": {0, true, "1 known failure is in new.yaml", "the containers could not be removed; 1 of 1 runs were judged before that"},
		"some were judged": {2, false, "--write-baseline: new.yaml was not written, since only 1 of 3 runs were judged\n",
			"the containers could not be removed; 1 of 3 runs were judged before that"},
	} {
		text, said, _, err := concluded(t, findings{err: broken, report: results.Report{Runs: []results.Run{violating("a")}, NotRun: of.notRun}})
		if !errors.Is(err, broken) || err.Error() != of.err || !strings.Contains(said, of.said) || (text != "") != of.written {
			t.Errorf("%s: %v, %q, %q", name, err, said, text)
		}
	}
}
