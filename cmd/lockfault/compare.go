package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// compare runs every chosen lock through every chosen scenario.
func compare(c *call) (int, error) {
	var plan planFlags
	var output outputFlags
	plan.add(c)
	output.add(c)
	plans, err := c.prepare(&plan, &output)
	if err != nil {
		return 0, err
	}
	f, err := c.carryOut(plans, plan.budget, &plan.baseline, output, "compare")
	if err != nil {
		return 0, err
	}
	if err := c.present(f, output); err != nil {
		return 0, err
	}
	return c.conclude(f, output, &plan.baseline)
}

// prepare parses and checks the flags of a verb that runs plans.
func (c *call) prepare(plan *planFlags, output *outputFlags) ([]runner.Plan, error) {
	if err := c.parse(0); err != nil {
		return nil, err
	}
	if err := output.check(); err != nil {
		return nil, err
	}
	plans, err := plan.plans()
	if plan.testbed == "docker" {
		cfg := plan.images.config()
		c.docker = &cfg
	}
	if err != nil {
		return nil, err
	}
	return plans, plan.baseline.load(c, plans)
}

// findings are what came of some plans.
type findings struct {
	folder string
	report results.Report // its Dirs lead there from the working directory
	cut    []string       // histories of runs that were under way when the command was interrupted
	err    error          // why the harness gave up; the report has what was judged until then
}

// carryOut runs the plans and stores what comes of them, whole or not: what was judged is kept. An error means that
// nothing was begun.
func (c *call) carryOut(plans []runner.Plan, budget time.Duration, known *baselineFlags, output outputFlags, name string) (findings, error) {
	began := time.Now()
	report := results.Report{When: began.UTC().Truncate(time.Second), Command: c.command, Versions: versions(), Budget: budget}
	folder, err := output.folder(name, began)
	if err != nil {
		return findings{}, err
	}
	jobs, err := makeJobs(folder, plans, report.Versions)
	if err != nil {
		return findings{}, err
	}
	// What is killed has told that it began, so that its folder can be used again.
	if err := folder.WriteVerdicts(results.Report{When: report.When, Command: report.Command, Versions: report.Versions, NotRun: len(jobs)}); err != nil {
		return findings{}, err
	}
	p := &pool{folder: folder, versions: report.Versions, known: known}
	if !output.quiet {
		p.progress = newProgress(c.stderr, len(jobs))
	}
	q := &queue{jobs: jobs}
	if budget > 0 {
		q.ends = began.Add(budget)
	}
	var runErr error
	if c.docker != nil {
		for _, j := range jobs {
			j.file.Testbed = "docker"
		}
		runErr = p.runOn(c.ctx, *c.docker, q)
	} else {
		runErr = p.run(c.ctx, q)
	}
	p.progress.clear()
	var cut []string
	for _, j := range jobs {
		if j.done {
			report.Runs = append(report.Runs, j.run)
			continue
		}
		report.NotRun++
		if path := filepath.Join(j.dir.Path, results.HistoryFile); exists(path) {
			cut = append(cut, path)
		}
	}
	report.Elapsed = time.Since(began)
	err = folder.WriteVerdicts(report)
	if err == nil {
		err = writePage(folder, report, jobs)
	}
	if err != nil && runErr == nil {
		runErr = err
	}
	return findings{folder: folder.Path, report: report.From(folder.Path), cut: cut, err: runErr}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// makeJobs makes the folders in the order of the plans, so that their names do not depend on which run is done first.
func makeJobs(folder *results.Folder, plans []runner.Plan, versions map[string]string) ([]*job, error) {
	var jobs []*job
	for _, p := range plans {
		j := &job{plan: p, file: planFile(p, versions), dir: folder}
		if len(plans) > 1 {
			dir, err := folder.Run(asRun(runner.Outcome{Plan: p}))
			if err != nil {
				return nil, err
			}
			j.dir = dir
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// versions of what a result depends on.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["lockfault"] = info.Main.Version
	for _, dep := range info.Deps {
		switch dep.Path {
		case "github.com/redis/go-redis/v9", "github.com/alicebob/miniredis/v2", "github.com/anishathalye/porcupine":
			v[dep.Path] = dep.Version
		}
	}
	return v
}
