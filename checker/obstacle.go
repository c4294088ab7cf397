package checker

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// allowance is how much later than promised something may happen without being called late: a tenth of the TTL. It
// covers the retry delay of a waiting client, the way to the servers, and the drift that Redlock allows for.
func (c *Case) allowance() time.Duration { return c.Plan.TTL / 10 }

// obstructed tells whether something other than a fault may explain that an acquire was not granted between from and to:
// a lease that the servers may still have known, or another client trying at the same time. What a client named except
// left behind explains nothing.
func (c *Case) obstructed(a *Call, from, to time.Duration, except name) bool {
	for i := range c.Grants {
		g := &c.Grants[i]
		if g.Lock == a.Lock && g.Call != a && g.Client != except && g.Asked < to && from < c.leaseEnd(g) {
			return true
		}
	}
	// Two who try at once may refuse each other (Redlock's split vote), but not for long: they retry at random times.
	brief := c.ended(a)-a.Asked < c.allowance()
	for i := range c.Calls {
		other := &c.Calls[i]
		if other == a || other.Lock != a.Lock || other.Client == except {
			continue
		}
		if other.Kind == acquire && brief && other.Client != a.Client && c.underWay(other, a.Asked, c.ended(a)) {
			return true
		}
		if other.Kind == acquire && other.Asked < to && from < c.ghostEnd(other) {
			return true
		}
	}
	return false
}

// leaseEnd is the time from which no lock server can know the lease of a grant any more, if it keeps its TTL.
func (c *Case) leaseEnd(g *Grant) time.Duration {
	if g.released() {
		return c.ended(g.Release)
	}
	return c.afterTTL(g.believedUntil())
}

// ghostEnd is the time until which an acquire with unknown outcome may have left a lease behind; zero if it left none.
func (c *Case) ghostEnd(call *Call) time.Duration {
	switch {
	case call.Outcome == history.Info:
		return c.afterTTL(c.ended(call))
	case call.Open():
		if died := c.diedAt(call.Client); died != forever {
			return c.afterTTL(died)
		}
	}
	return 0
}

// afterTTL is a TTL and the allowance later; forever if the TTL is not known.
func (c *Case) afterTTL(t time.Duration) time.Duration {
	if c.Plan.TTL == 0 || t == forever {
		return forever
	}
	return t + c.Plan.TTL + c.allowance()
}
