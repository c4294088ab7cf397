package checker

import (
	"iter"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// allowance is how much later than promised something may happen without being called late: a tenth of the TTL. It
// covers the retry delay of a waiting client, the way to the servers, and the drift that Redlock allows for.
func (c *Case) allowance() time.Duration { return c.Plan.TTL / 10 }

// spell is a stretch of time, [from, to).
type spell struct{ from, to time.Duration }

// obstructed tells whether something other than a fault may explain that an acquire was not granted between from and to.
func (c *Case) obstructed(a *Call, from, to time.Duration, except name) bool {
	for o := range c.obstacles(a, except) {
		if o.from < to && from < o.to {
			return true
		}
	}
	return false
}

// obstacles yields when something other than a fault may have been in the way of an acquire: a lease that the servers may
// still have known, or another client trying at the same time. What a client named except left behind explains nothing.
func (c *Case) obstacles(a *Call, except name) iter.Seq[spell] {
	return func(yield func(spell) bool) {
		for i := range c.Grants {
			g := &c.Grants[i]
			if g.Lock == a.Lock && g.Call != a && g.Client != except && !yield(spell{g.Asked, c.leaseEnd(g)}) {
				return
			}
		}
		// Two who try at once may refuse each other (Redlock's split vote), but not for long: they retry at random times.
		brief := c.Plan.TTL == 0 || c.ended(a)-a.Asked < c.allowance()
		for i := range c.Calls {
			other := &c.Calls[i]
			if other.Kind != acquire || other == a || other.Lock != a.Lock || other.Client == except {
				continue
			}
			if a.Open() && other.Open() && c.diedAt(other.Client) == forever { // whoever of the two had got the lock would have ended
				continue
			}
			if brief && other.Client != a.Client && c.underWay(other, a.Asked, c.ended(a)) && !yield(spell{0, forever}) {
				return
			}
			if until := c.ghostEnd(other); until > other.Asked && !yield(spell{other.Asked, until}) {
				return
			}
		}
	}
}

// leaseEnd is the time from which no lock server can know the lease of a grant any more, if it keeps its TTL, or what its
// holder was told.
func (c *Case) leaseEnd(g *Grant) time.Duration {
	if g.released() {
		return c.ended(g.Release)
	}
	return max(c.afterTTL(g.believedUntil()), g.told+c.allowance())
}

// ghostEnd is the time until which an acquire without a known outcome may have left a lease behind; zero if it left none.
// What it had sent may land as late as when the fault of its client's link healed.
func (c *Case) ghostEnd(call *Call) time.Duration {
	if call.Outcome == history.Ok || call.Outcome == history.Fail {
		return 0
	}
	last := min(c.ended(call), c.diedAt(call.Client))
	for _, f := range c.Faults {
		if f.strikes(c.text(call.Client)) && f.meets(call.Asked, last) {
			last = max(last, f.To)
		}
	}
	return c.afterTTL(last)
}

// afterTTL is a TTL and the allowance later; forever if the TTL is not known.
func (c *Case) afterTTL(t time.Duration) time.Duration {
	if c.Plan.TTL == 0 || t == forever {
		return forever
	}
	return t + c.Plan.TTL + c.allowance()
}
