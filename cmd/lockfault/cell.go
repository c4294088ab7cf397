package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	oldrand "math/rand"
	"os"
	"os/signal"
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

// cellRequest is one line to a child, cellAnswer the line that comes back.
type cellRequest struct {
	Plan    scenarios.PlanFile `json:"plan"`
	History string             `json:"history"` // file to write
}

type cellAnswer struct {
	Run results.Run `json:"run"`
	// Harness is why the run could not be carried out, such as a full disk.
	Harness string `json:"harness,omitempty"`
	// Spent: the child has code in it that cannot be stopped, and takes no further cell.
	Spent bool `json:"spent,omitempty"`
}

// serveCells runs what it is asked to, until its input ends.
func serveCells(stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(os.Interrupt) // the parent decides
	requests := json.NewDecoder(bufio.NewReader(stdin))
	answers := json.NewEncoder(stdout)
	for {
		var r cellRequest
		if err := requests.Decode(&r); err == io.EOF {
			return exitExpected
		} else if err != nil {
			fmt.Fprintln(stderr, "lockfault", cellVerb+":", err)
			return exitFailed
		}
		answer := serveCell(r)
		if err := answers.Encode(answer); err != nil {
			return exitFailed
		}
		if answer.Spent {
			return exitExpected
		}
	}
}

// cellLimit is the real time that one run may take.
const cellLimit = 30 * time.Second

func serveCell(r cellRequest) cellAnswer {
	began := time.Now()
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
	if err != nil {
		return fail(err)
	}
	return cellAnswer{Run: asRun(outcome), Spent: time.Since(began) >= cellLimit}
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
		Testbed: o.Testbed, Seed: p.Seed, Verdicts: o.Verdicts, Expected: o.Expected, Unexpected: o.Unexpected,
		AsExpected: o.Unsupported == "" && o.Err == nil && len(o.Unexpected) == 0, Unsupported: o.Unsupported,
		Events: len(o.Events),
	}
	if o.Err != nil {
		run.Error = o.Err.Error()
	}
	return run
}
