package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	oldrand "math/rand"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
	"github.com/lockfault/lockfault/sim"
)

// A cell is one run in a child process. Whatever a lock under test does, a panic in its background, a fatal error, a loop
// without end, it cannot take more than its own run with it.

// cellVerb is hidden: it makes this program a child that serves cells.
const cellVerb = "serve-cells"

// File descriptors of a child, apart from the standard three: what a lock prints or reads there disturbs nothing.
const (
	requestsFD = 3
	answersFD  = 4
)

// cellRequest is one line to a child, cellAnswer the line that comes back.
type cellRequest struct {
	Plan    scenarios.PlanFile `json:"plan"`
	History string             `json:"history"` // file to write
}

type cellAnswer struct {
	Run results.Run `json:"run"`
	// Harness is why no run can be carried out, such as a full disk.
	Harness string `json:"harness,omitempty"`
	// Spent: the lock may have left something behind in the child, which takes no further cell.
	Spent bool `json:"spent,omitempty"`
}

// cellLimit is the real time that one run may take. Only tests change it.
var cellLimit = 30 * time.Second

// serveCells runs what it is asked to, until there are no more requests: then the parent has no more or is gone, and the
// process ends whatever a lock is doing in it.
func serveCells(stderr io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // the parent decides
	syscall.CloseOnExec(requestsFD)
	syscall.CloseOnExec(answersFD)
	requests := make(chan cellRequest)
	go func() {
		lines := json.NewDecoder(os.NewFile(requestsFD, "requests"))
		for {
			var r cellRequest
			switch err := lines.Decode(&r); {
			case err == io.EOF:
				os.Exit(exitExpected)
			case err != nil:
				fmt.Fprintf(stderr, "lockfault %s: this verb is for lockfault itself: %v\n", cellVerb, err)
				os.Exit(exitFailed)
			}
			requests <- r
		}
	}()
	answers := json.NewEncoder(os.NewFile(answersFD, "answers"))
	for r := range requests {
		if err := answers.Encode(serveCell(r)); err != nil {
			return exitFailed
		}
	}
	return exitExpected
}

func serveCell(r cellRequest) cellAnswer {
	fail := func(err error) cellAnswer { return cellAnswer{Harness: err.Error()} }
	scenario, err := scenarios.Parse(r.Plan.Scenario+".yaml", []byte(r.Plan.Text))
	if err != nil {
		return fail(err)
	}
	lock, err := locks.Find(r.Plan.Lock)
	if err != nil {
		return fail(err)
	}
	out, err := os.OpenFile(r.History, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fail(err)
	}
	seedGlobal(r.Plan.Seed)
	plan := runner.Plan{Lock: lock, Scenario: scenario, Fencing: r.Plan.Fencing, Seed: r.Plan.Seed, Speed: r.Plan.Speed}
	outcome, err := runner.Run(sim.Testbed{Limit: cellLimit}, plan, out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	var file *fs.PathError
	if errors.As(err, &file) {
		return fail(err) // the next run would meet the same
	}
	outcome.Err = errors.Join(outcome.Err, err)
	return cellAnswer{Run: asRun(outcome), Spent: outcome.Err != nil}
}

// seedGlobal makes math/rand's global source, from which some lock libraries draw, follow the plan. It is one for the
// process, which is why a child runs one cell at a time.
func seedGlobal(seed uint64) {
	oldrand.Seed(int64(seed)) //lint:ignore SA1019 nothing else reaches the source that others draw from
}

// asRun words an outcome for the store and the writers.
func asRun(o runner.Outcome) results.Run {
	p := o.Plan
	run := results.Run{
		Lock: p.Lock.Name, Scenario: p.Scenario.Name, Code: p.Scenario.Code, Title: p.Scenario.Title, Fencing: p.Fencing,
		Testbed: o.Testbed, Seed: p.Seed, Verdicts: o.Verdicts, Expected: o.Expected, Unexpected: o.Unexpected, Because: o.Because,
		AsExpected: o.Unsupported == "" && o.Err == nil && len(o.Unexpected) == 0, Unsupported: o.Unsupported,
		Events: len(o.Events), Elapsed: o.Elapsed, Place: programFile(p.Lock.Command),
	}
	if o.Err != nil {
		run.Error = strings.ReplaceAll(o.Err.Error(), "\n", "; ")
	}
	return run
}
