package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// planFlags are the flags that choose plans, the same for every verb that runs some.
type planFlags struct {
	lock, locks         []string
	scenario, scenarios []string
	fencing             string
	testbed             string
	seed                uint64
	speed               float64
	budget              time.Duration
}

func (f *planFlags) add(c *call, fencing string) {
	c.flags.StringArrayVar(&f.lock, "lock", nil, "lock to test; may be repeated (default: all)")
	c.flags.StringSliceVar(&f.locks, "locks", nil, "the same as a list: a,b")
	c.flags.StringArrayVar(&f.scenario, "scenario", nil, "scenario by name, code or file.yaml; may be repeated (default: all)")
	c.flags.StringSliceVar(&f.scenarios, "scenarios", nil, "the same as a list: a,b; or all")
	c.flags.StringVar(&f.fencing, "fencing", fencing, "on, off or both")
	c.flags.StringVar(&f.testbed, "testbed", "sim", "sim: virtual time, in this process")
	c.flags.Uint64Var(&f.seed, "seed", 1, "decides every delay and every random choice")
	c.flags.Float64Var(&f.speed, "speed", 1, "divides every duration of a scenario")
	c.flags.DurationVar(&f.budget, "budget", 0, "begin no run after this much real time (0: no limit)")
}

// plans are the chosen ones, scenario by scenario.
func (f *planFlags) plans() ([]runner.Plan, error) {
	if f.testbed != "sim" {
		return nil, usagef("--testbed %q: only sim is supported here", f.testbed)
	}
	if !(f.speed > 0) || f.speed > 1000 {
		return nil, usagef("--speed %v: want a number above 0 and up to 1000", f.speed)
	}
	if f.budget < 0 {
		return nil, usagef("--budget %v: want a duration such as 30s", f.budget)
	}
	fencings, err := f.fencings()
	if err != nil {
		return nil, err
	}
	entries, err := f.lockEntries()
	if err != nil {
		return nil, err
	}
	chosen, err := f.chosenScenarios()
	if err != nil {
		return nil, err
	}
	var plans []runner.Plan
	for _, s := range chosen {
		for _, lock := range entries {
			for _, fencing := range fencings {
				plans = append(plans, runner.Plan{Lock: lock, Scenario: s, Fencing: fencing, Seed: f.seed, Speed: f.speed})
			}
		}
	}
	return plans, nil
}

func (f *planFlags) fencings() ([]bool, error) {
	switch f.fencing {
	case "on":
		return []bool{true}, nil
	case "off":
		return []bool{false}, nil
	case "both":
		return []bool{false, true}, nil
	}
	return nil, usagef("--fencing %q: want on, off or both", f.fencing)
}

// names puts the repeated and the listed form of a flag together, without repetitions.
func names(flag string, one, list []string) ([]string, error) {
	all := append(slices.Clone(one), list...)
	var unique []string
	for _, name := range all {
		name = strings.TrimSpace(name)
		if name == "" {
			return nil, usagef("--%s: an empty name", flag)
		}
		if !slices.Contains(unique, name) {
			unique = append(unique, name)
		}
	}
	return unique, nil
}

func (f *planFlags) lockEntries() ([]locks.Entry, error) {
	chosen, err := names("lock", f.lock, f.locks)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 || slices.Equal(chosen, []string{"all"}) {
		return locks.All, nil
	}
	var entries []locks.Entry
	for _, name := range chosen {
		e, err := locks.Find(name)
		if err != nil {
			return nil, usagef("--lock %s: %w", name, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (f *planFlags) chosenScenarios() ([]*scenarios.Scenario, error) {
	chosen, err := names("scenario", f.scenario, f.scenarios)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 || slices.Equal(chosen, []string{"all"}) {
		return scenarios.Catalogue()
	}
	var found []*scenarios.Scenario
	for _, name := range chosen {
		s, err := scenarios.Find(name)
		var broken *scenarios.FileError
		switch {
		case errors.As(err, &broken):
			return nil, err // it names file, line and column
		case err != nil:
			return nil, usagef("--scenario %s: %w", name, err)
		}
		found = append(found, s)
	}
	return found, nil
}

// outputFlags say where results go and how they are shown.
type outputFlags struct {
	out    string
	format string
	quiet  bool
}

func (f *outputFlags) add(c *call) {
	c.flags.StringVar(&f.format, "format", "table", "table, matrix, json, markdown or junit")
	c.flags.StringVar(&f.out, "out", "", "folder for this run's files (default: a new one under "+results.DefaultRoot+")")
	c.flags.BoolVar(&f.quiet, "quiet", false, "print no progress and, as a table, only what is not as expected")
}

func (f *outputFlags) check() error {
	if formats := []string{"table", "matrix", "json", "markdown", "junit"}; !slices.Contains(formats, f.format) {
		return usagef("--format %q: want one of %s", f.format, strings.Join(formats, ", "))
	}
	return nil
}

// folder makes the folder for what a command finds.
func (f *outputFlags) folder(name string, at time.Time) (*results.Folder, error) {
	if f.out != "" {
		folder, err := results.CreateAt(f.out)
		if err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
		return folder, nil
	}
	return results.Store{Root: results.DefaultRoot}.Create(name, at)
}
