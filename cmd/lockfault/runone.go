package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// runOne runs one scenario on one lock, and tells the whole story.
func runOne(c *call) (int, error) {
	var plan planFlags
	var output outputFlags
	plan.add(c, "both")
	output.add(c)
	plans, err := c.prepare(&plan, &output)
	if err != nil {
		return 0, err
	}
	for _, p := range plans {
		if p.Lock.Name != plans[0].Lock.Name || p.Scenario.Name != plans[0].Scenario.Name {
			return 0, usagef("want one --lock and one --scenario; compare takes several")
		}
	}
	report, err := c.carryOut(plans, plan.budget, output, plans[0].Lock.Name+"-"+plans[0].Scenario.Name)
	if err != nil {
		return 0, err
	}
	return c.tell(report, output, plans[0].Scenario)
}

// tell shows each run in full, with what was to happen.
func (c *call) tell(report results.Report, output outputFlags, s *scenarios.Scenario) (int, error) {
	if output.format != "table" {
		return c.conclude(report, output)
	}
	if !output.quiet {
		fmt.Fprintf(c.stdout, "%s\n", s.Title)
		for _, step := range s.Faults {
			fmt.Fprintf(c.stdout, "  fault: %s of %s, %v\n", step.Fault.Kind(), step.Fault.Subject(), step.When)
		}
		fmt.Fprintln(c.stdout)
	}
	for _, r := range report.Runs {
		if err := results.WriteRun(c.stdout, r, c.layout()); err != nil {
			return 0, err
		}
	}
	return c.interrupted(report), nil
}

// replay runs a stored plan again and compares the histories.
func replay(c *call) (int, error) {
	var output outputFlags
	output.add(c)
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if err := output.check(); err != nil {
		return 0, err
	}
	if len(c.args) == 0 {
		return 0, usagef("say which run: its folder, its name in the store, or latest")
	}
	stored, err := results.Store{Root: results.DefaultRoot}.Resolve(c.args[0])
	if err != nil {
		return 0, err
	}
	planText, err := os.ReadFile(filepath.Join(stored, results.PlanFile))
	if err != nil {
		return 0, fmt.Errorf("%w: name the folder of one run; those of a comparison lie below it, by lock and scenario", err)
	}
	file, scenario, err := scenarios.ParsePlan(filepath.Join(stored, results.PlanFile), planText)
	if err != nil {
		return 0, err
	}
	lock, err := locks.Find(file.Lock)
	if err != nil {
		return 0, err
	}
	before, err := os.ReadFile(filepath.Join(stored, results.HistoryFile))
	if err != nil {
		return 0, err
	}
	plan := runner.Plan{Lock: lock, Scenario: scenario, Fencing: file.Fencing, Seed: file.Seed, Speed: file.Speed}
	report, err := c.carryOut([]runner.Plan{plan}, 0, output, lock.Name+"-"+scenario.Name)
	if err != nil || len(report.Runs) == 0 {
		return exitFailed, err
	}
	code, err := c.tell(report, output, scenario)
	if err != nil {
		return 0, err
	}
	return c.compareHistories(code, before, output)
}

// compareHistories says whether the run went as before.
func (c *call) compareHistories(code int, before []byte, output outputFlags) (int, error) {
	dir := output.out
	if dir == "" {
		latest, err := results.Store{Root: results.DefaultRoot}.Resolve("latest")
		if err != nil {
			return 0, err
		}
		dir = latest
	}
	after, err := os.ReadFile(filepath.Join(dir, results.HistoryFile))
	if err != nil {
		return 0, err
	}
	if bytes.Equal(before, after) {
		fmt.Fprintf(c.stderr, "the history is the same, byte for byte (%d bytes)\n", len(after))
		return code, nil
	}
	old, now := bytes.Split(before, []byte("\n")), bytes.Split(after, []byte("\n"))
	for i := range old {
		if i >= len(now) || !bytes.Equal(old[i], now[i]) {
			fmt.Fprintf(c.stderr, "the history differs from line %d on; versions of Go or of a library may differ, see plan.yaml\n", i+1)
			break
		}
	}
	return max(code, exitUnexpected), nil
}
