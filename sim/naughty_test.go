package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// naughty is a lock that does what no lock may. Unset methods behave like a lock that is always free.
type naughty struct {
	acquire func(context.Context) (*locks.Lease, error)
	release func() error
	close   func() error
}

func (n naughty) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	if n.acquire != nil {
		return n.acquire(ctx)
	}
	return locks.NewLease(resource, "t", 0, time.Time{}), nil
}

func (n naughty) Extend(context.Context, *locks.Lease) error { return nil }

func (n naughty) Release(context.Context, *locks.Lease) error {
	if n.release != nil {
		return n.release()
	}
	return nil
}

func (n naughty) Close() error {
	if n.close != nil {
		return n.close()
	}
	return nil
}

const oneSection = "clients: {A: [acquire, write, release]}"

// misbehave runs one section of a naughty lock.
func misbehave(t *testing.T, limit time.Duration, n naughty) runner.Outcome {
	t.Helper()
	lock := locks.Entry{Name: "naughty", New: func(locks.Env) (locks.Lock, error) { return n, nil }}
	o, err := runner.Run(Testbed{Limit: limit}, runner.Plan{Lock: lock, Scenario: written(t, oneSection), Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWhatALockGetsWrongEndsItsRunWithAClearError(t *testing.T) {
	cases := []struct {
		name, want string
		lock       naughty
	}{
		{"leaves goroutines running", "left 6 goroutines running after Close: started by github.com/lockfault/lockfault/sim.leaky", naughty{acquire: leaky}},
		{"never returns from Close", "Close never returned", naughty{close: func() error { <-make(chan struct{}); return nil }}},
		{"panics in acquire", "the lock panicked in acquire: boom", naughty{acquire: func(context.Context) (*locks.Lease, error) { panic("boom") }}},
		{"panics in Close", "the lock panicked in Close: bang", naughty{close: func() error { panic("bang") }}},
		{"returns nothing", "neither a lease nor an error", naughty{acquire: func(context.Context) (*locks.Lease, error) { return nil, nil }}},
		{"blocks for ever", "left", naughty{acquire: func(context.Context) (*locks.Lease, error) { <-make(chan struct{}); return nil, nil }}},
		{"never waits", "no progress within", naughty{acquire: spin}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := misbehave(t, time.Second, c.lock)
			if o.Err == nil || !strings.Contains(o.Err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", o.Err, c.want)
			}
		})
	}
}

// leaky starts goroutines with timers that nothing stops.
func leaky(context.Context) (*locks.Lease, error) {
	for range 3 {
		go func() {
			for {
				time.Sleep(time.Second)
			}
		}()
	}
	return nil, locks.ErrNotAcquired
}

// spin keeps a processor busy for some seconds, in which virtual time does not pass.
func spin(context.Context) (*locks.Lease, error) {
	sum := 0
	for i := range int(2e9) {
		sum += i
	}
	return nil, fmt.Errorf("%w: %d", locks.ErrNotAcquired, sum)
}

func TestAnAcquireThatNeverEndsViolatesProgress(t *testing.T) {
	o := misbehave(t, 10*time.Second, naughty{acquire: func(context.Context) (*locks.Lease, error) { <-make(chan struct{}); return nil, nil }})
	if v := o.Verdicts[checker.Progress]; v.Status != checker.Violated {
		t.Errorf("progress is %v (%s)", v.Status, v.Reason)
	}
}

// TestALeaseThatNobodyGrantedIsFoundOut: two clients with such leases exclude nobody.
func TestALeaseThatNobodyGrantedIsFoundOut(t *testing.T) {
	lock := locks.Entry{Name: "liar", New: func(locks.Env) (locks.Lock, error) { return naughty{}, nil }}
	s := written(t, "clients: {A: [acquire, read, work: 1s, write, release], B: [acquire, read, work: 1s, write, release]}")
	o, _ := playWell(t, runner.Plan{Lock: lock, Scenario: s, Seed: 1})
	for _, p := range []string{checker.Exclusion, checker.Effects} {
		if v := o.Verdicts[p]; v.Status != checker.Violated {
			t.Errorf("%s is %v (%s)", p, v.Status, v.Reason)
		}
	}
}

func TestALockThatCannotBeMadeIsAnError(t *testing.T) {
	lock := locks.Entry{Name: "unmade", New: func(locks.Env) (locks.Lock, error) { return nil, fmt.Errorf("no luck") }}
	o, _ := play(t, runner.Plan{Lock: lock, Scenario: written(t, oneSection), Seed: 1})
	if o.Err == nil || !strings.Contains(o.Err.Error(), "no luck") {
		t.Errorf("got %v", o.Err)
	}
}
