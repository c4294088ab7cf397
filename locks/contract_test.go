package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The contract that every lock must keep is in locktest, whose tests hold each lock of All to it. Here is what the built-in
// locks promise beyond.

// each runs a test on every built-in lock that has all of the traits.
func each(t *testing.T, has func(Entry) bool, f func(*bed)) {
	for _, e := range All {
		if e.Module != "" || !has(e) {
			continue
		}
		for _, fencing := range []bool{false, true} {
			if fencing && !e.Fences {
				continue
			}
			t.Run(fmt.Sprintf("%s/fencing=%v", e.Name, fencing), func(t *testing.T) { inBed(t, e.Name, fencing, f) })
		}
	}
}

func onServers(e Entry) bool { return e.Servers != NoServer }
func anyLock(Entry) bool     { return true }
func renewed(e Entry) bool {
	return e.Name == "single-watchdog" || e.Name == "redlock-watchdog" || e.Name == "consensus"
}
func notRenewed(e Entry) bool { return onServers(e) && !renewed(e) }

// ownerChecked locks release and extend their own lease only.
func ownerChecked(e Entry) bool {
	return onServers(e) && e.Name != "setnx-expire" && e.Name != "single-del"
}

// tidy locks undo an attempt whose reply was lost.
func tidy(e Entry) bool { return ownerChecked(e) && e.Name != "single-getdel" }

func TestNoLockAdmitsManyHolders(t *testing.T) {
	each(t, func(e Entry) bool { return !onServers(e) }, func(b *bed) {
		if most := b.race(20); most != 20 {
			b.t.Errorf("%d clients held at once, want all 20: the race proves nothing otherwise", most)
		}
	})
}

// race lets n clients acquire once each and returns how many held at once. Everyone must get the lock.
func (b *bed) race(n int) int {
	var holding, most atomic.Int64
	var done sync.WaitGroup
	var turn sync.Mutex // of the fences, in the order of grants
	var lastFence int64
	for i := range n {
		lock, _ := b.client(fmt.Sprint("c", i))
		done.Go(func() {
			lease, err := b.tryFor(time.Minute, lock, "r")
			if err != nil {
				b.t.Errorf("client %d: %v", i, err)
				return
			}
			most.Store(max(most.Load(), holding.Add(1)))
			turn.Lock()
			if b.fencing && lease.Fence <= lastFence {
				b.t.Errorf("fence %d after %d", lease.Fence, lastFence)
			}
			if !b.fencing && lease.Fence != 0 {
				b.t.Errorf("fence %d, but none was asked for", lease.Fence)
			}
			lastFence = lease.Fence
			turn.Unlock()
			time.Sleep(50 * time.Millisecond)
			holding.Add(-1)
			if err := lock.Release(b.t.Context(), lease); err != nil {
				b.t.Errorf("client %d: %v", i, err)
			}
		})
	}
	done.Wait()
	return int(most.Load())
}

func TestReleasedLockIsFreeAtOnce(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		b.release(a, b.acquire(a, "r"))
		start := time.Now()
		b.acquire(other, "r")
		if took := time.Since(start); took > 20*time.Millisecond {
			b.t.Errorf("free after %v", took)
		}
	})
}

func TestUntilRunsFromTheRequest(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r")) // connected
		for _, l := range links {
			l.latency.Store(int64(10 * time.Millisecond))
		}
		start := time.Now()
		lease := b.acquire(a, "r")
		life := lease.Until().Sub(start)
		want := ttl
		if b.entry.Servers == FiveNodes {
			want -= ttl/100 + 2*time.Millisecond
		}
		if b.entry.Name == "setnx-expire" {
			want += 20 * time.Millisecond // counted from its second request
		}
		if life != want {
			b.t.Errorf("until is %v after the request, want %v", life, want)
		}
		if !lease.Until().After(time.Now()) {
			b.t.Error("over at once")
		}
	})
}

func TestAnotherTokenReleasesNothing(t *testing.T) {
	each(t, ownerChecked, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		b.acquire(a, "r")
		stale := NewLease("r", "999999", 0, time.Now().Add(ttl))
		if err := other.Release(b.t.Context(), stale); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("release: %v", err)
		}
		if err := other.Extend(b.t.Context(), stale); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("extend: %v", err)
		}
		if _, err := b.tryFor(time.Second, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("the lock was released: %v", err)
		}
	})
}

func TestExtendMovesUntilAndTheExpiry(t *testing.T) {
	each(t, notRenewed, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		lease := b.acquire(a, "r")
		before := lease.Until()
		time.Sleep(ttl / 2)
		if err := a.Extend(b.t.Context(), lease); err != nil {
			b.t.Fatal(err)
		}
		if moved := lease.Until().Sub(before); moved < ttl/2 || moved > ttl/2+10*time.Millisecond {
			b.t.Errorf("until moved by %v", moved)
		}
		time.Sleep(ttl - 2*time.Second)
		if _, err := b.tryFor(time.Second, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("the extended lease was over: %v", err)
		}
	})
}

func TestExtendAndReleaseOfAnExpiredLeaseSayNotHeld(t *testing.T) {
	each(t, notRenewed, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		until := lease.Until()
		time.Sleep(ttl + time.Second)
		if err := a.Extend(b.t.Context(), lease); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("extend: %v", err)
		}
		if lease.Until() != until {
			b.t.Error("until moved")
		}
		if err := a.Release(b.t.Context(), lease); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("release: %v", err)
		}
	})
}

func TestAcquireWithDoneContextSendsNothing(t *testing.T) {
	each(t, anyLock, func(b *bed) {
		lock, links := b.client("A")
		cause := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(b.t.Context())
		cancel(cause)
		for range 20 { // so that tossing a coin is noticed
			if _, err := lock.Acquire(ctx, "r"); !errors.Is(err, ErrNotAcquired) || !errors.Is(err, cause) {
				b.t.Fatalf("error %v wraps ErrNotAcquired and the cause?", err)
			}
		}
		for _, l := range links {
			if l.commandsTried.Load() != 0 {
				b.t.Error("something was sent")
			}
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	each(t, func(e Entry) bool { return e.Name != "none" }, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		if !onServers(b.entry) {
			other = a // excludes within its process only
		}
		b.acquire(a, "r")
		start := time.Now()
		_, err := b.tryFor(3*time.Second, other, "r")
		if !errors.Is(err, ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			b.t.Errorf("error %v wraps ErrNotAcquired and the context's?", err)
		}
		if took := time.Since(start); took < 3*time.Second || took > 3100*time.Millisecond {
			b.t.Errorf("took %v", took)
		}
	})
}

func TestExtendAndReleaseAreSentAlsoWhenTheContextIsDone(t *testing.T) {
	each(t, anyLock, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		ctx, cancel := context.WithCancel(b.t.Context())
		cancel()
		if err := a.Extend(ctx, lease); onServers(b.entry) && err != nil {
			b.t.Error(err)
		}
		if err := a.Release(ctx, lease); err != nil {
			b.t.Fatal(err)
		}
		b.acquire(a, "r")
	})
}

func TestUnreachableServersGrantNothing(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, links := b.client("A")
		for _, l := range links {
			l.refuse.Store(true)
		}
		if _, err := b.tryFor(3*time.Second, a, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("nothing can have been sent, but: %v", err)
		}
		time.AfterFunc(2*time.Second, func() {
			for _, l := range links {
				l.refuse.Store(false)
			}
		})
		if _, err := b.tryFor(5*time.Second, a, "r"); err != nil {
			b.t.Errorf("after healing: %v", err)
		}
	})
}

func TestUnansweredDialsGrantNothing(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, links := b.client("A")
		for _, l := range links {
			l.ignore.Store(true)
		}
		if _, err := b.tryFor(3*time.Second, a, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("nothing can have been sent, but: %v", err)
		}
	})
}

func TestSilentServersLeaveTheOutcomeUnknown(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, links := b.client("A")
		b.release(a, b.acquire(a, "r"))
		for _, l := range links {
			l.loseReplies.Store(true)
		}
		start := time.Now()
		lease, err := b.tryFor(3*time.Second, a, "r")
		if b.entry.Name == "consensus" {
			if !errors.Is(err, ErrNotAcquired) { // no session was opened, as far as it knows
				b.t.Errorf("lease %v, error %v", lease, err)
			}
		} else if err == nil || errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("lease %v, error %v", lease, err)
		}
		if took := time.Since(start); took > 6*time.Second {
			b.t.Errorf("took %v", took)
		}
	})
}

func TestReleaseWithoutAnswerIsUnknown(t *testing.T) {
	each(t, onServers, func(b *bed) {
		a, links := b.client("A")
		lease := b.acquire(a, "r")
		for _, l := range links {
			l.loseReplies.Store(true)
		}
		err := a.Release(b.t.Context(), lease)
		if err == nil || errors.Is(err, ErrNotHeld) {
			b.t.Errorf("release: %v", err)
		}
	})
}

func TestAttemptWithLostReplyIsUndone(t *testing.T) {
	each(t, tidy, func(b *bed) {
		a, links := b.client("A")
		other, _ := b.client("B")
		b.release(a, b.acquire(a, "r"))
		lose := func(on bool) {
			for _, l := range links {
				l.loseReplies.Store(on)
			}
		}
		lose(true)
		// The reply is due after 2 ms and given up after 50 ms at the soonest; only then the undoing begins.
		time.AfterFunc(45*time.Millisecond, func() { lose(false) })
		lease, err := b.tryFor(5*time.Second, a, "r")
		if err != nil {
			b.t.Fatalf("A: %v", err)
		}
		b.release(a, lease)
		b.acquire(other, "r") // nothing of the first attempt is left
	})
}

func TestWatchdogKeepsTheLease(t *testing.T) {
	each(t, renewed, func(b *bed) {
		a, _ := b.client("A")
		other, _ := b.client("B")
		lease := b.acquire(a, "r")
		time.Sleep(4 * ttl)
		if _, err := b.tryFor(time.Second, other, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatalf("not renewed: %v", err)
		}
		if left := time.Until(lease.Until()); left < ttl/2 || closed(lease.Lost) {
			b.t.Errorf("%v left, lost %v", left, closed(lease.Lost))
		}
		b.release(a, lease)
		time.Sleep(2 * ttl)
		if closed(lease.Lost) {
			b.t.Error("lost after its release")
		}
	})
}

func TestWatchdogReportsLossWhenCutOff(t *testing.T) {
	each(t, renewed, func(b *bed) {
		a, links := b.client("A")
		lease := b.acquire(a, "r")
		for _, l := range links {
			l.loseRequests.Store(true)
		}
		select {
		case <-lease.Lost:
		case <-time.After(2 * ttl):
			b.t.Fatal("never reported")
		}
		if late := time.Since(lease.Until()); late < 0 || late > time.Millisecond {
			b.t.Errorf("reported %v after the lease's end", late)
		}
	})
}

func TestWatchdogReportsLossWhenToldSo(t *testing.T) {
	each(t, renewed, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		start := time.Now()
		for _, m := range b.nodes {
			m.FlushAll()
		}
		if b.service != nil {
			b.service.set(func() { clear(b.service.sessions) })
		}
		<-lease.Lost
		if took := time.Since(start); took > ttl/3+50*time.Millisecond {
			b.t.Errorf("reported after %v, not with the next renewal", took)
		}
		if err := a.Release(b.t.Context(), lease); !errors.Is(err, ErrNotHeld) {
			b.t.Errorf("release: %v", err)
		}
	})
}

func TestWatchdogSurvivesAShortOutage(t *testing.T) {
	each(t, renewed, func(b *bed) {
		a, links := b.client("A")
		lease := b.acquire(a, "r")
		for _, l := range links {
			l.loseRequests.Store(true)
		}
		time.AfterFunc(6*time.Second, func() {
			for _, l := range links {
				l.loseRequests.Store(false)
			}
		})
		time.Sleep(3 * ttl)
		if closed(lease.Lost) {
			b.t.Error("lost, although the second renewal could get through")
		}
		b.release(a, lease)
	})
}

func TestSingleUseTokens(t *testing.T) {
	env := Env{Client: "A", Rand: rand.New(rand.NewPCG(1, 2))}
	if a, b := env.newToken(), env.newToken(); a == b {
		t.Errorf("%q twice", a)
	}
}

func TestNewRefusesWhatItCannotDo(t *testing.T) {
	for _, e := range All {
		t.Run(e.Name, func(t *testing.T) {
			if !e.Fences {
				if _, err := e.New(Env{Fencing: true, Rand: rand.New(rand.NewPCG(1, 2))}); !errors.Is(err, ErrUnsupported) {
					t.Errorf("fences: %v", err)
				}
				return
			}
			good := Env{Nodes: []string{"127.0.0.1:1"}, TTL: time.Second, Rand: rand.New(rand.NewPCG(1, 2))}
			for what, spoil := range map[string]func(*Env){
				"TTL below a millisecond": func(e *Env) { e.TTL = time.Millisecond - 1 },
				"no node":                 func(e *Env) { e.Nodes = nil },
				"no randomness":           func(e *Env) { e.Rand = nil },
			} {
				env := good
				spoil(&env)
				if _, err := e.New(env); err == nil {
					t.Errorf("%s: accepted", what)
				}
			}
		})
	}
}

func TestFindNamesWhatThereIs(t *testing.T) {
	if e, err := Find("redlock"); err != nil || e.Name != "redlock" {
		t.Errorf("Find: %v, %v", e.Name, err)
	}
	_, err := Find("redlok")
	if err == nil || err.Error() != `no lock "redlok"; there are none, process-mutex, setnx-expire, single-del, single-getdel, single, `+
		`single-watchdog, failover, redlock, redlock-watchdog, consensus, redsync, redsync-5, redislock, rueidislock` {
		t.Errorf("Find: %v", err)
	}
}

func TestEveryEntryIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All {
		if e.Name == "" || seen[e.Name] || e.Summary == "" || e.Source == "" || e.Limits == "" || e.New == nil {
			t.Errorf("entry %q is incomplete or there twice", e.Name)
		}
		seen[e.Name] = true
	}
}
