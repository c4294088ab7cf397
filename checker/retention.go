package checker

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// retention decides which events of a window a Stream keeps.
type retention struct {
	*Stream
	*digest
	keep   []bool        // by event
	own    []bool        // by grant: whether it has a fence of its own, and is no re-entry
	grants []bool        // by grant: whether it is kept
	asked  time.Duration // when the acquire was asked for that is open longest; if none is, now
}

func newRetention(s *Stream, d *digest) *retention {
	r := &retention{Stream: s, digest: d, keep: make([]bool, len(s.events)), own: make([]bool, len(d.Grants)),
		grants: make([]bool, len(d.Grants)), asked: s.now}
	copy(r.keep, s.pinned)
	if s.fences {
		for _, g := range d.withoutReentry(repeatedFences(d.Grants)) {
			r.own[d.placeOf(g.Lease)] = true
		}
	}
	for i := range s.events {
		// A panic ends a call that may be kept, and there are few.
		if e := &s.events[i]; e.Role == history.Nemesis || e.Role == history.Harness || e.Op == history.Panic {
			r.keep[i] = true
		}
	}
	r.keepOpen()
	r.keepGrants()
	r.keepCalls()
	r.keepWrites()
	return r
}

// keepOpen keeps the open call of each client.
func (r *retention) keepOpen() {
	dead := map[*client]bool{} // nothing comes of their calls
	for _, e := range r.Deaths {
		c := r.clients[e.Process]
		dead[c] = true
		r.keep[e.Index] = r.keep[e.Index] || c.open != nil
	}
	for _, c := range r.clients {
		call := c.open
		if call == nil {
			continue
		}
		r.keep[call.Invoke] = true
		if r.fences && call.Kind == acquire && !call.Panicked && !dead[c] {
			r.asked = min(r.asked, call.Asked)
		}
	}
}

// keepGrants keeps the leases that can still matter, and counts the others.
func (r *retention) keepGrants() {
	greatest := map[name]*Grant{} // of those that returned before r.asked, by lock
	for i := range r.Grants {
		g := &r.Grants[i]
		if high := greatest[g.Lock]; r.own[i] && r.ended(g.Call) < r.asked && (high == nil || g.Fence > high.Fence) {
			greatest[g.Lock] = g
		}
	}
	used := make([]bool, len(r.texts)) // leases of calls that are kept: without its lease, a release would be taken for that of another
	for i := range r.Calls {
		if call := &r.Calls[i]; r.keep[call.Invoke] {
			used[call.Lease] = true
		}
	}
	first := map[name]bool{} // locks of which a grant with a fence came before
	for i := range r.Grants {
		g := &r.Grants[i]
		opens := r.own[i] && !first[g.Lock] // the order of the locks is that of these
		if opens {
			first[g.Lock] = true
		}
		matters := r.beliefs && (!g.over || g.believedUntil() >= r.asked)
		if matters || opens || greatest[g.Lock] == g || used[g.Lease] {
			r.grants[i] = true
			continue
		}
		r.past.grants++
		if r.own[i] {
			r.past.fenced++
		}
	}
}

// keepCalls keeps the events of the leases and of the calls that are kept.
func (r *retention) keepCalls() {
	for i := range r.Calls {
		call := &r.Calls[i]
		place := r.placeOf(call.Lease)
		kept := place >= 0 && r.grants[place] && (r.Grants[place].Call == call || call.Kind == release)
		if kept || r.keep[call.Invoke] {
			r.keep[call.Invoke] = true
			if call.Done >= 0 {
				r.keep[call.Done] = true
			}
		}
	}
	for i, kept := range r.grants {
		if end := r.Grants[i].last().Event; kept && r.beliefs && end >= 0 {
			r.keep[end] = true
		}
	}
}

// keepWrites keeps the write with the highest fence of each piece of data, and counts the others.
func (r *retention) keepWrites() {
	highest := map[int32]*access{}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		if !r.fencedWrite(a) {
			continue
		}
		highest[a.data] = r.higher(highest[a.data], a)
	}
	for i := range r.Accesses {
		a := &r.Accesses[i]
		switch {
		case highest[a.data] == a:
			r.keep[a.event] = true
		case !r.keep[a.event] && r.fencedWrite(a):
			r.past.writes++
		}
	}
}

// reentered lists the kept grants that are known to be re-entries, by their completions.
func (r *retention) reentered() map[int32]bool {
	known := map[int32]bool{}
	for i := range r.Grants {
		g := &r.Grants[i]
		if r.fences && g.Fence != 0 && !r.own[i] && r.keep[g.Done] {
			known[g.Done] = true
		}
	}
	return known
}
