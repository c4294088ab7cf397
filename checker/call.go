package checker

import (
	"math"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// forever is the time at which what never ends does.
const forever = time.Duration(math.MaxInt64)

// Call is one operation of a client, from its invocation to its completion.
type Call struct {
	Client   string
	Op       history.Op
	Lock     string // the event's Resource
	Lease    string
	Invoke   int           // index of the invocation
	Done     int           // index of the completion, -1 if there is none
	Asked    time.Duration // time of the invocation
	Ended    time.Duration // time of the completion, the greatest duration if there is none
	Outcome  history.Type  // Ok, Fail or Info; 0 if there is no completion
	Panicked bool          // the lock panicked in it
}

// Open tells whether the call never completed.
func (c *Call) Open() bool { return c.Outcome == 0 }

// meets tells whether the call was under way at some time strictly between from and to.
func (c *Call) meets(from, to time.Duration) bool { return c.Asked < to && from < c.Ended }

// diedAt tells when a client died; forever if it did not.
func (c *Case) diedAt(client string) time.Duration {
	for _, e := range c.Deaths {
		if e.Process == client {
			return e.Time
		}
	}
	return forever
}
