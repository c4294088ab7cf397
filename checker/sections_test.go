package checker

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// sections makes a large history: clients take turns at a lock that works, each to read and write one register that
// numbers its writes and sees their fences. All the others wait meanwhile. Each section is four operations.
type sections struct {
	clients  int
	ops      int
	doubt    float64 // probability that a release's outcome stays unknown
	violated bool    // near the end a client comes back with a stale write, having believed all the time
	seed     uint64
}

// sectionEvents is how many events a section has: two for each operation, and two of the resource.
const sectionEvents = 10

type sectionWriter struct {
	events  []history.Event
	rng     *rand.Rand
	now     time.Duration
	version int64 // of the register
}

func (w *sectionWriter) add(e history.Event) {
	w.now += time.Duration(1 + w.rng.IntN(200_000))
	e.Index, e.Time = len(w.events), w.now
	w.events = append(w.events, e)
}

func (s sections) generate() []history.Event {
	w := &sectionWriter{rng: rand.New(rand.NewPCG(s.seed, 1)), events: make([]history.Event, 0, s.ops*sectionEvents/4+3*s.clients+4)}
	w.add(history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.Begin,
		Detail: map[string]string{"ttl": "10s", "nodes": "1"}})
	leases := make([]string, s.clients)
	invoke := func(c int) {
		leases[c] = fmt.Sprintf("%s-%d", s.client(c), len(w.events))
		w.add(history.Event{Process: s.client(c), Op: history.Acquire, Type: history.Invoke, Resource: "stock", Lease: leases[c]})
	}
	for c := range s.clients {
		invoke(c)
	}
	count := s.ops / 4
	for i := range count {
		c := i % s.clients
		stale := s.violated && i == count-count/50-2
		w.section(s.client(c), leases[c], int64(i+1), w.rng.Float64() < s.doubt, stale)
		if stale { // its write comes after the next section's
			next := (i + 1) % s.clients
			w.section(s.client(next), leases[next], int64(i+2), false, false)
			w.write(s.client(c), leases[c], int64(i+1))
			return w.end()
		}
		invoke(c)
	}
	return w.end()
}

func (s sections) client(c int) string { return fmt.Sprintf("client-%02d", c) }

// section is one turn; one that is left open has read, and goes on to believe.
func (w *sectionWriter) section(client, lease string, fence int64, unknown, open bool) {
	e := history.Event{Process: client, Resource: "stock", Lease: lease}
	granted := e
	granted.Op, granted.Type, granted.Fence = history.Acquire, history.Ok, fence
	w.add(granted)
	w.access(e, history.Read, fence)
	if open {
		return
	}
	w.write(client, lease, fence)
	e.Op, e.Type = history.Release, history.Invoke
	w.add(e)
	if e.Type = history.Ok; unknown {
		e.Type = history.Info
	}
	w.add(e)
}

func (w *sectionWriter) write(client, lease string, fence int64) {
	w.version++
	w.access(history.Event{Process: client, Resource: "stock", Lease: lease}, history.Write, fence)
}

func (w *sectionWriter) access(e history.Event, op history.Op, fence int64) {
	e.Op, e.Type = op, history.Invoke
	w.add(e)
	w.add(history.Event{Process: "R", Role: history.Resource, Type: history.Ok, Op: op, Resource: "stock", By: e.Process,
		Lease: e.Lease, Fence: fence, Version: w.version})
	e.Type = history.Ok
	w.add(e)
}

func (w *sectionWriter) end() []history.Event {
	w.add(history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.End})
	return w.events
}
