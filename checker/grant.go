package checker

import (
	"iter"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Grant is an acquire that succeeded, and what its holder made of it. A history may have millions.
type Grant struct {
	*Call         // the acquire; its completion made the grant known
	Release *Call // the release that ended ok, else the last one tried; nil if there is none
	Fence   int64 // 0 if none

	told    time.Duration // the latest end of its lease that its holder was told, 0 if none
	first   Belief
	revived *[]Belief // those that came after the first, mostly nil
	closed  bool      // the last belief ended by an event
	over    bool      // nothing can revive the belief
}

// loss is that a client was told of the loss of a lease, also if it had given it up or did not know of it yet.
type loss struct {
	lease name
	at    time.Duration
}

// Belief is a stretch of time, [From, To), in which a client takes it that it holds the lock. A grant has one, unless a
// careful client's lease ran out and an extension brought it back.
type Belief struct {
	From  time.Duration // when the acquire, or the extension that revived the belief, returned
	To    time.Duration // the greatest duration if it lasts to the end of the history
	Event int32         // index of what ended it, -1 if no event did
	Why   EndOfBelief
}

// EndOfBelief says why a client stopped believing.
type EndOfBelief uint8

// Reasons for which a belief ends. A careful client is one that checks its lease at least once in the history.
const (
	Never    EndOfBelief = iota // it lasts to the end of the history
	Released                    // its holder called release
	Told                        // the lock said that the lease was lost
	Killed                      // its holder died
	Lapsed                      // a careful client's lease reached its until
	Refuted                     // a careful client's check failed
	LastUse                     // a careful client acted after until on what it had checked before
)

func newGrant(call *Call, e *history.Event, careful bool) Grant {
	return Grant{Call: call, Fence: e.Fence, told: e.Until, first: newBelief(e, careful)}
}

// newBelief starts with the acquire or extend that returned as e.
func newBelief(e *history.Event, careful bool) Belief {
	b := Belief{From: e.Time, To: forever, Event: -1}
	if careful && e.Until > 0 {
		b.To, b.Why = max(e.Until, e.Time), Lapsed
	}
	return b
}

// Beliefs yields what the holder believed, in order.
func (g *Grant) Beliefs() iter.Seq[*Belief] {
	return func(yield func(*Belief) bool) {
		if !yield(&g.first) {
			return
		}
		for i := range g.revivals() {
			if !yield(&(*g.revived)[i]) {
				return
			}
		}
	}
}

// revivals is how often an extension revived the belief.
func (g *Grant) revivals() int {
	if g.revived == nil {
		return 0
	}
	return len(*g.revived)
}

// released tells whether the lease was certainly given back.
func (g *Grant) released() bool { return g.Release != nil && g.Release.Outcome == history.Ok }

// mayLive tells whether the lease may have outlived its holder: nobody gave it back or was told that it was over.
func (g *Grant) mayLive() bool {
	return g.Release == nil || g.Release.Open() || g.Release.Outcome == history.Info
}

// last is the belief that is the case now, or was the last to be.
func (g *Grant) last() *Belief {
	if n := g.revivals(); n > 0 {
		return &(*g.revived)[n-1]
	}
	return &g.first
}

// believedUntil is the end of the last belief.
func (g *Grant) believedUntil() time.Duration { return g.last().To }

// observe follows what the holder does with the lease, and learns of it.
//
// A careful client that reads or writes after until acts on a check that it made earlier (a pause between the check and
// the write; Kleppmann 2016, "How to do distributed locking"), so its belief reaches to that invocation.
func (g *Grant) observe(e *history.Event, careful bool) {
	if e.Op == history.Extend && e.Type == history.Ok {
		g.told = max(g.told, e.Until)
	}
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
			b.To, b.Why, b.Event = e.Time, LastUse, int32(e.Index)
		}
	}
}

func (g *Grant) end(e *history.Event, why EndOfBelief) {
	if b := g.last(); !g.closed && e.Time < b.To {
		b.To, b.Why, b.Event = e.Time, why, int32(e.Index)
	}
}

// extend moves until. An extension that succeeds after the belief ended starts another one: in between, the client did
// not believe.
func (g *Grant) extend(e *history.Event) {
	b := g.last()
	switch {
	case g.closed || e.Time > b.To:
		if g.revived == nil {
			g.revived = new([]Belief)
		}
		*g.revived = append(*g.revived, newBelief(e, true))
		g.closed = false
	case e.Until > 0:
		b.To, b.Why, b.Event = max(e.Until, e.Time), Lapsed, -1
	}
}
