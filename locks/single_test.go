package locks

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// afterCommand runs f once, just after the first node has run the next command of that name.
func (b *bed) afterCommand(name string, f func()) {
	b.onCommand(name, func() { time.AfterFunc(time.Microsecond, f) })
}

// onCommand runs f once, before the first node runs the next command of that name.
func (b *bed) onCommand(name string, f func()) {
	var done atomic.Bool
	b.nodes[0].Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
		if cmd == name && !done.Swap(true) {
			f()
		}
		return false
	})
}

// The known limit of every lock on one node, and what Until is for.
func TestSingleReturnsALeaseThatEndedWhileTheReplyWasUnderWay(t *testing.T) {
	inBed(t, "single", false, func(b *bed) {
		a, links := b.client("A")
		other, _ := b.client("B")
		b.afterCommand("SET", func() { stop(links, ttl+time.Second) })
		b.acquireLater(ttl+100*time.Millisecond, other, "r")
		lease, err := b.tryFor(time.Minute, a, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		if lease.Until().After(time.Now()) {
			b.t.Error("until lies in the future")
		}
		if err := a.Release(b.t.Context(), lease); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("release: %v", err)
		}
		if b.keys("r") != 1 {
			b.t.Error("A deleted B's lease")
		}
	})
}

func TestSingleDelDeletesAnothersLease(t *testing.T) {
	for _, name := range []string{"single-del", "setnx-expire"} {
		t.Run(name, func(t *testing.T) {
			inBed(t, name, false, func(b *bed) {
				a, _ := b.client("A")
				other, _ := b.client("B")
				late := b.acquire(a, "r")
				time.Sleep(ttl + time.Second)
				b.acquire(other, "r")
				b.release(a, late)
				if b.keys("r") != 0 {
					b.t.Error("B's lease is still there")
				}
			})
		})
	}
}

func TestSingleGetDelDeletesALeaseThatPassedOnInBetween(t *testing.T) {
	inBed(t, "single-getdel", false, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		b.onCommand("DEL", func() { b.nodes[0].DB(0).Set(Key("r"), "B") })
		b.release(a, lease)
		if b.keys("r") != 0 {
			b.t.Error("B's lease is still there")
		}
	})
}

func TestSetnxExpireLeavesALockForEverIfItDiesInBetween(t *testing.T) {
	inBed(t, "setnx-expire", false, func(b *bed) {
		a, links := b.client("A")
		other, _ := b.client("B")
		b.afterCommand("SET", func() { links[0].loseRequests.Store(true) })
		if _, err := b.tryFor(time.Minute, a, "r"); err == nil || errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("A: %v", err)
		}
		if _, err := b.tryFor(100*ttl, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("B: %v", err)
		}
		if left := b.nodes[0].TTL(Key("r")); left != 0 {
			b.t.Errorf("the key has an expiry, of %v", left)
		}
	})
}

func TestSetnxExpireExtendsAnothersLease(t *testing.T) {
	inBed(t, "setnx-expire", false, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		late := b.acquire(a, "r")
		time.Sleep(ttl + time.Second)
		b.acquire(other, "r")
		if err := a.Extend(b.t.Context(), late); err != nil {
			b.t.Errorf("extend: %v", err)
		}
	})
}

func TestSetnxExpireMintsALateHolderTheGreaterFence(t *testing.T) {
	inBed(t, "setnx-expire", true, func(b *bed) {
		a, links := b.client("A")
		other, _ := b.client("B")
		b.afterCommand("PEXPIRE", func() { stop(links, ttl+time.Second) })
		granted := b.acquireLater(ttl+500*time.Millisecond, other, "r")
		late, err := b.tryFor(time.Minute, a, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		if successor := <-granted; late.Fence <= successor.Fence {
			b.t.Errorf("fences %d and then %d: minted with the grant", late.Fence, successor.Fence)
		}
	})
}

func TestFenceIsMintedWithTheGrant(t *testing.T) {
	for _, name := range []string{"single-del", "single-getdel", "single", "single-watchdog", "failover"} {
		t.Run(name, func(t *testing.T) {
			inBed(t, name, true, func(b *bed) {
				a, links := b.client("A")
				other, _ := b.client("B")
				b.afterCommand("EVAL", func() { stop(links, ttl+time.Second) })
				granted := b.acquireLater(ttl+500*time.Millisecond, other, "r")
				late, err := b.tryFor(time.Minute, a, "r")
				if err != nil {
					b.t.Fatal(err)
				}
				if successor := <-granted; late.Fence >= successor.Fence {
					b.t.Errorf("fences %d and then %d", late.Fence, successor.Fence)
				}
			})
		})
	}
}

func TestRefusalsMintNoFence(t *testing.T) {
	inBed(t, "single", true, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		lease := b.acquire(a, "r")
		if _, err := b.tryFor(time.Second, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatal(err)
		}
		b.release(a, lease)
		if next := b.acquire(other, "r"); next.Fence != lease.Fence+1 {
			b.t.Errorf("fence %d after %d", next.Fence, lease.Fence)
		}
	})
}

func TestUndoDoesNotTouchASuccessor(t *testing.T) {
	inBed(t, "single", false, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r"))
		hold := time.Now().Add(20 * time.Second)
		links[0].holdUntil.Store(&hold) // A's SET, then its undo, arrive late
		_, err := b.tryFor(3*time.Second, a, "r")
		if err == nil || errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("A: %v", err)
		}
		time.Sleep(5 * time.Second)
		other, _ := b.client("B")
		lease := b.acquire(other, "r")
		if err := other.Extend(b.t.Context(), lease); err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		if err := other.Extend(b.t.Context(), lease); err != nil {
			b.t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		b.release(other, lease)
	})
}

// A renewal that the network delivers after the release finds no key; that is no loss.
func TestWatchdogReportsNoLossAfterARelease(t *testing.T) {
	inBed(t, "single-watchdog", false, func(b *bed) {
		a, links := b.client("A")
		lease := b.acquire(a, "r")
		time.Sleep(ttl/3 - 100*time.Millisecond)
		late := time.Now().Add(500 * time.Millisecond)
		links[0].holdUntil.Store(&late)
		time.Sleep(200 * time.Millisecond) // the renewal is under way
		links[0].holdUntil.Store(nil)
		b.release(a, lease)
		time.Sleep(ttl)
		if closed(lease.Lost) {
			b.t.Error("lost after its release")
		}
	})
}

// A grant that took long leaves the last renewal under way when the lease ends.
func TestWatchdogReportsLossOnTimeAfterASlowGrant(t *testing.T) {
	inBed(t, "single-watchdog", false, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r"))
		links[0].latency.Store(int64(600 * time.Millisecond))
		lease, err := b.tryFor(ttl, a, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		links[0].loseRequests.Store(true)
		<-lease.Lost
		if late := time.Since(lease.Until()); late < 0 || late > time.Millisecond {
			b.t.Errorf("reported %v after the lease's end", late)
		}
	})
}

func TestWatchdogAndCallerMayExtendTogether(t *testing.T) {
	inBed(t, "single-watchdog", false, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		for range 30 {
			before := lease.Until()
			if err := a.Extend(b.t.Context(), lease); err != nil {
				b.t.Fatal(err)
			}
			if lease.Until().Before(before) {
				b.t.Error("until went back")
			}
			time.Sleep(ttl / 30)
		}
		b.release(a, lease)
	})
}

func TestUntilNeverGoesBack(t *testing.T) {
	now := time.Now()
	lease := NewLease("r", "t", 0, now)
	lease.prolong(now.Add(2 * time.Second))
	lease.prolong(now.Add(time.Second))
	if got := lease.Until().Sub(now); got != 2*time.Second {
		t.Errorf("until is now + %v", got)
	}
}

func TestProcessMutexReleasesOnce(t *testing.T) {
	inBed(t, "process-mutex", false, func(b *bed) {
		a, _ := b.client("A")
		first := b.acquire(a, "r")
		b.release(a, first)
		second := b.acquire(a, "r")
		if err := a.Release(b.t.Context(), first); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("second release: %v", err)
		}
		b.release(a, second)
		if err := a.Extend(b.t.Context(), second); !errors.Is(err, ErrUnsupported) {
			b.t.Errorf("extend: %v", err)
		}
	})
}

func TestProcessMutexHandsOver(t *testing.T) {
	inBed(t, "process-mutex", false, func(b *bed) {
		a, _ := b.client("A")
		first := b.acquire(a, "r")
		time.AfterFunc(500*time.Millisecond, func() { b.release(a, first) })
		start := time.Now()
		b.acquire(a, "r")
		if took := time.Since(start); took != 500*time.Millisecond {
			b.t.Errorf("got it after %v", took)
		}
	})
}
