package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
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
	clocks     clockFlags
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
	f.clocks.add(c)
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
	if err := c.parse(math.MaxInt); err != nil {
		return 0, err
	}
	if err := f.check(c); err != nil {
		return 0, err
	}
	if code, done, err := c.checkRecording(&f); done {
		return code, err
	}
	if f.to != "" {
		return exitExpected, c.convert(&f)
	}
	chosen := f.chosen()
	h, verdicts, err := c.judge(&f, chosen)
	if err != nil {
		return 0, err
	}
	for _, o := range h.odd {
		fmt.Fprintf(c.stderr, "warning: %s:%d: %q is no operation that checkers know: all of that name were left out of account\n", h.name, o.line, o.op)
	}
	run, err := h.asRun(chosen, verdicts, f.asked())
	if err != nil {
		return 0, err
	}
	report := results.Report{Runs: []results.Run{run}}
	switch {
	case f.format == "table":
		err = results.WriteRun(c.stdout, run, c.layout())
		if err == nil {
			_, err = io.WriteString(c.stdout, h.places(chosen, verdicts))
		}
	case f.format != "json" || !f.extras.metrics:
		err = c.show(report, f.format)
	}
	if err == nil {
		err = c.writeExtras(h, &f, report)
	}
	return verdictStatus(verdicts, f.asked()), err
}

// judge reads the history and judges it, in one go where that can be done.
func (c *call) judge(f *checkFlags, chosen []checker.Property) (*historyFile, map[string]checker.Verdict, error) {
	if f.streams(c, chosen) {
		h, verdicts, err := c.judgeStream(chosen)
		if !errors.Is(err, checker.ErrWhole) {
			return h, verdicts, err
		}
	}
	if len(f.models.names) == 0 { // a search makes much garbage
		defer holdGC(c.args[0])()
	}
	h, err := c.readHistory(c.args[0], f.resource)
	if err != nil {
		return nil, nil, err
	}
	verdicts, err := h.judge(chosen, f.ttl)
	return h, verdicts, err
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

// expectAsked says what is not as expected of a run of which nothing is expected but that nothing is violated and that what
// was asked for is decided, so that every format says what the exit status does.
func expectAsked(run *results.Run, asked []string) {
	status := verdictStatus(run.Verdicts, asked)
	run.AsExpected = status == exitExpected
	for _, name := range run.Properties() {
		switch got := run.Verdicts[name].Status; {
		case status == exitUnexpected && got == checker.Violated, status == exitUndecided && got == checker.Undecided && isAsked(name, asked):
			run.Unexpected = append(run.Unexpected, fmt.Sprintf("%s: %v", name, got))
		}
	}
}

// isAsked tells whether something was asked for by name. Exclusion is if nothing else is.
func isAsked(name string, asked []string) bool {
	return slices.Contains(asked, name) || len(asked) == 0 && name == checker.Exclusion
}

// verdictStatus: a violation counts most; then something asked for that is undecided, where exclusion is always asked for.
func verdictStatus(verdicts map[string]checker.Verdict, asked []string) int {
	code := exitExpected
	for name, v := range verdicts {
		switch {
		case v.Status == checker.Violated:
			return exitUnexpected
		case v.Status == checker.Undecided && isAsked(name, asked):
			code = exitUndecided
		}
	}
	return code
}
