package checker

import (
	"math"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// forever is the time at which what never ends does.
const forever = time.Duration(math.MaxInt64)

// Call is one operation of a client, from its invocation to its completion. It takes 32 bytes: a history may have
// millions.
type Call struct {
	Asked    time.Duration // time of the invocation
	Invoke   int32         // index of the invocation
	Done     int32         // index of the completion, -1 if there is none
	Client   name
	Lock     name // the event's Resource
	Lease    name
	Kind     callKind
	Outcome  history.Type // Ok, Fail or Info; 0 if there is no completion
	Panicked bool         // the lock panicked in it
}

// callKind says what a call asks for, as far as judges care.
type callKind uint8

const (
	another callKind = iota
	acquire
	release
)

func kindOf(op history.Op) callKind {
	switch op {
	case history.Acquire:
		return acquire
	case history.Release:
		return release
	}
	return another
}

// Open tells whether the call never completed.
func (c *Call) Open() bool { return c.Outcome == 0 }

// ended is the time of a call's completion, the greatest duration if there is none.
func (c *Case) ended(call *Call) time.Duration {
	if call.Open() {
		return forever
	}
	return c.Events[call.Done].Time
}

// underWay tells whether a call was open at some time strictly between from and to.
func (c *Case) underWay(call *Call, from, to time.Duration) bool {
	return call.Asked < to && from < c.ended(call)
}

// op names the operation of a call.
func (c *Case) op(call *Call) history.Op { return c.Events[call.Invoke].Op }

// diedAt tells when a client died; forever if it did not.
func (c *Case) diedAt(client name) time.Duration {
	for _, e := range c.Deaths {
		if e.Process == c.text(client) {
			return e.Time
		}
	}
	return forever
}
