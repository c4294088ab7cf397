package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
)

// check judges a history file.
func check(c *call) (int, error) {
	var output outputFlags
	var properties []string
	c.flags.StringVar(&output.format, "format", "table", "table, json or junit")
	c.flags.StringSliceVar(&properties, "property", nil, "judge only these (default: all)")
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if !slices.Contains([]string{"table", "json", "junit"}, output.format) {
		return 0, usagef("--format %q: want table, json or junit", output.format)
	}
	if len(c.args) == 0 {
		return 0, usagef("say which file: a history in JSON lines, or - for standard input")
	}
	for _, name := range properties {
		if _, ok := checker.Find(name); !ok {
			return 0, usagef("--property %q: there is none of this name; `lockfault list properties` names them", name)
		}
	}
	events, err := c.readHistory(c.args[0])
	if err != nil {
		return 0, err
	}
	verdicts, err := checker.Judge(events)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.args[0], err)
	}
	for name := range verdicts {
		if len(properties) > 0 && !slices.Contains(properties, name) {
			delete(verdicts, name)
		}
	}
	run, err := asJudged(events, verdicts)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.args[0], err)
	}
	if output.format == "table" {
		err = results.WriteRun(c.stdout, run, c.layout())
	} else {
		err = c.show(results.Report{Runs: []results.Run{run}}, output.format)
	}
	return verdictStatus(verdicts, properties), err
}

func (c *call) readHistory(name string) ([]history.Event, error) {
	in := io.Reader(os.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	events, warnings, err := history.ReadAll(in, name)
	for _, w := range warnings {
		fmt.Fprintf(c.stderr, "warning: %s\n", w)
	}
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("%s: no events", name)
	}
	return events, err
}

// asJudged is a history as a run: nothing is expected of it but that nothing is violated.
func asJudged(events []history.Event, verdicts map[string]checker.Verdict) (results.Run, error) {
	run := results.Run{Verdicts: verdicts, Events: len(events), AsExpected: true}
	if events[0].Op == history.Begin {
		plan, err := history.ParsePlan(events[0].Detail)
		if err != nil {
			return run, err
		}
		run.Lock, run.Scenario, run.Fencing = plan.Lock, plan.Scenario, plan.Fencing
		run.Testbed, run.Seed = plan.Testbed, plan.Seed
	}
	for _, p := range checker.All {
		if verdicts[p.Name].Status == checker.Violated {
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

// list says what there is.
func list(c *call) (int, error) {
	if err := c.parse(1); err != nil {
		return 0, err
	}
	kinds := []string{"locks", "scenarios", "faults", "properties"}
	chosen := kinds
	if len(c.args) == 1 {
		if !slices.Contains(kinds, c.args[0]) {
			return 0, usagef("%q: want one of %s", c.args[0], strings.Join(kinds, ", "))
		}
		chosen = c.args
	}
	for i, kind := range chosen {
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		if err := c.listKind(kind); err != nil {
			return 0, err
		}
	}
	return exitExpected, nil
}
