package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
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
	images              imageFlags
	baseline            baselineFlags

	changed func(flag string) bool
	say     func(format string, args ...any) // on standard error, unless --quiet
}

func (f *planFlags) add(c *call) {
	f.changed = c.flags.Changed
	f.say = func(format string, args ...any) {
		if quiet, _ := c.flags.GetBool("quiet"); !quiet {
			fmt.Fprintf(c.stderr, format, args...)
		}
	}
	c.flags.StringArrayVar(&f.lock, "lock", nil, "lock to test, by `NAME`, or a program as exec:COMMAND; may be repeated (compare: built-in "+
		"by default)")
	c.flags.StringSliceVar(&f.locks, "locks", nil, "the same as a `LIST`: a,b; or built-in, third-party or all")
	c.flags.StringArrayVar(&f.scenario, "scenario", nil,
		"scenario by `NAME`, code or file.yaml; may be repeated (compare: all by default)")
	c.flags.StringSliceVar(&f.scenarios, "scenarios", nil, "the same as a `LIST`: a,b or all")
	c.flags.StringVar(&f.fencing, "fencing", "both", "`WORD`: on, off or both")
	c.flags.StringVar(&f.testbed, "testbed", "sim", "`TESTBED` to run on: sim is virtual time, without servers; docker is "+
		"real servers in containers")
	c.flags.Uint64Var(&f.seed, "seed", 1, "number `N` that decides every delay and every random choice")
	c.flags.Float64Var(&f.speed, "speed", 1, "divides every duration of a scenario by `F` (docker: 5 by default)")
	f.baseline.add(c)
	f.images.add(c)
	c.flags.DurationVar(&f.budget, "budget", 0, "begin no run after this much real `TIME`, such as 30s; a run that is under way "+
		"is finished, at least one is made, and the exit status is that of the runs made; those not made are counted (default: no limit)")
}

// plans are the chosen ones, scenario by scenario.
func (f *planFlags) plans() ([]runner.Plan, error) {
	if f.testbed != "sim" && f.testbed != "docker" {
		return nil, usagef("--testbed %q: want sim or docker", f.testbed)
	}
	if !(f.speed > 0) || f.speed > 1000 {
		return nil, usagef("--speed %v: want a number above 0 and up to 1000", f.speed)
	}
	if f.budget < 0 || f.changed("budget") && f.budget == 0 {
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
	f.settle(entries)
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
	if f.testbed == "docker" {
		return plans, checkSpeed(plans)
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

// names puts the repeated and the listed form of a flag together, without repetitions; none stands for all. A flag whose
// value is empty is an error: a script whose variable is empty does not mean all.
func (f *planFlags) names(flag string, one, list []string) ([]string, error) {
	all := append(slices.Clone(one), list...)
	if len(all) == 0 && f.changed(flag+"s") {
		all = []string{""}
	}
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
	if slices.Equal(unique, []string{"all"}) {
		return nil, nil
	}
	return unique, nil
}

// lockWords name many locks at once.
var lockWords = map[string]func(locks.Entry) bool{
	"built-in":    func(e locks.Entry) bool { return e.Module == "" },
	"third-party": func(e locks.Entry) bool { return e.Module != "" },
}

// lockEntries are the chosen ones. By default those are the built-in ones: the table that teaches. Libraries have
// releases, and a table that changes with them is asked for.
func (f *planFlags) lockEntries() ([]locks.Entry, error) {
	chosen, err := f.names("lock", f.lock, f.locks)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && (f.changed("lock") || f.changed("locks")) {
		return locks.All, nil
	}
	if len(chosen) == 0 {
		chosen = []string{"built-in"}
	}
	var entries []locks.Entry
	add := func(e locks.Entry) {
		if !slices.ContainsFunc(entries, func(o locks.Entry) bool { return o.Name == e.Name }) {
			entries = append(entries, e)
		}
	}
	for _, name := range chosen {
		if word, ok := lockWords[name]; ok {
			for _, e := range locks.All {
				if word(e) {
					add(e)
				}
			}
			continue
		}
		e, err := findLock(name)
		if err != nil {
			return nil, err
		}
		if e.Command != "" && slices.ContainsFunc(entries, func(o locks.Entry) bool { return o.Name == e.Name }) {
			return nil, usagef("--lock %s: another one is named %s too, and a table could not tell them apart", name, e.Name)
		}
		add(e)
	}
	return entries, nil
}

// findLock returns the lock with that name, or the program with that command.
func findLock(name string) (locks.Entry, error) {
	if command, is := strings.CutPrefix(name, program.Prefix); is {
		e, err := program.Entry(command)
		if err != nil {
			return e, fmt.Errorf("--lock: %w\n`lockfault adapter-check %s` tests such a program", err, strconv.Quote(command))
		}
		return e, nil
	}
	e, err := locks.Find(name)
	if err != nil {
		return e, usagef("--lock: %w%s", err, didYouMean(name, locks.Names()))
	}
	return e, nil
}

// settle chooses the testbed: programs live in real time, so that locks which are all programs go to containers unless
// another testbed is asked for.
func (f *planFlags) settle(entries []locks.Entry) {
	allPrograms := !slices.ContainsFunc(entries, func(e locks.Entry) bool { return e.Command == "" })
	if allPrograms && !f.changed("testbed") {
		f.testbed = "docker"
		f.say("programs live in real time: --testbed docker\n")
	}
	if f.testbed == "docker" && !f.changed("speed") {
		f.speed = dockerSpeed
	}
}

func (f *planFlags) chosenScenarios() ([]*scenarios.Scenario, error) {
	chosen, err := f.names("scenario", f.scenario, f.scenarios)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return scenarios.Catalogue()
	}
	var found []*scenarios.Scenario
	for _, name := range chosen {
		s, err := findScenario(name)
		if err != nil {
			return nil, err
		}
		same := slices.IndexFunc(found, func(o *scenarios.Scenario) bool { return o.Name == s.Name })
		switch {
		case same < 0:
			found = append(found, s)
		case found[same].Text != s.Text:
			return nil, usagef("--scenario %s: another one is named %s too, and a table could not tell them apart; rename the file", name, s.Name)
		}
	}
	return found, nil
}

func findScenario(name string) (*scenarios.Scenario, error) {
	s, err := scenarios.Find(name)
	var broken *scenarios.FileError
	if err == nil || errors.As(err, &broken) {
		return s, err // which names file, line and column
	}
	all, catalogueErr := scenarios.Catalogue()
	if catalogueErr != nil {
		return nil, catalogueErr
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return nil, usagef("--scenario: %w%s", err, didYouMean(name, names))
}

// outputFlags say where results go and how they are shown.
type outputFlags struct {
	out    string
	format string
	quiet  bool
}

var outputFormats = []string{"table", "matrix", "json", "markdown", "csv", "junit"}

func (f *outputFlags) add(c *call) {
	c.flags.StringVar(&f.format, "format", "table", "`FORMAT`: "+strings.Join(outputFormats, ", "))
	c.flags.StringVar(&f.out, "out", "", "`FOLDER` for this run's files (default: a new one under "+results.DefaultRoot+")")
	c.flags.BoolVar(&f.quiet, "quiet", false, "print no progress and, as a table, only what is not as expected")
}

func (f *outputFlags) check() error {
	if !slices.Contains(outputFormats, f.format) {
		return usagef("--format %q: want one of %s", f.format, strings.Join(outputFormats, ", "))
	}
	return nil
}

// forPeople tells whether the format leaves room for words beside the document.
func (f *outputFlags) forPeople() bool { return f.format == "table" || f.format == "matrix" }

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
