package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
)

// client takes one client's steps: it calls the lock and the resource, and records what it asked and what came of it.
type client struct {
	name     string
	cluster  Cluster
	recorder *recorder
	director *director
	lock     locks.Lock
	data     *dataClient
	resource string

	grants   int
	hold     *hold // nil between sections
	lastRead int64
	broken   error // what the lock did that no lock may do; the first
}

// hold is a lease with what the client knows of it.
type hold struct {
	lease *locks.Lease
	id    string        // in the history
	over  chan struct{} // closed when the client lets go

	mu   sync.Mutex
	lost bool
}

// run takes the steps in order. It ends early when the client dies or the run ends.
func (c *client) run(steps []scenarios.Step, triggers []<-chan struct{}, end <-chan struct{}) {
	left := steps
	for len(left) > 0 {
		step, trigger := left[0], triggers[len(steps)-len(left)]
		left = left[1:]
		if !c.wait(step, trigger, end) {
			return
		}
		if step.Op == scenarios.Work {
			if !sleep(step.For, end) {
				return
			}
			continue
		}
		outcome, err := c.do(step)
		if err != nil {
			return // dead
		}
		if outcome == history.Ok {
			continue
		}
		switch step.Op {
		case history.Acquire: // no section without the lock
			left = left[min(untilRelease(left)+1, len(left)):]
		case history.Check: // a careful client gives up
			left = left[untilRelease(left):]
		}
	}
}

// untilRelease is how many steps come before the section's release.
func untilRelease(steps []scenarios.Step) int {
	for i, s := range steps {
		if s.Op == history.Release {
			return i
		}
	}
	return len(steps)
}

// wait until the step's trigger has come; false if the run ends first.
func (c *client) wait(step scenarios.Step, come, end <-chan struct{}) bool {
	if step.When.Moment.Edge == nemesis.AtTime {
		return sleep(step.When.At-c.cluster.Now(), end)
	}
	select {
	case <-come:
		return sleep(step.When.At, end)
	case <-end:
		return false
	}
}

func sleep(d time.Duration, end <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-end:
		return false
	}
}

// do takes one step that is an operation. An error says that the client is dead.
func (c *client) do(step scenarios.Step) (history.Type, error) {
	c.director.before(c.name, step.Op)
	if err := c.cluster.Step(c.name); err != nil {
		return history.Info, err
	}
	if step.Op == history.Acquire {
		c.grants++
	}
	e := history.Event{Process: c.name, Type: history.Invoke, Op: step.Op, Resource: c.resource, Lease: c.leaseID()}
	if c.hold != nil {
		e.Fence = c.hold.lease.Fence
	}
	if step.Op == history.Write {
		e.Value = c.valueOf(step)
	}
	if step.Op == history.Release && c.hold != nil {
		close(c.hold.over)
	}
	c.recorder.record(e)
	c.director.opened(c.name, step.Op)
	done := c.perform(step, e)
	if err := c.cluster.Step(c.name); err != nil {
		return history.Info, err
	}
	c.recorder.record(done)
	if step.Op == history.Acquire && done.Type == history.Ok {
		c.watchLost(c.hold)
	}
	if step.Op == history.Release {
		c.hold = nil
	}
	c.director.after(c.name, step.Op, done.Type)
	return done.Type, nil
}

// leaseID names one acquire call and all that follows from it.
func (c *client) leaseID() string { return c.name + "/" + strconv.Itoa(c.grants) }

func (c *client) valueOf(step scenarios.Step) int64 {
	switch {
	case step.Value != 0:
		return step.Value
	case c.data.kind == scenarios.InventoryData:
		return 1
	default:
		return c.lastRead + 1
	}
}

// perform does the operation and returns its completion. What the lock under test gets wrong is recorded, never passed on
// as a panic.
func (c *client) perform(step scenarios.Step, e history.Event) (done history.Event) {
	done = e
	defer func() {
		if p := recover(); p != nil {
			c.breaks(fmt.Errorf("the lock panicked in %s: %v (%s)", step.Op, p, panicSite()))
			c.recorder.record(history.Event{Process: c.name, Type: history.Info, Op: history.Panic, Lease: e.Lease, Error: fmt.Sprint(p)})
			done.Type, done.Error = history.Info, fmt.Sprintf("panic: %v", p)
		}
	}()
	var err error
	switch step.Op {
	case history.Acquire:
		err = c.acquire(step, &done)
	case history.Extend:
		err = c.withLease(step, &done, c.lock.Extend)
	case history.Release:
		err = c.withLease(step, &done, c.lock.Release)
	case history.Check:
		err = c.check()
	case history.Read, history.Write:
		err = c.access(step, &done)
	}
	done.Type, done.Error = outcome(err)
	return done
}

// outcome says of an error whether the operation happened.
func outcome(err error) (history.Type, string) {
	switch {
	case err == nil:
		return history.Ok, ""
	case errors.Is(err, locks.ErrNotAcquired), errors.Is(err, locks.ErrNotHeld), errors.Is(err, locks.ErrUnsupported),
		errors.Is(err, errRefused), errors.Is(err, errNotSent), errors.Is(err, errExpired):
		return history.Fail, err.Error()
	default:
		return history.Info, err.Error()
	}
}

func (c *client) acquire(step scenarios.Step, done *history.Event) error {
	ctx, cancel := context.WithTimeout(context.Background(), step.For)
	defer cancel()
	lease, err := c.lock.Acquire(ctx, c.resource)
	if err == nil && lease == nil {
		err = errors.New("Acquire returned neither a lease nor an error")
		c.breaks(err)
	}
	if err != nil {
		return err
	}
	c.hold = &hold{lease: lease, id: c.leaseID(), over: make(chan struct{})}
	done.Fence, done.Until = lease.Fence, c.until(lease)
	return nil
}

// until is the end of a lease on the clock of the history; 0 if it has none.
func (c *client) until(l *locks.Lease) time.Duration {
	if l.Until().IsZero() {
		return 0
	}
	return c.cluster.Now() + time.Until(l.Until())
}

func (c *client) withLease(step scenarios.Step, done *history.Event, f func(context.Context, *locks.Lease) error) error {
	if c.hold == nil {
		return fmt.Errorf("%w: nothing was acquired", locks.ErrNotHeld)
	}
	ctx, cancel := context.WithTimeout(context.Background(), step.For)
	defer cancel()
	err := f(ctx, c.hold.lease)
	if step.Op == history.Extend && err == nil {
		done.Until = c.until(c.hold.lease)
	}
	return err
}

var errExpired = errors.New("the lease is over")

// check is what a careful client does before it writes.
func (c *client) check() error {
	if c.hold == nil {
		return errExpired
	}
	c.hold.mu.Lock()
	defer c.hold.mu.Unlock()
	until := c.hold.lease.Until()
	if c.hold.lost || (!until.IsZero() && !time.Now().Before(until)) {
		return errExpired
	}
	return nil
}

// access reads or writes the protected resource.
func (c *client) access(step scenarios.Step, done *history.Event) error {
	answer, err := c.data.do(scenarios.Request{
		Op: step.Op, Client: c.name, Lease: done.Lease, Fence: done.Fence, Value: done.Value,
	}, step.For)
	if err != nil {
		return err
	}
	if answer.Refused != "" {
		return fmt.Errorf("%w: %s", errRefused, answer.Refused)
	}
	done.Version = answer.Version
	if step.Op == history.Read {
		done.Value, c.lastRead = answer.Value, answer.Value
	}
	return nil
}

// watchLost records when the lock tells its holder that the lease is over.
func (c *client) watchLost(h *hold) {
	if h.lease.Lost == nil {
		return
	}
	go func() {
		select {
		case <-h.over:
			return
		case <-h.lease.Lost:
		}
		if c.cluster.Notice(c.name) != nil {
			return
		}
		select {
		case <-h.over: // released meanwhile
			return
		default:
		}
		h.mu.Lock()
		h.lost = true
		h.mu.Unlock()
		c.recorder.record(history.Event{Process: c.name, Type: history.Info, Op: history.Lost, Resource: c.resource, Lease: h.id})
	}()
}

// letGo ends what watches the client's lease.
func (c *client) letGo() {
	if c.hold == nil {
		return
	}
	select {
	case <-c.hold.over:
	default:
		close(c.hold.over)
	}
}

func (c *client) breaks(err error) {
	if c.broken == nil {
		c.broken = err
	}
}

// panicSite is the innermost line that is not the runtime's.
func panicSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, line %d", f.Function, f.Line)
		}
		if !more {
			return "unknown place"
		}
	}
}
