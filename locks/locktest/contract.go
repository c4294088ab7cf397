package locktest

import (
	"context"
	"errors"
	"fmt"
	oldrand "math/rand"
	"sync"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// law is one clause of the contract that every lock must keep, without any fault.
type law struct {
	name, claim string
	clients     int
	holds       func(*bench) error
}

// laws of the contract. Times are generous: a lock may poll, but not seldom.
var laws = []law{
	{"one-holder", "20 clients race for the lock, each has it once, and never two at a time.", 20, oneHolder},
	{"foreign-lease", "A release or extend with another's token does nothing to the lease that is held, and returns an error.", 3, foreignLease},
	{"late-release", "A release after the lease's end leaves the successor's lease alone, and returns an error.", 3, lateRelease},
	{"free-when-released", "A released lock can be had at once.", 2, freeWhenReleased},
	{"free-at-ttl", "The lock of a client that died can be had when its TTL is over, and not before.", 2, freeAtTTL},
	{"done-context", "An acquire with a context that is done returns an error and takes nothing.", 2, doneContext},
	{"wait-ends", "An acquire that waits for a held lock ends with its context, and has taken nothing.", 3, waitEnds},
	{"two-resources", "Locks on two resources do not disturb each other.", 3, twoResources},
	{"extend", "An extended lease lasts a TTL from its extension, as its Until says.", 2, extend},
}

// Contract tests the plain contract alone, as Run does under "contract": without faults, one subtest for each law.
func Contract(t *testing.T, newLock New, options ...Option) {
	t.Helper()
	newSettings(t.Name(), newLock, options).contract(t)
}

func (s *settings) contract(t *testing.T) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			if s.stopped != "" {
				t.Skip("not run: " + s.stopped)
			}
			for _, fencing := range s.fencings() {
				err := s.keep(l, fencing)
				if errors.As(err, new(errLeft)) {
					s.stop(t)
				}
				switch {
				case errors.Is(err, locks.ErrUnsupported):
					t.Skip(err)
				case err != nil:
					t.Errorf("claimed:   %s\nviolated:  %v%s\n%s", l.claim, err, withFences(fencing), again(t.Name(), s.seed, "no fault is at work here"))
				}
			}
		})
	}
}

func withFences(on bool) string {
	if on {
		return " (with fences)"
	}
	return ""
}

// keep runs one law in a world of its own. The error says how it was broken.
func (s *settings) keep(l law, fencing bool) error {
	oldrand.Seed(int64(s.seed)) //lint:ignore SA1019 nothing else reaches the source that libraries draw from
	return s.onBench(l.clients, fencing, l.holds)
}

// brokenf says how a law was broken: a sentence that may begin with the name of a client. It wraps as fmt.Errorf does.
func brokenf(format string, args ...any) error { return fmt.Errorf(format, args...) }

func oneHolder(b *bench) error {
	var mu sync.Mutex
	var holder string
	var lastFence int64
	var errs []error
	var racing sync.WaitGroup
	for _, name := range b.names {
		racing.Go(func() {
			lease, err := b.acquire(name, "r", 3*time.Minute)
			mu.Lock()
			if err != nil {
				errs = append(errs, brokenf("%s never had it: %w", name, err))
				mu.Unlock()
				return
			}
			if holder != "" {
				errs = append(errs, brokenf("%s was granted the lock at %s while %s held it", name, b.now(), holder))
			}
			if b.fencing && lease.Fence <= lastFence {
				errs = append(errs, brokenf("%s was granted fence %d after %d", name, lease.Fence, lastFence))
			}
			holder, lastFence = name, lease.Fence
			mu.Unlock()
			time.Sleep(b.ttl / 200)
			mu.Lock()
			holder = ""
			mu.Unlock()
			if err := b.release(name, lease); err != nil {
				mu.Lock()
				errs = append(errs, brokenf("%s could not release it: %w", name, err))
				mu.Unlock()
			}
		})
	}
	racing.Wait()
	if len(errs) > 0 {
		return errs[0] // the others follow from it, or are like it
	}
	return nil
}

func foreignLease(b *bench) error {
	if _, err := b.acquireAtOnce("A", "r"); err != nil {
		return err
	}
	foreign := locks.NewLease("r", "999999", 0, time.Now().Add(b.ttl))
	for _, try := range []struct {
		what string
		do   func(context.Context, *locks.Lease) error
	}{{"release", b.locks["B"].Release}, {"extend", b.locks["B"].Extend}} {
		err := b.guarded(func() error { return try.do(context.Background(), foreign) })
		if _, got := b.acquire("C", "r", b.ttl/10); got == nil {
			return brokenf("B's %s with a token that is nobody's freed the lock that A held", try.what)
		}
		if err == nil {
			return brokenf("B's %s with a token that is nobody's returned nil", try.what)
		}
	}
	return nil
}

func lateRelease(b *bench) error {
	old, err := b.acquireAtOnce("A", "r")
	if err != nil {
		return err
	}
	b.cutOff("A") // or a lock that renews itself never ends
	if _, err := b.acquire("B", "r", 2*b.ttl); err != nil {
		return brokenf("B, after the end of A's lease: %w", err)
	}
	b.heal()
	err = b.release("A", old)
	if _, got := b.acquire("C", "r", b.ttl/10); got == nil {
		return brokenf("A's release after the end of its lease freed the lock that B held")
	}
	if err == nil && old.Lost == nil { // one that was told so has nothing to hear from its release
		return brokenf("A's release after the end of its lease returned nil, although nothing was released")
	}
	return nil
}

func freeWhenReleased(b *bench) error {
	for _, name := range []string{"A", "B", "A"} {
		lease, err := b.acquireAtOnce(name, "r")
		if err != nil {
			return err
		}
		if err := b.release(name, lease); err != nil {
			return brokenf("%s's release: %w", name, err)
		}
	}
	return nil
}

func freeAtTTL(b *bench) error {
	if _, err := b.acquireAtOnce("A", "r"); err != nil {
		return err
	}
	granted := b.now()
	b.kill("A")
	if _, err := b.acquire("B", "r", b.ttl*8/10); err == nil {
		return brokenf("B had it at %s, though A was granted it at %s with a TTL of %v", b.now(), granted, b.ttl)
	}
	if _, err := b.acquire("B", "r", b.ttl/2); err != nil {
		return brokenf("A, granted it at %s with a TTL of %v, died; B still cannot have it at %s: %w", granted, b.ttl, b.now(), err)
	}
	return nil
}

func doneContext(b *bench) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	if _, err := b.acquireWith(ctx, "A", "r"); err == nil {
		return brokenf("A was granted it")
	}
	if took := time.Since(start); took > b.ttl/10 {
		return brokenf("A's acquire took %v", took)
	}
	_, err := b.acquireAtOnce("B", "r")
	return err
}

func waitEnds(b *bench) error {
	held, err := b.acquireAtOnce("A", "r")
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := b.acquire("B", "r", b.ttl/5); err == nil {
		return brokenf("B was granted it while A held it")
	}
	if took := time.Since(start); took > b.ttl/2 {
		return brokenf("B's acquire, with %v to wait, took %v", b.ttl/5, took)
	}
	if err := b.release("A", held); err != nil {
		return brokenf("A's release: %w", err)
	}
	_, err = b.acquireAtOnce("C", "r")
	return err
}

func twoResources(b *bench) error {
	one, err := b.acquireAtOnce("A", "one")
	if err != nil {
		return err
	}
	if _, err := b.acquireAtOnce("B", "two"); err != nil {
		return brokenf("while A holds the other: %w", err)
	}
	if err := b.release("A", one); err != nil {
		return brokenf("A's release: %w", err)
	}
	if _, err := b.acquire("C", "two", b.ttl/10); err == nil {
		return brokenf("A's release of the one freed the other, which B held")
	}
	_, err = b.acquireAtOnce("C", "one")
	return err
}

func extend(b *bench) error {
	lease, err := b.acquireAtOnce("A", "r")
	if err != nil {
		return err
	}
	time.Sleep(b.ttl / 2)
	before, sent := lease.Until(), time.Now()
	if err := b.guarded(func() error { return b.locks["A"].Extend(context.Background(), lease) }); err != nil {
		return brokenf("A's extend: %w", err)
	}
	if u := lease.Until(); !u.IsZero() && (!u.After(before) || u.After(sent.Add(b.ttl+b.ttl/100))) {
		return brokenf("A's lease was to end %v after its extension, TTL %v, before that at %v", u.Sub(sent), b.ttl, before.Sub(sent))
	}
	if _, err := b.acquire("B", "r", b.ttl*8/10); err == nil {
		return brokenf("B had it at %s, %v after A's extension", b.now(), time.Since(sent))
	}
	return nil
}
