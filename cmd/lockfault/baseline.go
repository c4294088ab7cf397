package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
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
	names := locks.Names()
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

// begin writes the violations of a report to a new baseline. A run that failed shows what the harness or the machine did, and
// not what the lock does: it is left out, which standard error says.
func (f *baselineFlags) begin(c *call, report results.Report) error {
	if f.write == "" {
		return nil
	}
	known, failed := knownFailures(report.Runs)
	file, err := os.OpenFile(f.write, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		err = errors.Join(scenarios.WriteBaseline(file, known), file.Close())
	}
	if err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	fmt.Fprintf(c.stderr, "%s in %s; write down a reason for each, then run with --baseline %s\n", failuresAre(len(known)), f.write, f.write)
	if len(failed) > 0 {
		fmt.Fprintln(c.stderr, leftOut(failed))
	}
	return nil
}

func failuresAre(n int) string {
	if n == 1 {
		return "1 known failure is"
	}
	return fmt.Sprintf("%d known failures are", n)
}

// leave says that no baseline was begun, if one was asked for: of what was not judged it would say that nothing is known.
func (f *baselineFlags) leave(c *call, report results.Report) {
	if f.write != "" {
		fmt.Fprintf(c.stderr, "--write-baseline: %s was not written, since only %d of %d runs were judged\n", f.write, len(report.Runs),
			len(report.Runs)+report.NotRun)
	}
}

// knownFailures are the violations of the runs that were judged, and the keys of the runs that failed.
func knownFailures(runs []results.Run) (known []scenarios.KnownFailure, failed []string) {
	for _, r := range runs {
		if r.Outcome() == results.Failed {
			failed = append(failed, r.Key())
			continue
		}
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
	return known, failed
}

// leftOut reads like "3 runs failed and are not in it: KEY, ...". The keys of many runs would hide what is said before.
func leftOut(failed []string) string {
	const most = 5
	runs := "runs failed and are"
	if len(failed) == 1 {
		runs = "run failed and is"
	}
	text := fmt.Sprintf("%d %s not in it: %s", len(failed), runs, strings.Join(failed[:min(most, len(failed))], ", "))
	if len(failed) > most {
		text += fmt.Sprintf(" and %d more", len(failed)-most)
	}
	return text
}
