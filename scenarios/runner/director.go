package runner

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// director carries out the schedule: it injects each fault when its trigger comes, and heals it. What is due at a time is
// done by one goroutine in a fixed order; what is due at a moment is done by whoever brings the moment about, before
// anything else can happen.
type director struct {
	target  nemesis.Target
	record  func(history.Event)
	died    func(client string)
	now     func() time.Duration
	align   func()
	nodes   int // lock servers that must grant for all to have granted
	strikes []*strike

	mu       sync.Mutex
	counts   map[nemesis.Moment]int     // how often a moment (without its Nth) has come about
	answers  map[answer]map[string]bool // nodes that answered, or granted, the open operation
	current  map[string]nemesis.Moment  // by client: its open operation, as a moment of edge Answered
	waits    []*wait
	timeline []due
	failed   error // what the harness could not do
	wake     chan struct{}
	ended    chan struct{}
	awaited  sync.WaitGroup // reports of faults that end by themselves
}

// strike is one step of the schedule with its state.
type strike struct {
	number   int // from 1
	step     nemesis.Step
	heal     nemesis.Heal // nil until the injection is done
	injected bool
	healing  bool // its healing came due before the injection was done
	over     bool
}

func (s *strike) process() string { return "fault-" + strconv.Itoa(s.number) }

// answer is the key of the nodes that answered a client's open operation, or granted it.
type answer struct {
	client string
	edge   nemesis.Edge
}

// wait is somebody who waits for a moment.
type wait struct {
	moment nemesis.Moment
	come   chan struct{}
}

// due is something to do at a time.
type due struct {
	at    time.Duration
	order int // of what is due at one time
	do    func()
}

func newDirector(schedule nemesis.Schedule, nodes int) *director {
	d := &director{
		nodes: nodes, counts: map[nemesis.Moment]int{}, answers: map[answer]map[string]bool{},
		current: map[string]nemesis.Moment{}, wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	for i, step := range schedule {
		d.strikes = append(d.strikes, &strike{number: i + 1, step: step})
	}
	return d
}

// begin does what is due at the start, before any client takes a step.
func (d *director) begin() {
	for _, s := range d.strikes {
		switch {
		case s.step.When.Moment.Edge != nemesis.AtTime:
		case s.step.When.At > 0:
			d.schedule(s.step.When.At, s.number, func() { d.inject(s) })
		default:
			d.align()
			d.inject(s)
		}
	}
}

// run does what is due at times, until finish.
func (d *director) run() {
	for {
		d.mu.Lock()
		var next *due
		if len(d.timeline) > 0 {
			next = &d.timeline[0]
		}
		var timer <-chan time.Time
		if next != nil {
			left := next.at - d.now()
			if left <= 0 {
				do := next.do
				d.timeline = d.timeline[1:]
				d.mu.Unlock()
				d.align()
				do()
				continue
			}
			timer = time.After(left)
		}
		d.mu.Unlock()
		select {
		case <-timer:
		case <-d.wake:
		case <-d.ended:
			return
		}
	}
}

// schedule puts something on the timeline.
func (d *director) schedule(at time.Duration, order int, do func()) {
	d.mu.Lock()
	d.timeline = append(d.timeline, due{at, order, do})
	slices.SortStableFunc(d.timeline, func(a, b due) int { return cmp.Or(cmp.Compare(a.at, b.at), a.order-b.order) })
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// inject makes a fault so, and sees to its healing.
func (d *director) inject(s *strike) {
	d.mu.Lock()
	if s.injected || s.over {
		d.mu.Unlock()
		return
	}
	s.injected = true
	d.mu.Unlock()
	detail := map[string]string{"subject": s.step.Fault.Subject()}
	if f, ok := s.step.Fault.(nemesis.Disturb); ok {
		detail["direction"] = f.How.Direction.String()
	}
	d.record(history.Event{
		Process: s.process(), Role: history.Nemesis, Type: history.Invoke, Op: history.Op(s.step.Fault.Kind()), Detail: detail,
	})
	heal, err := s.step.Fault.Inject(d.target)
	d.mu.Lock()
	s.heal, s.over = heal, err != nil
	healing := s.healing
	d.mu.Unlock()
	if err != nil {
		d.missed(s, "injected", err)
		return
	}
	if f, ok := s.step.Fault.(nemesis.Kill); ok {
		d.died(f.Client)
	}
	switch {
	case healing, instantaneous(s.step.Fault):
		d.healStrike(s)
	case endsByItself(s.step.Fault):
		d.awaited.Go(func() { d.healStrike(s) })
	case s.step.For > 0:
		d.schedule(d.now()+s.step.For, len(d.strikes)+s.number, func() { d.healStrike(s) })
	}
}

// instantaneous faults are over as soon as they have struck.
func instantaneous(f nemesis.Fault) bool {
	switch f.(type) {
	case nemesis.Kill, nemesis.ClockStep:
		return true
	}
	return f == nemesis.Failover{By: nemesis.ByHand}
}

// endsByItself tells of a fault that takes its time and is to be reported when it is over.
func endsByItself(f nemesis.Fault) bool { return f == nemesis.Failover{By: nemesis.BySentinel} }

func (d *director) healStrike(s *strike) {
	d.mu.Lock()
	if s.heal == nil || s.over {
		s.healing = s.injected
		d.mu.Unlock()
		return
	}
	s.over = true
	d.mu.Unlock()
	evidence, err := s.heal()
	switch {
	case err != nil:
		d.missed(s, "healed", err)
	case !evidence.Effective:
		d.record(d.completion(s, history.Fail, "nothing noticed it", evidence.Detail))
	default:
		d.record(d.completion(s, history.Ok, "", evidence.Detail))
	}
}

// missed tells of a fault that could not be injected or healed. If it cannot be had here it never struck. Otherwise the
// harness is to blame, and the fault stays open, since it may be in force from then on: no lock is blamed for that.
func (d *director) missed(s *strike, what string, err error) {
	if errors.Is(err, nemesis.ErrUnsupported) {
		d.record(d.completion(s, history.Fail, err.Error(), nil))
		return
	}
	err = fmt.Errorf("%s, a %s, could not be %s: %w", s.process(), s.step.Fault.Kind(), what, err)
	d.mu.Lock()
	d.failed = errors.Join(d.failed, err)
	d.mu.Unlock()
	d.record(history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.Trouble, Error: err.Error()})
}

// trouble is what the harness could not do.
func (d *director) trouble() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

func (d *director) completion(s *strike, t history.Type, problem string, detail map[string]string) history.Event {
	if t == history.Fail && s.step.Optional {
		detail = maps.Clone(detail)
		if detail == nil {
			detail = map[string]string{}
		}
		detail["optional"] = "true"
	}
	return history.Event{
		Process: s.process(), Role: history.Nemesis, Type: t, Op: history.Op(s.step.Fault.Kind()), Error: problem, Detail: detail,
	}
}

// before tells that a client is about to invoke an operation, opened that it has.
func (d *director) before(client string, op history.Op) {
	d.happen(nemesis.Moment{Edge: nemesis.Before, Client: client, Op: string(op)})
}

// opened tells that a client has invoked an operation: answers from now on belong to it.
func (d *director) opened(client string, op history.Op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := nemesis.Moment{Edge: nemesis.Answered, Client: client, Op: string(op)}
	d.counts[m]++
	m.Nth = d.counts[m]
	d.current[client] = m
	d.answers[answer{client, nemesis.Answered}] = map[string]bool{}
	d.answers[answer{client, nemesis.Granted}] = map[string]bool{}
}

// after tells that a client's operation has completed.
func (d *director) after(client string, op history.Op, outcome history.Type) {
	d.mu.Lock()
	delete(d.current, client)
	d.mu.Unlock()
	if outcome == history.Info {
		return
	}
	d.happen(nemesis.Moment{Edge: nemesis.After, Client: client, Op: string(op), Refused: outcome == history.Fail})
}

// answered tells that a node has answered the client; wrote, that it set a key.
func (d *director) answered(client, node string, wrote bool) {
	d.answeredAs(nemesis.Answered, client, node)
	if wrote {
		d.answeredAs(nemesis.Granted, client, node)
	}
}

func (d *director) answeredAs(edge nemesis.Edge, client, node string) {
	d.mu.Lock()
	m, ok := d.current[client]
	nodes := d.answers[answer{client, edge}]
	if !ok || nodes[node] {
		d.mu.Unlock()
		return
	}
	nodes[node] = true
	count := len(nodes)
	d.mu.Unlock()
	m.Edge = edge
	named, counted := m, m
	named.Node = node
	counted.Nodes = count
	d.come(named)
	d.come(counted)
	if count == d.nodes {
		counted.Nodes = nemesis.AllOfThem
		d.come(counted)
	}
}

// happen counts a moment and lets it come.
func (d *director) happen(m nemesis.Moment) {
	d.mu.Lock()
	d.counts[m]++
	m.Nth = d.counts[m]
	d.mu.Unlock()
	d.come(m)
}

// come does what waits for the moment: faults first, then clients.
func (d *director) come(m nemesis.Moment) {
	for _, s := range d.strikes {
		if s.step.Until.Moment == m {
			d.when(s.step.Until.At, len(d.strikes)+s.number, func() { d.healStrike(s) })
		}
		if s.step.When.Moment == m {
			d.when(s.step.When.At, s.number, func() { d.inject(s) })
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.waits {
		if w.moment == m {
			close(w.come)
			w.moment = nemesis.Moment{}
		}
	}
}

// when does something now, or later by the timeline.
func (d *director) when(later time.Duration, order int, do func()) {
	if later == 0 {
		do()
		return
	}
	d.schedule(d.now()+later, order, do)
}

// await returns a channel that is closed when the moment comes. Ask before it can.
func (d *director) await(m nemesis.Moment) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &wait{moment: m, come: make(chan struct{})}
	d.waits = append(d.waits, w)
	return w.come
}

// finish heals what is not healed, tells which faults never struck, and ends run.
func (d *director) finish() {
	close(d.ended)
	d.align()
	for _, s := range d.strikes {
		d.healStrike(s)
	}
	d.awaited.Wait()
	for _, s := range d.strikes {
		d.mu.Lock()
		never := !s.injected && !s.over
		s.over = s.over || never
		d.mu.Unlock()
		if never {
			d.record(d.completion(s, history.Fail, "never struck: its moment, "+s.step.When.String()+", did not come", nil))
		}
	}
}
