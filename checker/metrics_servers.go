package checker

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// servers tell for how long they knew the leases of each client.
type servers struct {
	*Case
	locks  map[name]*ledger // of which the servers' logs tell, by lock
	silent bool             // a server may have forgotten keys without a word
}

// ledger is what the servers tell of one lock.
type ledger struct {
	key     string
	several bool              // more than one key is about the lock: which one is the lease is not known
	nodes   map[string]bool   // that ever had the key
	stays   map[string][]stay // by client: for how long each node had its value
	quorum  map[string][]turning
}

// stay is the time for which one node had a client's value.
type stay struct {
	node     string
	from, to time.Duration
}

// turning is a time at which a client's value came to be on enough nodes, or ceased to be.
type turning struct {
	at     time.Duration
	enough bool
}

// openStay is a stay that has not ended yet.
type openStay struct {
	client string
	from   time.Duration
	runOut time.Duration // when the key's TTL ends, forever if it is not known
}

// readServers reads the logs of the lock servers. A key is named after its lock. A key that no event removes or gives a
// TTL is a counter of fences.
func readServers(c *Case) *servers {
	s := &servers{Case: c, locks: map[name]*ledger{}}
	for _, f := range c.Faults {
		s.silent = s.silent || f.Injected && (f.replaces() || f.Kind == crash)
	}
	mortal := map[string]bool{}
	for _, e := range c.Keys {
		mortal[e.Resource] = mortal[e.Resource] || e.Op != history.KeySet || e.Detail["ttl"] != ""
	}
	lockOf := c.keyOwners()
	open := map[keyName]openStay{}
	for _, e := range c.Keys {
		if !mortal[e.Resource] {
			continue
		}
		lock := lockOf(e.Resource)
		l := s.locks[lock]
		if l == nil {
			l = &ledger{key: e.Resource, nodes: map[string]bool{}, stays: map[string][]stay{}}
			s.locks[lock] = l
		}
		l.several = l.several || l.key != e.Resource
		l.nodes[e.Process] = true
		s.follow(l, open, e)
	}
	for at, o := range open {
		l := s.locks[lockOf(at.key)]
		l.stays[o.client] = append(l.stays[o.client], stay{at.node, o.from, o.runOut})
	}
	for _, l := range s.locks {
		l.count(c.quorum(len(l.nodes)))
	}
	return s
}

// keyOwners tells of which lock a key is: the longest name in it.
func (c *Case) keyOwners() func(key string) name {
	locks := map[name]bool{}
	for i := range c.Grants {
		locks[c.Grants[i].Lock] = true
	}
	known := map[string]name{}
	return func(key string) name {
		found, seen := known[key]
		if !seen {
			found = unnamed
			for lock := range locks {
				if text := c.text(lock); strings.Contains(key, text) && (found == unnamed || len(text) > len(c.text(found))) {
					found = lock
				}
			}
			known[key] = found
		}
		return found
	}
}

// follow takes one change of a key.
func (s *servers) follow(l *ledger, open map[keyName]openStay, e *history.Event) {
	now, stays := open[keyOf(e)]
	if stays && e.Op != history.KeyTTL {
		l.stays[now.client] = append(l.stays[now.client], stay{e.Process, now.from, min(now.runOut, e.Time)})
		delete(open, keyOf(e))
	}
	switch {
	case e.Op == history.KeySet:
		now = openStay{client: cmp.Or(e.Detail["owner"], e.By), from: e.Time, runOut: s.runOut(e)}
		open[keyOf(e)] = now
	case e.Op == history.KeyTTL && stays:
		now.runOut = s.runOut(e)
		open[keyOf(e)] = now
	}
}

// runOut is the end of a key's TTL. A server notices it only at its next command. On a clock that a fault moved, what it
// noticed is all that is known.
func (s *servers) runOut(e *history.Event) time.Duration {
	ttl, err := time.ParseDuration(e.Detail["ttl"])
	if err != nil || ttl <= 0 {
		return forever
	}
	for _, f := range s.Faults {
		if strings.HasPrefix(string(f.Kind), "clock-") && f.names(e.Process) {
			return forever
		}
	}
	return e.Time + ttl
}

// quorum is how many of the nodes that ever had a lock's key must have it; 0 if that is not known: there are more than
// the lock is said to have (a replica).
func (c *Case) quorum(nodes int) int {
	switch {
	case nodes == 1:
		return 1
	case nodes <= c.Plan.Nodes:
		return c.Plan.Nodes/2 + 1
	}
	return 0
}

// count finds the times at which each client's value was on enough nodes.
func (l *ledger) count(quorum int) {
	if quorum == 0 || l.several {
		return
	}
	l.quorum = map[string][]turning{}
	for client, stays := range l.stays {
		var steps []turning
		for _, s := range stays {
			steps = append(steps, turning{s.from, true}, turning{s.to, false})
		}
		slices.SortFunc(steps, func(a, b turning) int { return cmp.Compare(a.at, b.at) })
		n, had := 0, false
		for i, step := range steps {
			if step.enough {
				n++
			} else {
				n--
			}
			// A value that was set again was there all the time, and is one: all steps of an instant count together.
			if last := i+1 == len(steps) || steps[i+1].at > step.at; last && had != (n >= quorum) {
				had = n >= quorum
				l.quorum[client] = append(l.quorum[client], turning{step.at, had})
			}
		}
	}
}

// tenure is when enough servers had a lease; they may have had it no more when it was handed out.
func (s *servers) tenure(g *Grant) Tenure {
	l := s.locks[g.Lock]
	if l == nil || l.quorum == nil {
		return Tenure{}
	}
	turnings := l.quorum[s.text(g.Client)]
	next := sort.Search(len(turnings), func(i int) bool { return turnings[i].at > g.first.From })
	if next > 0 && !turnings[next-1].enough {
		next-- // it was over when it was handed out
		if turnings[next].at < g.Asked {
			return Tenure{} // the last that they had was another lease
		}
	}
	if next == 0 {
		return Tenure{} // no server had it
	}
	t := Tenure{From: turnings[next-1].at, To: forever, Known: true, Doubtful: s.silent}
	if next < len(turnings) {
		t.To = turnings[next].at
	}
	return t
}

// end is when a lease was over: forever if it was not, unheard if nobody tells. Only where the servers tell nothing of
// the lock, until counts; 0 is none.
func (s *servers) end(g *Grant, until time.Duration) time.Duration {
	if s.locks[g.Lock] == nil && until > 0 {
		return max(until, g.first.From)
	}
	t := s.tenure(g)
	if !t.Known || t.Doubtful {
		return unheard
	}
	return max(t.To, g.first.From)
}
