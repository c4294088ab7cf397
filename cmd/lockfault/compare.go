package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// compare runs every chosen lock through every chosen scenario.
func compare(c *call) (int, error) {
	var plan planFlags
	var output outputFlags
	plan.add(c, "both")
	output.add(c)
	plans, err := c.prepare(&plan, &output)
	if err != nil {
		return 0, err
	}
	report, err := c.carryOut(plans, plan.budget, output, "compare")
	if err != nil {
		return 0, err
	}
	return c.conclude(report, output)
}

// prepare parses and checks the flags of a verb that runs plans.
func (c *call) prepare(plan *planFlags, output *outputFlags) ([]runner.Plan, error) {
	if err := c.parse(0); err != nil {
		return nil, err
	}
	if err := output.check(); err != nil {
		return nil, err
	}
	return plan.plans()
}

// carryOut runs the plans and stores what comes of them, whole or not: what was judged is kept.
func (c *call) carryOut(plans []runner.Plan, budget time.Duration, output outputFlags, name string) (results.Report, error) {
	began := time.Now()
	report := results.Report{When: began.UTC().Truncate(time.Second), Command: c.command, Versions: versions(), Budget: budget}
	folder, err := output.folder(name, began)
	if err != nil {
		return report, err
	}
	jobs, err := makeJobs(folder, plans, report.Versions)
	if err != nil {
		return report, err
	}
	p := &pool{folder: folder, versions: report.Versions}
	if !output.quiet {
		p.progress = newProgress(c.stderr, len(jobs))
	}
	ctx := c.ctx
	if budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget)
		defer cancel()
	}
	runErr := p.run(ctx, jobs)
	p.progress.clear()
	for _, j := range jobs {
		if j.done {
			report.Runs = append(report.Runs, j.run)
		} else {
			report.NotRun++
		}
	}
	report.Elapsed = time.Since(began)
	if err := folder.WriteVerdicts(report); err != nil && runErr == nil {
		runErr = err
	}
	if !output.quiet && runErr == nil {
		fmt.Fprintf(c.stderr, "stored in %s\n", folder.Path)
	}
	return report, runErr
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

// conclude shows a report and returns the exit status that it deserves.
func (c *call) conclude(report results.Report, output outputFlags) (int, error) {
	shown := report
	if output.quiet && (output.format == "table" || output.format == "matrix") {
		shown.Runs = slices.DeleteFunc(slices.Clone(report.Runs), func(r results.Run) bool {
			return r.Outcome() == results.AsExpected || r.Outcome() == results.Unsupported
		})
		if len(shown.Runs) == 0 {
			return c.interrupted(report), nil
		}
	}
	if err := c.show(shown, output.format); err != nil {
		return 0, err
	}
	return c.interrupted(report), nil
}

func (c *call) show(report results.Report, format string) error {
	switch format {
	case "matrix":
		return results.WriteMatrix(c.stdout, report, c.layout())
	case "json":
		return results.WriteJSON(c.stdout, report)
	case "junit":
		return results.WriteJUnit(c.stdout, report)
	case "markdown":
		return results.WriteMarkdown(c.stdout, report)
	default:
		return results.WriteTable(c.stdout, report, c.layout())
	}
}

// layout fits the terminal, if there is one; colours only there, and not if NO_COLOR asks for none.
func (c *call) layout() results.Layout {
	l := results.Layout{Width: 80}
	f, ok := c.stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return l
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		l.Width = min(width, 120)
	}
	l.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return l
}

// interrupted says so if a signal ended the work, and returns the exit status.
func (c *call) interrupted(report results.Report) int {
	if c.ctx.Err() == nil {
		return statusOf(report)
	}
	fmt.Fprintf(c.stderr, "lockfault %s: interrupted; what was judged until then is shown and kept: %d of %d runs\n",
		c.verb.name, len(report.Runs), len(report.Runs)+report.NotRun)
	return exitFailed
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
