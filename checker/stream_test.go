package checker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

var streaming = []Property{exclusion, fenceOrder, fenceEnforcement}

// busyLock makes a history event by event: clients come and go at some locks that mostly work, and write under them.
type busyLock struct {
	rng     *rand.Rand
	flaw    float64 // probability that an answer is wrong
	leases  bool
	events  []history.Event
	now     time.Duration
	fence   int64
	clients []busyClient
	holder  map[string]int // 1 + place of the client
}

type busyClient struct {
	name  string
	open  *history.Event
	held  []history.Event // grants
	lease int
}

func (b *busyLock) add(e history.Event) {
	b.now += time.Duration(b.rng.IntN(3))
	e.Index, e.Time = len(b.events), b.now
	b.events = append(b.events, e)
}

func (b *busyLock) flawed() bool { return b.rng.Float64() < b.flaw }

func (b *busyLock) step(i int) {
	c := &b.clients[i]
	switch {
	case c.open != nil:
		b.complete(i, c)
	case b.rng.IntN(60) == 0 && c.lease > 0: // it dies, and another takes its place
		b.add(history.Event{Process: c.name, Op: history.Died, Type: history.Info})
		b.release(i, c)
		*c = busyClient{name: fmt.Sprint("client-", len(b.events))}
	case len(c.held) > 0 && b.rng.IntN(3) == 0:
		g := c.held[len(c.held)-1]
		if b.rng.IntN(2) == 0 {
			b.add(history.Event{Process: "R", Role: history.Resource, Op: history.Write, Type: history.Ok, Resource: "data-" + g.Resource,
				By: c.name, Lease: g.Lease, Fence: g.Fence})
			return
		}
		b.add(history.Event{Process: c.name, Op: history.Lost, Type: history.Info, Lease: g.Lease})
		b.release(i, c)
	default:
		b.invoke(c)
	}
}

func (b *busyLock) invoke(c *busyClient) {
	e := history.Event{Process: c.name, Op: history.Acquire, Type: history.Invoke, Resource: fmt.Sprint("lock-", b.rng.IntN(2))}
	again := len(c.held) > 0 && b.rng.IntN(4) == 0
	switch {
	case again:
		e.Resource = c.held[0].Resource
	case len(c.held) > 0:
		e = c.held[b.rng.IntN(len(c.held))]
		e.Op, e.Type, e.Fence = history.Release, history.Invoke, 0
	case b.rng.IntN(4) == 0:
		e.Op = history.Write
	}
	if e.Op == history.Acquire && b.leases {
		c.lease++
		e.Lease = fmt.Sprint(c.name, "#", c.lease)
	}
	b.add(e)
	c.open = &b.events[len(b.events)-1]
	open := *c.open
	c.open = &open
}

func (b *busyLock) complete(i int, c *busyClient) {
	e := *c.open
	c.open, e.Type = nil, history.Ok
	switch holder := b.holder[e.Resource]; {
	case e.Op == history.Acquire && (holder == 0 || b.flawed()):
		b.fence++
		e.Fence = b.fence
		if b.flawed() {
			e.Fence -= 2
		}
		b.holder[e.Resource] = i + 1
		c.held = append(c.held, e)
	case e.Op == history.Acquire && holder == i+1 && len(c.held) > 0: // re-entry
		e.Fence = c.held[0].Fence
		c.held = append(c.held, e)
	case e.Op == history.Acquire:
		e.Type = []history.Type{history.Fail, history.Info}[b.rng.IntN(2)]
	case e.Op == history.Release:
		b.release(i, c)
	}
	b.add(e)
}

// release forgets the latest grant of a client; the lock is free once it has none.
func (b *busyLock) release(i int, c *busyClient) {
	if len(c.held) == 0 {
		return
	}
	g := c.held[len(c.held)-1]
	if c.held = c.held[:len(c.held)-1]; len(c.held) == 0 && b.holder[g.Resource] == i+1 {
		b.holder[g.Resource] = 0
	}
}

func makeBusy(seed uint64, steps int) []history.Event {
	rng := rand.New(rand.NewPCG(seed, 5))
	b := &busyLock{rng: rng, flaw: []float64{0, 0.01, 0.1}[rng.IntN(3)], leases: rng.IntN(2) == 0, holder: map[string]int{}}
	for i := range 2 + rng.IntN(4) {
		b.clients = append(b.clients, busyClient{name: string(rune('A' + i))})
	}
	b.add(history.Event{Process: "harness", Role: history.Harness, Op: history.Begin, Type: history.Ok})
	for range steps {
		b.step(rng.IntN(len(b.clients)))
		if rng.IntN(40) == 0 {
			pause := history.Event{Process: fmt.Sprint("fault-", len(b.events)), Role: history.Nemesis, Op: pause, Type: history.Invoke,
				Detail: map[string]string{"subject": b.clients[rng.IntN(len(b.clients))].name}}
			b.add(pause)
			b.step(rng.IntN(len(b.clients)))
			pause.Type = history.Ok
			b.add(pause)
		}
	}
	if rng.IntN(10) > 0 {
		b.add(history.Event{Process: "harness", Role: history.Harness, Op: history.End, Type: history.Ok})
	}
	return b.events
}

func streamed(events []history.Event, properties []Property, window int) (map[string]Verdict, error) {
	s, err := newStream(properties, window)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if err := s.Add(e, e.Index+1); err != nil {
			return nil, err
		}
	}
	return s.Verdicts()
}

func TestStreamsAgreeWithTheWhole(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(histories(t, 600)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		events := makeBusy(seed, 20+rng.IntN(200))
		c, err := NewCase(events)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, properties := range [][]Property{streaming, streaming[:1], streaming[1:2], streaming[2:]} {
			window := 1 + rng.IntN(30)
			got, err := streamed(events, properties, window)
			if err != nil {
				t.Fatalf("seed %d, window %d: %v", seed, window, err)
			}
			for _, p := range properties {
				want := p.Judge(c)
				seen[fmt.Sprint(p.Name, " ", want.Status)]++
				if !reflect.DeepEqual(got[p.Name], want) {
					t.Fatalf("seed %d, window %d of %d events, %s with %d others:\n%+v %+v, but the whole\n%+v %+v", seed, window,
						len(events), p.Name, len(properties)-1, got[p.Name], got[p.Name].Witness, want, want.Witness)
				}
			}
		}
	}
	for _, p := range streaming {
		for _, status := range []Status{Held, Violated, Undecided} {
			if seen[fmt.Sprint(p.Name, " ", status)] == 0 {
				t.Errorf("%s was never %v: %v", p.Name, status, seen)
			}
		}
	}
}

// TestStreamsKeepCallsWhole: an end of a belief without its invocation, or a call without the panic in it, would be malformed.
func TestStreamsKeepCallsWhole(t *testing.T) {
	for name, text := range map[string]string{
		"a check that failed": `
			1..4     A acquire fail
			5..8     A check fail
			11..15   A acquire ok on=x
			19..21   A check fail on=x
			21..23   A check ok on=x`,
		"a panic after a violation": `
			1..2     A acquire ok
			2..3     B acquire ok
			4        A acquire invoke
			5        A panic info
			6..7     A release info
			8..9     C acquire fail
			10..11   C acquire fail
			12       A acquire invoke
			13..14   C acquire fail
			15       A acquire info`,
	} {
		events := script(t, text)
		for window := range events {
			for _, properties := range [][]Property{streaming, streaming[:1], streaming[1:2], streaming[2:]} {
				_, err := streamed(events, properties, window+1)
				if err != nil && !errors.Is(err, ErrWhole) {
					t.Errorf("%s: %s with %d others, windows of %d: %v", name, properties[0].Name, len(properties)-1, window+1, err)
				}
			}
		}
	}
}

func TestStreamsNameTheEventThatIsWrong(t *testing.T) {
	events := makeBusy(1, 300)
	wrong := history.Event{Index: len(events), Time: time.Hour, Process: "Z", Op: history.Release, Type: history.Ok}
	_, err := streamed(append(events, wrong), streaming, 10)
	var at *EventError
	if !errors.As(err, &at) || at.Event != wrong.Index || !strings.Contains(err.Error(), "Z completes release, which it had not invoked") {
		t.Errorf("error %v, want one of event %d", err, wrong.Index)
	}
	check := history.Event{Index: 0, Process: "Z", Op: history.Check, Type: history.Invoke}
	if _, err := streamed([]history.Event{check}, streaming, 10); !errors.Is(err, ErrWhole) {
		t.Errorf("error %v for a client that checks its lease", err)
	}
	if _, err := NewStream(All); err == nil {
		t.Error("effects are said to stream")
	}
}

// A history ten times as long needs no more memory.
func TestStreamsHoldWhatIsOpen(t *testing.T) {
	kept := func(turns int) (events int, heap uint64) {
		s, err := newStream(streaming, 1<<12)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		add := func(e history.Event) {
			e.Index, e.Time = n, time.Duration(n)
			n++
			if err := s.Add(e, n); err != nil {
				t.Fatal(err)
			}
		}
		for turn := range turns {
			e := history.Event{Process: fmt.Sprint("client-", turn%20), Op: history.Acquire, Type: history.Invoke, Lease: fmt.Sprint(turn)}
			add(e)
			e.Type, e.Fence = history.Ok, int64(turn+1)
			add(e)
			add(history.Event{Process: "R", Role: history.Resource, Op: history.Write, Type: history.Ok, Fence: e.Fence, Lease: e.Lease})
			e.Op, e.Type = history.Release, history.Invoke
			add(e)
			e.Type = history.Ok
			add(e)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if v, err := s.Verdicts(); err != nil || !strings.Contains(v[Exclusion].Reason, "cut off") {
			t.Fatal(v, err)
		}
		return cap(s.events), m.HeapAlloc
	}
	few, small := kept(4_000)
	many, large := kept(40_000)
	if many > few || large > small+small/10+1<<20 {
		t.Errorf("ten times as long, %d instead of %d events and %d instead of %d bytes", many, few, large, small)
	}
}
