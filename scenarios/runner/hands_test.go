package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
)

// fakeLock answers as it is told.
type fakeLock struct {
	acquire, valid, closing error
	asked                   int // whether a lease is valid
}

func (f *fakeLock) Acquire(context.Context, string) (*locks.Lease, error) {
	return locks.NewLease("r", "t", 0, time.Now().Add(time.Hour)), f.acquire
}
func (f *fakeLock) Extend(context.Context, *locks.Lease) error  { return nil }
func (f *fakeLock) Release(context.Context, *locks.Lease) error { return nil }
func (f *fakeLock) Close() error                                { return f.closing }
func (f *fakeLock) Valid(context.Context, *locks.Lease) error   { f.asked++; return f.valid }

func handsOf(t *testing.T, l locks.Lock) *hands {
	t.Helper()
	h, err := NewHands(HandsConfig{
		Lock: locks.Entry{New: func(locks.Env) (locks.Lock, error) { return l, nil }}, Data: nobody{},
		Now: func() time.Duration { return 0 }, Lost: func(string, time.Duration) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hands)
}

// nobody is a protected resource that is not used.
type nobody struct{ DataClient }

func (nobody) Close() {}

// TestBrokenLocksAreNamed: what no lock may do is told beside the outcome, which is unknown, and on closing.
func TestBrokenLocksAreNamed(t *testing.T) {
	broken := fmt.Errorf("%w: it chatters", locks.ErrBroken)
	h := handsOf(t, &fakeLock{acquire: broken, closing: broken})
	done := h.Do(Command{Op: history.Acquire, For: time.Second})
	if done.Type != history.Info || !strings.Contains(done.Broken, "it chatters") {
		t.Errorf("%+v", done)
	}
	if err := h.Close(); !errors.Is(err, locks.ErrBroken) {
		t.Errorf("closing: %v", err)
	}
	h = handsOf(t, &fakeLock{acquire: errors.New("time-out"), closing: errors.New("connection reset")})
	if done := h.Do(Command{Op: history.Acquire, For: time.Second}); done.Type != history.Info || done.Broken != "" {
		t.Errorf("an unknown outcome: %+v", done)
	}
	if err := h.Close(); err != nil {
		t.Errorf("a connection that a fault has broken: %v", err)
	}
}

// TestCarefulClientsAskTheLockToo if it has an opinion.
func TestCarefulClientsAskTheLockToo(t *testing.T) {
	for _, c := range []struct {
		valid error
		want  history.Type
	}{{nil, history.Ok}, {locks.ErrNotHeld, history.Fail}, {errors.New("time-out"), history.Info}} {
		l := &fakeLock{valid: c.valid}
		h := handsOf(t, l)
		if done := h.Do(Command{Op: history.Check, For: time.Second}); done.Type != history.Fail || l.asked > 0 {
			t.Errorf("without a lease: %+v, asked %d times", done, l.asked)
		}
		h.Do(Command{Op: history.Acquire, For: time.Second})
		if done := h.Do(Command{Op: history.Check, For: time.Second}); done.Type != c.want || l.asked != 1 {
			t.Errorf("%v: %+v, asked %d times", c.valid, done, l.asked)
		}
		h.hold.lease.SetUntil(time.Now().Add(-time.Second))
		if done := h.Do(Command{Op: history.Check, For: time.Second}); done.Type != history.Fail || l.asked != 1 {
			t.Errorf("a lease that is over: %+v, asked %d times", done, l.asked)
		}
	}
}
