package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
	"github.com/lockfault/lockfault/sim"
)

// pool runs plans in child processes, one for each processor.
type pool struct {
	folder   *results.Folder
	versions map[string]string
	progress *progress
	known    *baselineFlags // nil: judge by what scenarios expect
}

// job is a plan with the folder for its files.
type job struct {
	plan runner.Plan
	file scenarios.PlanFile
	dir  *results.Folder
	done bool
	run  results.Run
}

// planFile is a plan as it is stored.
func planFile(p runner.Plan, versions map[string]string) scenarios.PlanFile {
	return scenarios.PlanFile{
		Lock: p.Lock.Name, Command: p.Lock.Command, Scenario: p.Scenario.Name, Fencing: p.Fencing, Seed: p.Seed, Speed: p.Speed, Testbed: "sim",
		Versions: versions, Text: p.Scenario.Text,
	}
}

// queue hands out jobs in order. Safe for concurrent use.
type queue struct {
	mu   sync.Mutex
	jobs []*job
	next int
	ends time.Time // none is begun from then on, but the first; zero: never
}

// take returns nil when there is nothing left to begin.
func (q *queue) take(ctx context.Context) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	spent := q.next > 0 && !q.ends.IsZero() && !time.Now().Before(q.ends)
	if q.next == len(q.jobs) || spent || ctx.Err() != nil {
		return nil
	}
	q.next++
	return q.jobs[q.next-1]
}

// run carries out the jobs of the queue until there are no more or ctx is done; what is under way then stays undone. The
// first error of the harness ends it.
func (p *pool) run(ctx context.Context, q *queue) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	var once sync.Once
	var first error
	for range min(runtime.GOMAXPROCS(0), len(q.jobs)) {
		workers.Go(func() {
			if err := p.work(ctx, q); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	workers.Wait()
	return first
}

func (p *pool) work(ctx context.Context, q *queue) error {
	var w worker
	defer w.stop()
	for j := q.take(ctx); j != nil; j = q.take(ctx) {
		if err := j.begin(); err != nil {
			return err
		}
		run, err := w.carryOut(ctx, j)
		if err != nil || ctx.Err() != nil {
			return err
		}
		j.run = run
		if err := p.store(j); err != nil {
			return err
		}
		j.done = true
		p.progress.step()
	}
	return nil
}

// begin stores what will be run, so that whatever comes of it can be told and repeated.
func (j *job) begin() error {
	text, err := j.file.Marshal()
	if err != nil {
		return err
	}
	return j.dir.WritePlan(text)
}

// store writes what came of a run.
func (p *pool) store(j *job) error {
	rel, err := p.folder.Rel(j.dir)
	if err != nil {
		return err
	}
	j.run = p.known.judge(j.run)
	j.run.Dir = rel
	if j.dir.Path == p.folder.Path {
		return nil // its verdicts are the whole report's
	}
	own := j.run
	own.Dir = ""
	return j.dir.WriteVerdicts(results.Report{Versions: p.versions, Runs: []results.Run{own}})
}

// worker has one child at a time.
type worker struct{ child *child }

// carryOut has a job run in the worker's child, in a fresh one if there is none. A child that dies may have died of an
// earlier lock: blame falls only on a lock that had its process to itself. The error is about the harness.
func (w *worker) carryOut(ctx context.Context, j *job) (results.Run, error) {
	if j.plan.Lock.Command != "" { // which no child knows, and which virtual time refuses
		outcome, err := runner.Run(sim.Testbed{}, j.plan, nil)
		return asRun(outcome), errors.Join(err, os.WriteFile(filepath.Join(j.dir.Path, results.HistoryFile), nil, 0o644))
	}
	request := cellRequest{Plan: j.file, History: filepath.Join(j.dir.Path, results.HistoryFile)}
	for {
		fresh := w.child == nil
		if fresh {
			var err error
			if w.child, err = startChild(); err != nil {
				return results.Run{}, err
			}
		}
		answer, died := w.child.ask(ctx, request)
		if died != nil || answer.Spent {
			w.stop()
		}
		switch {
		case died != nil && !fresh && ctx.Err() == nil:
			continue
		case died != nil:
			return asRun(runner.Outcome{Plan: j.plan, Testbed: "sim", Err: died}), nil
		case answer.Harness != "":
			return results.Run{}, errors.New(answer.Harness)
		}
		return answer.Run, nil
	}
}

func (w *worker) stop() {
	if w.child != nil {
		w.child.stop()
		w.child = nil
	}
}
