package locks

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// Catalogue A3: the client must refuse what it was granted too late, and must not remove its successor's keys.
func TestRedlockRefusesAGrantThatCameTooLate(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		other, _ := b.client("B")
		b.release(a, b.acquire(a, "r"))
		b.afterCommand("SET", func() { stop(links, ttl+500*time.Millisecond) })
		b.acquireLater(ttl+100*time.Millisecond, other, "r")
		lease, err := b.tryFor(ttl+time.Second, a, "r")
		if !errors.Is(err, ErrNotAcquired) {
			b.t.Fatalf("lease %v, error %v", lease, err)
		}
		if n := b.keys("r"); n != 5 {
			b.t.Errorf("B has %d keys left of 5", n)
		}
	})
}

func TestRedlockTakesAGrantThatCameInTime(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r"))
		b.afterCommand("SET", func() { stop(links, ttl/2) })
		lease, err := b.tryFor(ttl, a, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		if left := time.Until(lease.Until()); left > ttl/2 || left < ttl/2-200*time.Millisecond {
			b.t.Errorf("%v left, although half of it went by", left)
		}
	})
}

func TestRedlockGrantsWithAMinorityDown(t *testing.T) {
	faults := map[string]func(*link){
		"refused":    func(l *link) { l.refuse.Store(true) },
		"black hole": func(l *link) { l.loseRequests.Store(true) },
		"mute":       func(l *link) { l.loseReplies.Store(true) },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inBed(t, "redlock", true, func(b *bed) {
				a, links := b.client("A")
				fault(links[1])
				fault(links[3])
				start := time.Now()
				lease := b.acquire(a, "r")
				if took := time.Since(start); took > 60*time.Millisecond {
					b.t.Errorf("took %v, more than one node's timeout", took)
				}
				if err := a.Extend(b.t.Context(), lease); err != nil {
					b.t.Error(err)
				}
				b.release(a, lease)
			})
		})
	}
}

func TestRedlockWithAMajorityDownFailsAndLeavesNoKey(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		for _, l := range links[:3] {
			l.refuse.Store(true)
		}
		start := time.Now()
		if _, err := b.tryFor(2*time.Second, a, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("acquire: %v", err)
		}
		if took := time.Since(start); took > 2200*time.Millisecond {
			b.t.Errorf("took %v", took)
		}
		if n := b.keys("r"); n != 0 {
			b.t.Errorf("%d keys left", n)
		}
	})
}

// Catalogue D5: a node may have granted although its reply was lost.
func TestRedlockUndoesOnEveryNode(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r"))
		for _, m := range b.nodes[2:] {
			m.Set(Key("r"), "B")
		}
		links[1].loseReplies.Store(true)
		time.AfterFunc(45*time.Millisecond, func() { links[1].loseReplies.Store(false) })
		if _, err := b.tryFor(100*time.Millisecond, a, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatalf("acquire: %v", err)
		}
		for i, want := range []bool{false, false, true, true, true} {
			if b.nodes[i].Exists(Key("r")) != want {
				b.t.Errorf("node %d: key there: %v, want %v", i+1, !want, want)
			}
		}
	})
}

func TestRedlockRetriesWithAFreshToken(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, _ := b.client("A")
		for _, m := range b.nodes[:3] {
			m.Set(Key("r"), "B")
		}
		var mu sync.Mutex
		tokens := map[string]int{}
		b.nodes[4].Server().SetPreHook(func(_ *server.Peer, cmd string, args ...string) bool {
			mu.Lock()
			defer mu.Unlock()
			if cmd == "SET" {
				tokens[args[1]]++
			}
			return false
		})
		if _, err := b.tryFor(2*time.Second, a, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatal(err)
		}
		if len(tokens) < 5 {
			b.t.Errorf("%d tokens in 2 s", len(tokens))
		}
		for token, n := range tokens {
			if n != 1 {
				b.t.Errorf("%s was used %d times", token, n)
			}
		}
	})
}

func TestRedlockFenceIsTheGreatestOfTheMajority(t *testing.T) {
	inBed(t, "redlock", true, func(b *bed) {
		a, links := b.client("A")
		other, otherLinks := b.client("B")
		b.nodes[2].Set(FenceKey("r"), "41")
		links[3].refuse.Store(true)
		links[4].refuse.Store(true)
		first := b.acquire(a, "r")
		b.release(a, first)
		otherLinks[0].refuse.Store(true)
		otherLinks[1].refuse.Store(true)
		second := b.acquire(other, "r")
		if first.Fence != 42 || second.Fence != 43 {
			b.t.Errorf("fences %d and %d, want 42 and 43", first.Fence, second.Fence)
		}
	})
}

func TestRedlockCountsReleasesAndExtensions(t *testing.T) {
	const lost, mute = 'l', 'm' // the node lost the key; the node does not answer
	tests := []struct {
		nodes string
		held  bool
		known bool
	}{
		{"     ", true, true},
		{"ll   ", true, true},
		{"mm   ", true, true},
		{"lll  ", false, true},
		{"llm  ", false, false},
		{"mmm  ", false, false},
		{"lllmm", false, true},
	}
	ops := map[string]func(Lock, *bed, *Lease) error{
		"extend":  func(l Lock, b *bed, lease *Lease) error { return l.Extend(b.t.Context(), lease) },
		"release": func(l Lock, b *bed, lease *Lease) error { return l.Release(b.t.Context(), lease) },
	}
	for name, op := range ops {
		for _, test := range tests {
			t.Run(name+"/"+strings.ReplaceAll(test.nodes, " ", "."), func(t *testing.T) {
				inBed(t, "redlock", false, func(b *bed) {
					a, links := b.client("A")
					lease := b.acquire(a, "r")
					until := lease.Until()
					for i, fault := range test.nodes {
						switch fault {
						case lost:
							b.nodes[i].Del(Key("r"))
						case mute:
							links[i].loseReplies.Store(true)
						}
					}
					err := op(a, b, lease)
					if (err == nil) != test.held || test.known != (err == nil || errors.Is(err, ErrNotHeld)) {
						b.t.Errorf("%v", err)
					}
					if err != nil && lease.Until() != until {
						b.t.Error("until moved")
					}
				})
			})
		}
	}
}

// Catalogue D14.
func TestRedlockExtendThatAnswersTooLateDoesNotCount(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		lease := b.acquire(a, "r")
		until := lease.Until()
		b.afterCommand("EVAL", func() { stop(links, ttl+time.Second) })
		if err := a.Extend(b.t.Context(), lease); err == nil {
			b.t.Error("counted")
		}
		if lease.Until() != until {
			b.t.Error("until moved")
		}
	})
}

func TestRedlockUnknownOnlyIfAMajorityMayKeepItsKeys(t *testing.T) {
	for mute, unknown := range map[int]bool{2: false, 3: true} {
		inBed(t, "redlock", false, func(b *bed) {
			a, links := b.client("A")
			b.release(a, b.acquire(a, "r"))
			for _, m := range b.nodes[3:] {
				m.Set(Key("r"), "B")
			}
			for _, l := range links[:mute] {
				l.loseReplies.Store(true)
			}
			for _, m := range b.nodes[mute:3] {
				m.Set(Key("r"), "B")
			}
			_, err := b.tryFor(2*time.Second, a, "r")
			if err == nil || errors.Is(err, ErrNotAcquired) == unknown {
				b.t.Errorf("%d mute nodes: %v", mute, err)
			}
		})
	}
}

// Catalogue C1, the known limit: a node that restarts empty belongs to two majorities.
func TestRedlockAdmitsTwoHoldersIfANodeForgets(t *testing.T) {
	inBed(t, "redlock", false, func(b *bed) {
		a, links := b.client("A")
		other, otherLinks := b.client("B")
		links[3].refuse.Store(true)
		links[4].refuse.Store(true)
		otherLinks[0].refuse.Store(true)
		otherLinks[1].refuse.Store(true)
		b.acquire(a, "r")
		if _, err := b.tryFor(time.Second, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatalf("before: %v", err)
		}
		b.nodes[2].FlushAll()
		b.acquire(other, "r")
	})
}
