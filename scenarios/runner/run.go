package runner

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
)

// Outcome is what came of a plan.
type Outcome struct {
	Plan        Plan
	Testbed     string
	Events      []history.Event
	Verdicts    map[string]checker.Verdict // by property
	Expected    map[string]checker.Status
	Unexpected  []string // sentences; empty: as expected
	Because     string   // why the scenario expects so, if it says
	Unsupported string   // why the plan cannot run here; then there is nothing else
	Err         error    // what the lock or the harness did that no run may; verdicts on what was recorded remain
	Elapsed     time.Duration
}

// Run runs a plan and judges its history, which it streams to out (nil for nowhere) while it comes about. Where events come
// late, see Settler, it writes them in order at the end; until then as they are heard, see history.MarkHeard, if out has the
// method Redo(func(io.Writer) error) error, which replaces all that was written. The error is about the harness, such as a
// full disk; what the lock under test does wrong is in the outcome.
func Run(bed Testbed, plan Plan, out io.Writer) (Outcome, error) {
	began := time.Now()
	o := Outcome{Plan: plan, Testbed: bed.Name()}
	scenario, err := plan.expanded()
	if errors.Is(err, nemesis.ErrUnsupported) {
		o.Unsupported = err.Error()
		return o, nil
	}
	if err != nil {
		return o, err
	}
	r := &run{plan: plan, scenario: scenario, resource: "stock", out: out}
	err = bed.Run(r.setup(), func(c Cluster) { r.ended(r.body(c, bed.Name())) })
	var wrong error
	if o.Events, wrong = r.taken(); o.Events == nil && errors.Is(err, nemesis.ErrUnsupported) {
		o.Unsupported = err.Error()
		return o, nil
	}
	o.Err = errors.Join(wrong, err)
	if err := r.written(); err != nil {
		return o, fmt.Errorf("write the history of %s: %w", plan.Key(), err)
	}
	if o.Verdicts, err = checker.Judge(o.Events); err != nil {
		return o, fmt.Errorf("judge %s: %w", plan.Key(), err)
	}
	rule := plan.Scenario.Expected(plan.Lock, plan.Fencing)
	o.Expected, o.Unexpected, o.Because = rule.Statuses(), rule.Compare(o.Verdicts), rule.Because
	o.Elapsed = time.Since(began)
	return o, nil
}

// run is one plan while it runs.
type run struct {
	plan     Plan
	scenario *scenarios.Scenario
	resource string // what is locked and protected
	out      io.Writer
	director *director

	mu       sync.Mutex // a run that is given up goes on by itself
	recorder *recorder  // nil until the cluster is there
	err      error
}

// ended keeps what the lock did wrong.
func (r *run) ended(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// taken closes the record, whole or not, and returns it with what the lock did wrong.
func (r *run) taken() ([]history.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recorder == nil {
		return nil, r.err
	}
	return r.recorder.finish(false), r.err
}

// written says why not everything could be written.
func (r *run) written() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recorder == nil {
		return nil
	}
	return r.recorder.err()
}

// Event implements Observer.
func (r *run) Event(e history.Event) { r.recorder.record(e) }

// Answered implements Observer.
func (r *run) Answered(client, node string, wrote bool) { r.director.answered(client, node, wrote) }

func (r *run) setup() Setup {
	return Setup{
		Seed:     r.plan.Seed,
		Servers:  r.plan.Lock.Servers,
		Program:  r.plan.Lock.Command,
		TTL:      r.scenario.TTL,
		Clients:  append(r.scenario.ClientNames(), checker.Probe),
		Observer: r,
		Resource: r.resource,
		Data:     r.scenario.NewData(r.plan.Fencing),
		Faults:   r.scenario.Faults,
		Watched:  r.watched(),
	}
}

// watched lists the clients of which a fault or a step waits to hear that a server answered or granted.
func (r *run) watched() []string {
	var names []string
	add := func(m nemesis.Moment) {
		if (m.Edge == nemesis.Answered || m.Edge == nemesis.Granted) && !slices.Contains(names, m.Client) {
			names = append(names, m.Client)
		}
	}
	for _, step := range r.scenario.Faults {
		add(step.When.Moment)
		add(step.Until.Moment)
	}
	for _, c := range r.scenario.Clients {
		for _, step := range c.Steps {
			add(step.When.Moment)
		}
	}
	return names
}

// body runs the clients under the schedule, heals, and probes. It returns what the lock did wrong.
func (r *run) body(cluster Cluster, testbed string) error {
	settler, late := cluster.(Settler)
	r.mu.Lock()
	r.recorder = newRecorder(r.out, cluster.Now, late)
	r.mu.Unlock()
	r.director = newDirector(r.scenario.Faults, grantors(r.plan.Lock.Servers))
	d := r.director
	d.target, d.record, d.died, d.now, d.align = cluster, r.recorder.record, r.recorder.died, cluster.Now, cluster.AlignNemesis
	r.recorder.record(history.Event{
		Process: "harness", Role: history.Harness, Type: history.Info, Op: history.Begin,
		Detail: r.plan.begin(r.scenario, testbed).Detail(),
	})
	var clients []*client
	var setupErr error
	for _, name := range append(r.scenario.ClientNames(), checker.Probe) {
		c, err := r.newClient(cluster, name)
		if err != nil {
			setupErr = errors.Join(setupErr, err)
			continue
		}
		clients = append(clients, c)
	}
	if setupErr != nil {
		_ = closeAll(clients)
		return setupErr
	}
	finished := r.drive(clients[:len(clients)-1])
	d.finish()
	if finished {
		time.Sleep(r.scenario.TTL / 100) // part of the story: what a fault held back arrives late, and then the probe asks
		r.probe(clients[len(clients)-1])
	}
	var unsettled error
	if late {
		unsettled = settler.Settle()
	}
	r.recorder.finish(unsettled == nil)
	return errors.Join(d.trouble(), unsettled, closeAll(clients), brokenBy(clients))
}

// grantors is how many servers write a key when all of them grant a lock: a consensus service acts as one.
func grantors(s locks.Servers) int {
	if s == locks.ConsensusService {
		return 1
	}
	return len(s.Names())
}

func (r *run) newClient(cluster Cluster, name string) (*client, error) {
	c := &client{name: name, resource: r.resource, cluster: cluster, recorder: r.recorder, director: r.director}
	var err error
	c.hands, err = cluster.Hands(HandsConfig{
		Client: name, Resource: r.resource, Lock: r.plan.Lock, Kind: r.scenario.Data,
		Env:  locks.Env{Client: name, TTL: r.scenario.TTL, Fencing: r.plan.Fencing, Rand: Random(r.plan.Seed, name)},
		Seed: r.plan.Seed,
		Now:  cluster.Now,
		Lost: c.lost,
	})
	return c, err
}

// drive lets the clients go through their steps while the schedule strikes; false if some were not done at the horizon.
func (r *run) drive(clients []*client) bool {
	end := make(chan struct{})
	triggers := make([][]<-chan struct{}, len(clients))
	for i, c := range r.scenario.Clients {
		triggers[i] = make([]<-chan struct{}, len(c.Steps))
		for j, step := range c.Steps {
			if step.When.Moment.Edge != nemesis.AtTime {
				triggers[i][j] = r.director.await(step.When.Moment)
			}
		}
	}
	r.director.begin()
	go r.director.run()
	var running sync.WaitGroup
	for i, c := range clients {
		running.Go(func() { c.run(r.scenario.Clients[i].Steps, triggers[i], end) })
	}
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	horizon := time.NewTimer(r.scenario.Horizon)
	defer horizon.Stop()
	select {
	case <-done:
		return true
	case <-horizon.C:
	}
	close(end)
	// Whoever waits for its next step ends now; a grace of one TTL tells those that are stuck in an operation.
	grace := time.NewTimer(r.scenario.TTL)
	defer grace.Stop()
	select {
	case <-done:
		return true
	case <-grace.C:
		return false
	}
}

// probeTTLs is how long, in TTLs, the probe waits: leases of the dead must run out first, on clocks that may have been set
// back.
const probeTTLs = 4

// probe tries to have the lock now that everything is healed.
func (r *run) probe(c *client) {
	outcome, err := c.do(scenarios.Step{Op: history.Acquire, For: probeTTLs * r.scenario.TTL})
	if err == nil && outcome == history.Ok {
		_, _ = c.do(scenarios.Step{Op: history.Release, For: r.scenario.TTL / 2})
	}
}

// closeAll closes the clients, each in its own goroutine: one that hangs must not keep the others.
func closeAll(clients []*client) error {
	errs := make([]error, len(clients))
	var closing sync.WaitGroup
	for i, c := range clients {
		closing.Go(func() { errs[i] = c.hands.Close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}

func brokenBy(clients []*client) error {
	var errs []error
	for _, c := range clients {
		errs = append(errs, c.broken)
	}
	return errors.Join(errs...)
}
