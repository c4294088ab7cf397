package checker

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Grant is an acquire that succeeded, and what its holder made of it.
type Grant struct {
	Client  string
	Lock    string
	Lease   string
	Fence   int64 // 0 if none
	Call    *Call // the acquire; its Ended is when the grant was made known
	Release *Call // the release that ended ok, else the last one tried; nil if there is none
	Beliefs []Belief

	closed bool // the last belief ended by an event
	over   bool // nothing can revive the belief
}

// Belief is a stretch of time, [From, To), in which a client takes it that it holds the lock. A grant has one, unless a
// careful client's lease ran out and an extension brought it back.
type Belief struct {
	Asked time.Duration // when the acquire was invoked; the same as From if an extension revived the belief
	From  time.Duration // when the acquire, or that extension, returned
	To    time.Duration // the greatest duration if it lasts to the end of the history
	Why   EndOfBelief
	Event int // index of what ended it, -1 if no event did
}

// EndOfBelief says why a client stopped believing.
type EndOfBelief string

// Reasons for which a belief ends. A careful client is one that checks its lease at least once in the history.
const (
	Never    EndOfBelief = ""         // it lasts to the end of the history
	Released EndOfBelief = "released" // its holder called release
	Told     EndOfBelief = "told"     // the lock said that the lease was lost
	Killed   EndOfBelief = "killed"   // its holder died
	Lapsed   EndOfBelief = "lapsed"   // a careful client's lease reached its until
	Refuted  EndOfBelief = "refuted"  // a careful client's check failed
	LastUse  EndOfBelief = "last use" // a careful client acted after until on what it had checked before
)

func newGrant(call *Call, e history.Event, careful bool) *Grant {
	g := &Grant{Client: e.Process, Lock: call.Lock, Lease: call.Lease, Fence: e.Fence, Call: call}
	g.believe(call.Asked, e, careful)
	return g
}

// believe starts a belief with the acquire or extend that returned as e.
func (g *Grant) believe(asked time.Duration, e history.Event, careful bool) {
	b := Belief{Asked: asked, From: e.Time, To: forever, Event: -1}
	if careful && e.Until > 0 {
		b.To, b.Why = max(e.Until, e.Time), Lapsed
	}
	g.Beliefs = append(g.Beliefs, b)
	g.closed = false
}

// released tells whether the lease was certainly given back.
func (g *Grant) released() bool { return g.Release != nil && g.Release.Outcome == history.Ok }

// mayLive tells whether the lease may have outlived its holder: nobody gave it back or was told that it was over.
func (g *Grant) mayLive() bool {
	return g.Release == nil || g.Release.Open() || g.Release.Outcome == history.Info
}

// last is the belief that is the case now, or was the last to be.
func (g *Grant) last() *Belief { return &g.Beliefs[len(g.Beliefs)-1] }

// believedUntil is the end of the last belief.
func (g *Grant) believedUntil() time.Duration { return g.last().To }

// observe follows what the holder does with the lease, and learns of it.
//
// A careful client that reads or writes after until acts on a check that it made earlier (a pause between the check and
// the write; Kleppmann 2016, "How to do distributed locking"), so its belief reaches to that invocation.
func (g *Grant) observe(e history.Event, careful bool) {
	switch {
	case g.over:
	case e.Op == history.Release && e.Type == history.Invoke:
		g.end(e, Released)
		g.over = true
	case e.Op == history.Lost:
		g.end(e, Told)
		g.over = true
	case e.Op == history.Died:
		g.end(e, Killed)
		g.over = true
	case !careful:
	case e.Op == history.Check && e.Type == history.Fail:
		g.end(e, Refuted)
		g.closed = true
	case e.Op == history.Extend && e.Type == history.Ok:
		g.extend(e)
	case e.Type == history.Invoke && (e.Op == history.Read || e.Op == history.Write):
		if b := g.last(); !g.closed && e.Time > b.To {
			b.To, b.Why, b.Event = e.Time, LastUse, e.Index
		}
	}
}

func (g *Grant) end(e history.Event, why EndOfBelief) {
	if b := g.last(); !g.closed && e.Time < b.To {
		b.To, b.Why, b.Event = e.Time, why, e.Index
	}
}

// extend moves until. An extension that succeeds after the belief ended starts another one: in between, the client did
// not believe.
func (g *Grant) extend(e history.Event) {
	b := g.last()
	switch {
	case g.closed || e.Time > b.To:
		g.believe(e.Time, e, true)
	case e.Until > 0:
		b.To, b.Why, b.Event = max(e.Until, e.Time), Lapsed, -1
	}
}
