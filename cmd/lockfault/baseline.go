package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// baselineFlags choose the failures that are known.
type baselineFlags struct {
	read, write string
	known       *scenarios.Baseline // nil: none was given
}

func (f *baselineFlags) add(c *call) {
	c.flags.StringVar(&f.read, "baseline", "", "`FILE` of known failures: a run is as expected if exactly those show, whatever its scenario "+
		"expects; a new violation and a known one that is gone are not")
	c.flags.StringVar(&f.write, "write-baseline", "", "write the violations that show to a new `FILE`, to begin a baseline with")
}

// load reads the baseline for plans.
func (f *baselineFlags) load(c *call, plans []runner.Plan) error {
	for flag, value := range map[string]string{"baseline": f.read, "write-baseline": f.write} {
		if c.flags.Changed(flag) && value == "" {
			return usagef("--%s: an empty name", flag)
		}
	}
	if f.write != "" {
		if f.read != "" {
			return usagef("--baseline and --write-baseline: the one judges by what is known, the other begins anew; leave one out")
		}
		if _, err := os.Lstat(f.write); !errors.Is(err, fs.ErrNotExist) {
			return usagef("--write-baseline %s: it is there already; remove it first, or read it with --baseline", f.write)
		}
		return nil
	}
	if f.read == "" {
		return nil
	}
	chosen, err := scenarios.Catalogue()
	if err != nil {
		return err
	}
	names := lockNames()
	for _, p := range plans {
		chosen = append(chosen, p.Scenario)
		if !slices.Contains(names, p.Lock.Name) {
			names = append(names, p.Lock.Name)
		}
	}
	if f.known, err = scenarios.LoadBaseline(f.read, names, chosen); err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	return nil
}

// judge sees a run from the baseline instead of from what its scenario expects.
func (f *baselineFlags) judge(r results.Run) results.Run {
	if f == nil || f.known == nil || r.Unsupported != "" {
		return r
	}
	var line int
	r.Expected, r.Unexpected, line = f.known.Against(r.Lock, r.Scenario, r.Fencing, r.Verdicts)
	r.AsExpected, r.Because = len(r.Unexpected) == 0 && r.Error == "", ""
	if line > 0 {
		r.Place = fmt.Sprintf("%s:%d", f.known.File, line)
	}
	return r
}

// begin writes the violations of a report to a new baseline.
func (f *baselineFlags) begin(c *call, report results.Report) error {
	if f.write == "" {
		return nil
	}
	var known []scenarios.KnownFailure
	for _, r := range report.Runs {
		k := scenarios.KnownFailure{Lock: r.Lock, Scenario: r.Scenario, Fencing: &r.Fencing}
		for _, p := range checker.All {
			if r.Verdicts[p.Name].Status == checker.Violated {
				k.Violated = append(k.Violated, p.Name)
			}
		}
		if len(k.Violated) > 0 {
			known = append(known, k)
		}
	}
	file, err := os.OpenFile(f.write, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		err = errors.Join(scenarios.WriteBaseline(file, known), file.Close())
	}
	if err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	fmt.Fprintf(c.stderr, "%d known failures are in %s; write down a reason for each, then run with --baseline %s\n", len(known), f.write, f.write)
	return nil
}
