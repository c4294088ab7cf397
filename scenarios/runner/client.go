package runner

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
)

// client takes one client's steps: it tells its hands what to do, and records what it asked and what came of it.
type client struct {
	name     string
	resource string
	cluster  Cluster
	recorder *recorder
	director *director
	hands    Hands

	acquires int
	released atomic.Int64 // number of the last acquire whose lease was released
	fence    int64        // of the lease held
	broken   error        // what the lock did that no lock may do
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
		c.acquires++
		c.fence = 0
	}
	e := history.Event{
		Process: c.name, Type: history.Invoke, Op: step.Op, Resource: c.resource, Lease: c.lease(), Fence: c.fence, Value: step.Value,
	}
	if step.Op == history.Release {
		c.released.Store(int64(c.acquires))
	}
	c.recorder.record(e)
	c.director.opened(c.name, step.Op)
	done := c.hands.Do(Command{Op: step.Op, Lease: e.Lease, For: step.For, Value: step.Value})
	if err := c.cluster.Step(c.name); err != nil {
		return history.Info, err
	}
	c.complete(e, done)
	c.director.after(c.name, step.Op, done.Type)
	return done.Type, nil
}

// complete records what came of the operation that e invoked.
func (c *client) complete(e history.Event, done Completion) {
	if done.Broken != "" {
		c.broken = errors.Join(c.broken, errors.New(done.Broken))
		c.recorder.record(history.Event{
			Time: done.At, Process: c.name, Type: history.Info, Op: history.Panic, Resource: c.resource, Lease: e.Lease, Error: done.Broken,
		})
	}
	if e.Op == history.Acquire {
		c.fence = done.Fence
	}
	if done.Began > 0 {
		c.recorder.began(c.name, done.Began)
	}
	e.Time = done.At
	e.Type, e.Error, e.Fence, e.Until, e.Value, e.Version = done.Type, done.Error, c.fence, done.Until, done.Value, done.Version
	c.recorder.record(e)
}

// lease names one acquire call and all that follows from it.
func (c *client) lease() string { return c.name + "/" + strconv.Itoa(c.acquires) }

// lost records that the lock told its holder that the lease is over, once the client can notice it; at is when it did, 0
// for now.
func (c *client) lost(lease string, at time.Duration) {
	if c.cluster.Notice(c.name) != nil || lease == c.name+"/"+strconv.FormatInt(c.released.Load(), 10) {
		return
	}
	c.recorder.record(history.Event{
		Time: at, Process: c.name, Type: history.Info, Op: history.Lost, Resource: c.resource, Lease: lease,
	})
}
