package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// recorded is a run of the store.
type recorded struct {
	dir      string
	testbed  string
	plan     runner.Plan
	versions map[string]string
	history  []byte
}

// replay runs a stored plan again and compares the histories.
func replay(c *call) (int, error) {
	var output outputFlags
	var images imageFlags
	output.add(c)
	images.add(c)
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if err := output.check(); err != nil {
		return 0, err
	}
	if len(c.args) == 0 {
		return 0, usagef("say which run: its folder, its name in the store, or latest")
	}
	before, err := readRecorded(c.args[0])
	if err != nil {
		return 0, err
	}
	if before.testbed == "docker" {
		cfg := images.config()
		c.docker = &cfg
	}
	if sameFile(before.dir, output.out) {
		return 0, usagef("--out %s: this is the run to repeat, and would be overwritten", output.out)
	}
	f, err := c.carryOut([]runner.Plan{before.plan}, 0, nil, output, before.plan.Lock.Name+"-"+before.plan.Scenario.Name)
	if err != nil {
		return 0, err
	}
	if err := c.tell(f, output, before.plan); err != nil {
		return 0, err
	}
	code, err := c.conclude(f, output, &baselineFlags{})
	if err != nil || len(f.report.Runs) == 0 {
		return code, err
	}
	return c.compareHistories(code, before, f, output)
}

// sameFile tells whether two names are of one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

func readRecorded(name string) (recorded, error) {
	var r recorded
	var err error
	if r.dir, err = (results.Store{Root: results.DefaultRoot}).Resolve(name); err != nil {
		return r, err
	}
	file := filepath.Join(r.dir, results.PlanFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, notOneRun(r.dir, err)
	}
	if err != nil {
		return r, err
	}
	plan, scenario, err := scenarios.ParsePlan(file, text)
	if err != nil {
		return r, err
	}
	if plan.Testbed != "sim" && plan.Testbed != "docker" {
		return r, fmt.Errorf("%s: recorded on the testbed %q; only runs of sim and docker can be replayed here", file, plan.Testbed)
	}
	r.testbed = plan.Testbed
	lock, err := lockOf(plan)
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.plan = runner.Plan{Lock: lock, Scenario: scenario, Fencing: plan.Fencing, Seed: plan.Seed, Speed: plan.Speed}
	r.versions = plan.Versions
	r.history, err = os.ReadFile(filepath.Join(r.dir, results.HistoryFile))
	return r, err
}

// lockOf finds the lock of a stored plan.
func lockOf(plan scenarios.PlanFile) (locks.Entry, error) {
	if plan.Command == "" {
		return locks.Find(plan.Lock)
	}
	e, err := program.Entry(plan.Command)
	if err == nil && e.Name != plan.Lock {
		err = fmt.Errorf("the program %q was %s and is %s now", plan.Command, plan.Lock, e.Name)
	}
	return e, err
}

// notOneRun says what to name instead of a folder that has no plan.
func notOneRun(dir string, err error) error {
	report, loadErr := results.Load(dir)
	if loadErr != nil || len(report.Runs) == 0 {
		return fmt.Errorf("%s is not the folder of a run: %w", dir, err)
	}
	return fmt.Errorf("%s holds %d runs; name one of them, as in\n\n  %s", dir, len(report.Runs),
		commandLine([]string{"replay", path.Join(dir, report.Runs[0].Dir)}))
}

// compareHistories says whether the run went as before: part of the story, but no part of a document.
func (c *call) compareHistories(code int, before recorded, f findings, output outputFlags) (int, error) {
	w := c.stderr
	if output.format == "table" {
		w = c.stdout
	}
	file := filepath.Join(f.folder, results.HistoryFile)
	after, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if before.testbed == "docker" {
		if !output.quiet {
			fmt.Fprintln(w, "  the same schedule, on real servers: when a message arrives is the machine's to say, so the histories differ")
		}
		return code, nil
	}
	if bytes.Equal(before.history, after) {
		if !output.quiet {
			fmt.Fprintf(w, "  the history is the same, byte for byte (%d bytes)\n", len(after))
		}
		return code, nil
	}
	fmt.Fprintf(w, "  the history is not the same: it differs from line %d on\n    diff %s %s\n", differingLine(before.history, after),
		filepath.Join(before.dir, results.HistoryFile), file)
	now := versions()
	for _, of := range slices.Sorted(maps.Keys(before.versions)) {
		if then := before.versions[of]; then != now[of] {
			fmt.Fprintf(w, "    %s was %s and is %s\n", of, then, now[of])
		}
	}
	return max(code, exitUnexpected), nil
}

// differingLine is the first, from 1, in which two texts that are not the same differ.
func differingLine(a, b []byte) int {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return 1 + bytes.Count(a[:same], []byte("\n"))
}
