package program

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
)

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// TestOutcomesAreErrors: what a program answers is what a lock in Go returns.
func TestOutcomesAreErrors(t *testing.T) {
	l, _ := asLock(t, "refuses", false)
	if _, err := acquire(t, l, 60*time.Millisecond); !errors.Is(err, locks.ErrNotAcquired) || !strings.Contains(err.Error(), "taken") {
		t.Errorf("fail: %v", err)
	}
	for _, habit := range []string{"does not know", "does not know, waiting"} {
		l, _ = asLock(t, habit, false)
		if _, err := acquire(t, l, 60*time.Millisecond); err == nil || errors.Is(err, locks.ErrNotAcquired) ||
			errors.Is(err, locks.ErrBroken) || !strings.HasSuffix(err.Error(), "outcome unknown: time-out") ||
			strings.Count(err.Error(), "unknown") != 1 {
			t.Errorf("%s: %v", habit, err)
		}
	}
	l, _ = asLock(t, "plain", true)
	lease, err := acquire(t, l, time.Second)
	if err != nil || lease.Token != "t3" || lease.Fence != 3 || lease.Resource != "r" {
		t.Errorf("ok: %+v, %v", lease, err)
	}
	if l, _ = asLock(t, "plain", false); true {
		if lease, err = acquire(t, l, time.Second); err != nil || lease.Fence != 0 {
			t.Errorf("a fence that nobody asked for: %+v, %v", lease, err)
		}
	}
	l, _ = asLock(t, "cannot extend", false)
	lease, err = acquire(t, l, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Extend(t.Context(), lease); !errors.Is(err, locks.ErrUnsupported) {
		t.Errorf("extend: %v", err)
	}
	if err := l.Release(t.Context(), locks.NewLease("r", "x", 0, time.Time{})); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("release of another's lease: %v", err)
	}
}

// TestUntilRunsFromTheRequest: however late the answer comes.
func TestUntilRunsFromTheRequest(t *testing.T) {
	l, _ := asLock(t, "waits", false)
	before := time.Now()
	lease, err := acquire(t, l, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now().Add(-50 * time.Millisecond)
	if u := lease.Until().Add(-900 * time.Millisecond); u.Before(before) || u.After(after) {
		t.Errorf("until counts from %v, asked at %v", u, before)
	}
	before = time.Now()
	if err := l.Extend(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if u := lease.Until().Add(-800 * time.Millisecond); u.Before(before) || u.After(time.Now()) {
		t.Errorf("after extending, until counts from %v, asked at %v", u, before)
	}
	a, err := parse([]byte(`{"id":1,"outcome":"ok","validity_ms":900,"waited_ms":5000}`))
	if want := before.Add(5900 * time.Millisecond); err != nil || a.until(before) != want {
		t.Errorf("until %v, %v", a.until(before), err)
	}
	if a, err = parse([]byte(`{"id":1,"outcome":"ok"}`)); err != nil || !a.until(before).IsZero() {
		t.Errorf("a lease without end ends at %v, %v", a.until(before), err)
	}
}

// TestLossIsToldAtOnce: also when the news comes before the answer to the acquire.
func TestLossIsToldAtOnce(t *testing.T) {
	l, _ := asLock(t, "loses", false)
	lease, err := acquire(t, l, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-lease.Lost:
		t.Fatal("lost at once")
	default:
	}
	if err := l.(*lock).Valid(t.Context(), lease); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("valid: %v", err)
	}
	awaitLoss(t, lease)
	l, _ = asLock(t, "loses early", false)
	if lease, err = acquire(t, l, time.Second); err != nil {
		t.Fatal(err)
	}
	awaitLoss(t, lease)
}

func awaitLoss(t *testing.T, lease *locks.Lease) {
	t.Helper()
	select {
	case <-lease.Lost:
	case <-time.After(5 * time.Second):
		t.Error("never told")
	}
}
