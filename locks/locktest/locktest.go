// Package locktest tests a lock of your own under `go test`: the catalogue of known failures, in virtual time and without
// any server, and the plain contract that every lock must keep.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, func(env locktest.Env) (locks.Lock, error) { return mylock.New(env) })
//	}
//
// The function makes the lock of one client; it is called once for each client of each scenario. Connect with env.Connect,
// or with a client of your own that dials by env.Dial to the addresses env.Nodes; use env.TTL, and env.Rand for tokens.
// Otherwise the lock is ordinary code: plain time, plain go-redis, goroutines. Its Close must end what it has running, and
// its errors must say whether something happened: see locks.Lock. Package example, beside this one, has all of it for a
// lock with another interface.
//
// # What is expected
//
// No lease can exclude others from a holder that stands still for longer than the lease (A1), so such a violation fails no
// test. What is expected in each scenario is what the catalogue expects of a built-in lock of the same kind: single on one
// node, failover on a primary with a replica, redlock on five nodes; Like names another. Whatever is worse than that
// fails; what is better passes, and -v says so. NotPromised leaves a property out; ExpectViolated accepts a known failure,
// and fails when it has vanished.
//
// # The contract
//
// Before the catalogue come the laws that a lock of any kind must keep. One holds the lock at a time, and has a fence only
// if env.Fencing is set. It is free when it is released and when the TTL is over, and waiting for it ends with the context.
// A release or extend with another's token, or after the lease's end, does nothing to anyone's lease, revives none, does
// not move its Until, and returns an error. Until is no later than a TTL after the request, however long the reply takes.
// An acquire whose error wraps locks.ErrNotAcquired holds nothing, also when a reply was lost. The table in the README of
// package locks has each with its name.
//
// # What a failure says
//
// What is claimed, the violation in a sentence, the steps of the run around it, and the command that runs it again. The
// same seed gives the same run. `go test -artifacts` keeps the history for `lockfault check`.
//
// # What cannot be contained
//
// All runs share the process of the test. A panic inside a method of the lock, a goroutine that is left running, a Close
// that never returns and a loop without end fail their scenario with a clear message, and the scenarios that are left are
// skipped, since what stays behind may disturb them. A panic in a goroutine that the lock started, os.Exit, a fatal error
// of the runtime (a map written at once by two) and memory without end take the test binary with them, as in any test:
// `go test -v` shows in which scenario. The lockfault command runs each scenario in a process of its own.
//
// Run runs one scenario at a time, because math/rand's global source is one for the process: it is seeded before each,
// which takes effect if a file of the test has the line
//
//	//go:debug randseednop=0
package locktest

import (
	"bytes"
	"errors"
	"fmt"
	oldrand "math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
	"github.com/lockfault/lockfault/sim"
)

// Env is what the lock of one client is given.
type Env = locks.Env

// New makes the lock of one client.
type New = func(Env) (locks.Lock, error)

// seedVariable is the environment variable that takes another seed than the test's.
const seedVariable = "LOCKTEST_SEED"

// Run tests a lock: one subtest for each law of the contract, under "contract", and one for each scenario of the
// catalogue, with a subtest for each property. A scenario that needs servers which the lock does not have is skipped, and
// so is a property that its run does not decide. With -short only the 20 most telling scenarios are run.
//
// Run panics on options that contradict each other or name what there is not.
func Run(t *testing.T, newLock New, options ...Option) {
	t.Helper()
	s := newSettings(t.Name(), newLock, options)
	chosen, err := s.chosenScenarios(testing.Short())
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	if text, ok := os.LookupEnv(seedVariable); ok {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("locktest: %s=%q: want a number", seedVariable, text)
		}
	}
	err = s.dials()
	if unasked := errors.As(err, new(errUnasked)); errors.Is(err, errNotDialled) || unasked && len(s.scenarios) > 0 {
		t.Fatalf("locktest: %v", err)
	}
	if len(s.scenarios) == 0 { // where a fence that nobody asked for breaks a law
		t.Run("contract", func(t *testing.T) { s.contract(t) })
	}
	began := time.Now()
	for _, scenario := range chosen {
		for _, fencing := range s.fencings() {
			name := scenario.Name
			if fencing {
				name += "+fences"
			}
			t.Run(name, func(t *testing.T) {
				if s.budget > 0 && time.Since(began) > s.budget {
					s.stopped = fmt.Sprintf("the budget of %v is spent", s.budget)
				}
				if s.stopped != "" {
					t.Skip("not run: " + s.stopped)
				}
				s.play(t, runner.Plan{Lock: s.entry, Scenario: scenario, Fencing: fencing, Seed: s.seed})
			})
		}
	}
}

// spinLimit is how long, in real time, a run may keep the processor busy.
const spinLimit = 20 * time.Second

// play runs one plan and reports each property.
func (s *settings) play(t *testing.T, plan runner.Plan) {
	r, stream, err := s.run(plan)
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	if r.outcome.Unsupported != "" {
		t.Skip(r.outcome.Unsupported)
	}
	if r.outcome.Err != nil {
		t.Errorf("%s\n%s", r.brokenText(), again(t.Name(), s.seed, ""))
		s.stop(t)
	}
	for _, p := range checker.All {
		t.Run(p.Name, func(t *testing.T) { s.report(t, r, p) })
	}
	if t.Failed() {
		path := filepath.Join(t.ArtifactDir(), "history.jsonl")
		if err := os.WriteFile(path, stream, 0o644); err != nil {
			t.Errorf("keep the history: %v", err)
		}
	}
}

// stop keeps the subtests that are left from being run.
func (s *settings) stop(t *testing.T) {
	s.stopped = "what the lock left behind in " + t.Name() + " may disturb it"
}

// run runs one plan. The history comes as lines too.
func (s *settings) run(plan runner.Plan) (*run, []byte, error) {
	oldrand.Seed(int64(plan.Seed)) //lint:ignore SA1019 nothing else reaches the source that libraries draw from
	var stream bytes.Buffer
	o, err := runner.Run(sim.Testbed{Limit: s.limit}, plan, &stream)
	return &run{settings: s, outcome: o, rule: plan.Scenario.Expected(plan.Lock, plan.Fencing)}, stream.Bytes(), err
}

// report says to the test what a run shows of a property. Only the first failure of a property comes with the steps of its
// run: a bug shows in many scenarios, and who has read one wants the list of the others.
func (s *settings) report(t *testing.T, r *run, p checker.Property) {
	f := r.judge(p)
	switch {
	case f.fails && f.steps != "" && s.told[p.Name]:
		t.Errorf("%s\n%s", f.text, again(t.Name(), s.seed, "shows the steps of this run"))
	case f.fails:
		s.told[p.Name] = true
		t.Errorf("%s\n%s\n%s", f.text, f.steps, again(t.Name(), s.seed, ""))
	case f.skipped:
		t.Skip(f.text)
	default:
		t.Log(f.text)
	}
}
