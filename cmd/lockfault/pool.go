package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// pool runs plans in child processes, one for each processor.
type pool struct {
	folder   *results.Folder
	versions map[string]string
	progress *progress
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
		Lock: p.Lock.Name, Scenario: p.Scenario.Name, Fencing: p.Fencing, Seed: p.Seed, Speed: p.Speed, Testbed: "sim",
		Versions: versions, Text: p.Scenario.Text,
	}
}

// run carries out the jobs until all are done or ctx is; jobs that were not begun stay undone. The first error of the
// harness ends it.
func (p *pool) run(ctx context.Context, jobs []*job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *job)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		workers.Go(func() {
			if err := p.work(ctx, next); err != nil {
				cancel(err)
			}
		})
	}
feed:
	for _, j := range jobs {
		select {
		case next <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil && err != context.Canceled && err != context.DeadlineExceeded {
		return err
	}
	return nil
}

// work takes jobs and hands each to a child, a new one whenever the last has died.
func (p *pool) work(ctx context.Context, jobs <-chan *job) error {
	var c *child
	defer func() { c.stop() }()
	for j := range jobs {
		if c == nil {
			var err error
			if c, err = startChild(); err != nil {
				return err
			}
		}
		answer, err := c.ask(ctx, cellRequest{Plan: j.file, History: filepath.Join(j.dir.Path, results.HistoryFile)})
		switch {
		case ctx.Err() != nil:
			c.stop()
			return nil
		case err != nil: // the child died, and the lock under test with it
			j.run = asRun(runner.Outcome{Plan: j.plan, Testbed: "sim", Err: err})
			c.stop()
			c = nil
		case answer.Harness != "":
			return fmt.Errorf("%s: %s", j.plan.Key(), answer.Harness)
		default:
			j.run = answer.Run
			if answer.Spent {
				c.stop()
				c = nil
			}
		}
		if err := p.store(j); err != nil {
			return err
		}
		j.done = true
		p.progress.step()
	}
	return nil
}

// store writes a run's own files.
func (p *pool) store(j *job) error {
	rel, err := p.folder.Rel(j.dir)
	if err != nil {
		return err
	}
	j.run.Dir = rel
	text, err := j.file.Marshal()
	if err != nil {
		return err
	}
	if err := j.dir.WritePlan(text); err != nil {
		return err
	}
	if j.dir.Path == p.folder.Path {
		return nil // its verdicts are the whole report's
	}
	own := j.run
	own.Dir = ""
	return j.dir.WriteVerdicts(results.Report{Versions: p.versions, Runs: []results.Run{own}})
}

// child is a process that serves cells.
type child struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *json.Decoder
	stderr  *tail
	stopped sync.Once
}

func startChild() (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self, cellVerb), stderr: &tail{}}
	c.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=single")
	c.cmd.Stderr = c.stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = json.NewDecoder(stdout)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child process: %w", err)
	}
	return c, nil
}

// ask hands the child a cell and waits for its answer. An error tells how the child died.
func (c *child) ask(ctx context.Context, r cellRequest) (cellAnswer, error) {
	guard := time.AfterFunc(2*cellLimit, func() { _ = c.cmd.Process.Kill() })
	defer guard.Stop()
	interrupt := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	defer interrupt()
	var answer cellAnswer
	err := json.NewEncoder(c.stdin).Encode(r)
	if err == nil {
		err = c.answers.Decode(&answer)
	}
	if err != nil {
		ended := c.cmd.Wait()
		return answer, fmt.Errorf("the lock ended its process (%v): %s", ended, c.stderr)
	}
	return answer, nil
}

// stop ends the child, which has nothing to lose.
func (c *child) stop() {
	if c == nil {
		return
	}
	c.stopped.Do(func() {
		_ = c.stdin.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
}

// tail keeps the beginning of what a dying process says, which names the reason, and drops the rest.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - t.text.Len(); room > 0 {
		t.text.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// String is the first line that tells something.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(t.text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "it said nothing"
}
