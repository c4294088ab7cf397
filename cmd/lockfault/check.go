package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
)

// checkFlags are the flags of check.
type checkFlags struct {
	format     string
	properties []string
	models     modelFlags
	resource   string
	ttl        time.Duration
	to, out    string
	extras     extraFlags
}

var checkFormats = []string{"table", "json", "markdown", "junit"}

func (f *checkFlags) add(c *call) {
	c.flags.StringSliceVar(&f.properties, "property", nil, "judge only the properties of this `LIST`: a,b (default: all; with --model: none)")
	f.models.add(c)
	c.flags.StringVar(&f.resource, "resource", "", "judge only the lock or the data of this `NAME`, with what belongs to it")
	c.flags.DurationVar(&f.ttl, "ttl", 0, "`TIME` that a lease lasts, for a history that does not tell")
	c.flags.StringVar(&f.format, "format", "table", "`WORD`: "+strings.Join(checkFormats, ", "))
	c.flags.StringVar(&f.to, "to", "", "judge nothing, but write the history in another `FORMAT`: edn, as Jepsen and Knossos read it, or jsonl")
	c.flags.StringVarP(&f.out, "output", "o", "", "`FILE` for --to (default: standard output)")
	f.extras.add(c)
}

func (f *checkFlags) check(c *call) error {
	if !slices.Contains(checkFormats, f.format) {
		return usagef("--format %q: want one of %s", f.format, strings.Join(checkFormats, ", "))
	}
	for _, name := range f.properties {
		if _, ok := checker.Find(name); !ok {
			return usagef("--property %q: there is none of this name; `lockfault list properties` names them", name)
		}
	}
	if err := f.models.check(c); err != nil {
		return err
	}
	if c.flags.Changed("ttl") && f.ttl <= 0 {
		return usagef("--ttl %v: want a duration such as 10s", f.ttl)
	}
	if c.flags.Changed("resource") && f.resource == "" {
		return usagef("--resource: an empty name")
	}
	if !slices.Contains([]string{"", "edn", "jsonl"}, f.to) || c.flags.Changed("to") && f.to == "" {
		return usagef("--to %q: want edn or jsonl", f.to)
	}
	for _, flag := range []string{"format", "property", "model", "ttl"} {
		if f.to != "" && c.flags.Changed(flag) {
			return usagef("--to judges nothing; --%s is for judging", flag)
		}
	}
	if err := f.extras.check(c, f); err != nil {
		return err
	}
	if f.to == "" && f.out != "" {
		return usagef("-o is for --to; what is judged goes to standard output")
	}
	if len(c.args) == 0 {
		return usagef("say which file: a history in JSON lines or Jepsen's EDN, gzip or not; - is standard input")
	}
	return nil
}

// check judges a history file, or writes it in another format.
func check(c *call) (int, error) {
	var f checkFlags
	f.add(c)
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if err := f.check(c); err != nil {
		return 0, err
	}
	if f.to != "" {
		return exitExpected, c.convert(&f)
	}
	if len(f.models.names) == 0 { // a search makes much garbage
		defer holdGC(c.args[0])()
	}
	r, err := c.readRecording(c.args[0])
	if err != nil {
		return 0, err
	}
	if f.resource != "" {
		if err := r.keepOnly(f.resource); err != nil {
			return 0, err
		}
	}
	chosen := f.chosen()
	verdicts, err := r.judge(chosen, f.ttl)
	if err != nil {
		return 0, err
	}
	run, err := r.asRun(chosen, verdicts)
	if err != nil {
		return 0, err
	}
	report := results.Report{Runs: []results.Run{run}}
	switch {
	case f.format == "table":
		err = results.WriteRun(c.stdout, run, c.layout())
		if err == nil {
			_, err = io.WriteString(c.stdout, r.places(chosen, verdicts))
		}
	case f.format != "json" || !f.extras.metrics:
		err = c.show(report, f.format)
	}
	if err == nil {
		err = c.writeExtras(r, &f, report)
	}
	return verdictStatus(verdicts, f.asked()), err
}

// chosen are the properties to judge. A model is one too, and goes by its own name.
func (f *checkFlags) chosen() []checker.Property {
	var chosen []checker.Property
	for _, p := range checker.All {
		if slices.Contains(f.properties, p.Name) || len(f.properties) == 0 && len(f.models.names) == 0 {
			chosen = append(chosen, p)
		}
	}
	return append(chosen, f.models.properties()...)
}

// asked are the names of what was asked for by name.
func (f *checkFlags) asked() []string { return append(slices.Clone(f.properties), f.models.names...) }

// recording is a history that was recorded elsewhere. All its events are in memory: judging needs them. (What a Reader
// holds does not grow.)
type recording struct {
	name   string
	events []history.Event
	reader *history.Reader
	origin []int // indexes in the file, if some events were left out
	digest *checker.Case
}

func (c *call) readRecording(name string) (*recording, error) {
	in, err := openHistory(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := &recording{name: shown(name), reader: history.NewReader(in, shown(name))}
	r.events, err = r.reader.ReadAll()
	c.warn(r.reader)
	if err == nil && len(r.events) == 0 {
		err = fmt.Errorf("%s: no events", r.name)
	}
	return r, err
}

func openHistory(name string) (*os.File, error) {
	if name == "-" {
		return os.Stdin, nil
	}
	return os.Open(name)
}

// shown is how messages call a file.
func shown(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func (c *call) warn(r *history.Reader) {
	for _, w := range r.Warnings() {
		fmt.Fprintf(c.stderr, "warning: %s\n", w)
	}
}

// judge gives the verdict of each chosen property. A ttl that is not 0 is for a history that does not tell its own.
func (r *recording) judge(chosen []checker.Property, ttl time.Duration) (map[string]checker.Verdict, error) {
	digest, err := checker.NewCase(r.events)
	if err != nil {
		return nil, r.placed(err)
	}
	if ttl > 0 {
		switch told := digest.Plan.TTL; {
		case told > 0 && told != ttl:
			return nil, usagef("--ttl %v: the history tells its own, %v", ttl, told)
		case r.reader.Untimed():
			return nil, usagef("--ttl %v: the history has no times that it could be compared with", ttl)
		}
		digest.Plan.TTL = ttl
	}
	verdicts := map[string]checker.Verdict{}
	for _, p := range chosen {
		verdicts[p.Name] = p.Judge(digest)
	}
	r.digest = digest
	return verdicts, nil
}

// placed names the file and, where an error of the checker tells of an event, its line.
func (r *recording) placed(err error) error {
	var event int
	if n, _ := fmt.Sscanf(err.Error(), "event %d", &event); n == 1 && 0 <= event && event < len(r.events) {
		return fmt.Errorf("%s:%d: %w", r.name, r.lineOf(event), err)
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

func (r *recording) lineOf(event int) int { return r.reader.LineOf(r.originOf(event)) }

func (r *recording) originOf(event int) int {
	if r.origin != nil && event < len(r.origin) {
		return r.origin[event]
	}
	return event
}

// places says in which lines of the file the witnesses of the violations are.
func (r *recording) places(chosen []checker.Property, verdicts map[string]checker.Verdict) string {
	var b strings.Builder
	for _, p := range chosen {
		v := verdicts[p.Name]
		if v.Status != checker.Violated || v.Witness == nil {
			continue
		}
		var lines []string
		for i, event := range v.Witness.Events {
			if i == 12 {
				lines = append(lines, "...")
				break
			}
			if line := fmt.Sprint(r.lineOf(event)); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		fmt.Fprintf(&b, "%s: see %s:%s\n", p.Name, r.name, strings.Join(lines, ", "))
	}
	return b.String()
}

// asRun is the history as a run: nothing is expected of it but that nothing is violated. Its witnesses name events by
// their index in the file; in an EDN history, by that which check --to jsonl gives them.
func (r *recording) asRun(chosen []checker.Property, verdicts map[string]checker.Verdict) (results.Run, error) {
	run := results.Run{Verdicts: map[string]checker.Verdict{}, Events: len(r.events), AsExpected: true}
	if first := r.events[0]; first.Op == history.Begin && first.Role == history.Harness {
		plan, err := history.ParsePlan(first.Detail)
		if err != nil {
			return run, r.placed(err)
		}
		run.Lock, run.Scenario, run.Fencing = plan.Lock, plan.Scenario, plan.Fencing
		run.Testbed, run.Seed = plan.Testbed, plan.Seed
	}
	if run.Lock == "" {
		run.Fencing = slices.ContainsFunc(r.events, func(e history.Event) bool { return e.Fence != 0 })
	}
	if run.Lock == "" {
		run.Lock = filepath.Base(r.name)
	}
	if run.Scenario == "" {
		run.Scenario = "recorded"
	}
	if run.Testbed == "" {
		run.Testbed = "elsewhere"
	}
	for _, p := range chosen {
		v := verdicts[p.Name]
		if v.Witness != nil && r.origin != nil {
			w := *v.Witness
			w.Events = slices.Clone(w.Events)
			for i, event := range w.Events {
				w.Events[i] = r.originOf(event)
			}
			v.Witness = &w
		}
		run.Verdicts[p.Name] = v
		if v.Status == checker.Violated {
			run.AsExpected = false
			run.Unexpected = append(run.Unexpected, p.Name+": violated")
		}
	}
	return run, nil
}

// verdictStatus: a violation counts most; then something asked for that is undecided, where exclusion is always asked for.
func verdictStatus(verdicts map[string]checker.Verdict, asked []string) int {
	if len(asked) == 0 {
		asked = []string{checker.Exclusion}
	}
	code := exitExpected
	for name, v := range verdicts {
		switch {
		case v.Status == checker.Violated:
			return exitUnexpected
		case v.Status == checker.Undecided && slices.Contains(asked, name):
			code = exitUndecided
		}
	}
	return code
}
