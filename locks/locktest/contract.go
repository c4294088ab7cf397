package locktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	oldrand "math/rand"
	"sync"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// law is one clause of the contract that every lock must keep, where nothing is worse than a network that is slow for a
// client or loses a reply.
type law struct {
	name, claim string
	clients     int
	holds       func(*bench) error
	trouble     string // what is at work beside the lock, for a failure; empty for nothing
}

const cutOffFirst = "A is cut off from the servers until its lease is over"

// laws of the contract. Times are generous: a lock may poll, but not seldom.
var laws = []law{
	{"one-holder", "20 clients race for the lock, each has it once, and never two at a time.", 20, oneHolder, ""},
	{"foreign-lease", "A release or extend with another's token does nothing to the lease that is held, and returns an error.", 3, foreignLease, ""},
	{"late-release", "A release after the lease's end leaves the successor's lease alone, and returns an error.", 3, lateRelease, cutOffFirst},
	{"late-extend", "An extend after the lease's end revives nothing, does not move Until, and returns an error.", 3, lateExtend, cutOffFirst},
	{"free-when-released", "A released lock can be had at once.", 2, freeWhenReleased, ""},
	{"free-at-ttl", "The lock of a client that died can be had when its TTL is over, and not before.", 2, freeAtTTL, ""},
	{"done-context", "An acquire with a context that is done returns an error and takes nothing.", 2, doneContext, ""},
	{"wait-ends", "An acquire that waits for a held lock ends with its context, and has taken nothing.", 3, waitEnds, ""},
	{"two-resources", "Locks on two resources do not disturb each other.", 3, twoResources, ""},
	{"extend", "An extended lease lasts a TTL from its extension, as its Until says.", 2, extend, ""},
	{"until", "A lease's Until is no later than a TTL after the request, however long the reply takes.", 1, untilFromRequest, "replies take long here"},
	{"certain-no", "An acquire that says that it certainly did not get the lock holds nothing, also when a reply was lost.", 2, certainNo, "replies to A are lost here"},
	{"fence", "A lease has no fence unless one was asked for.", 1, noFenceUnasked, ""},
}

// contract tests the plain contract: one subtest for each law.
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
				if errors.As(err, new(errUnasked)) { // each scenario would say so again, and less plainly
					s.stopped = err.Error()
				}
				switch {
				case errors.Is(err, locks.ErrUnsupported):
					t.Skip(err)
				case err != nil:
					why := cmp.Or(l.trouble, "no fault is at work here")
					t.Errorf("claimed:   %s\nviolated:  %v%s\n%s", l.claim, err, withFences(fencing), again(t.Name(), s.seed, why))
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

// lateExtend tries it when nobody has come in between, when a successor holds the lock, and when one has come and gone.
func lateExtend(b *bench) error {
	for _, now := range []string{"nobody else had it", "B held it", "B had it and released it"} {
		if err := b.extendLate(now); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) extendLate(now string) error {
	resource := now // so that what one try leaves behind does not disturb the next
	old, err := b.acquireAtOnce("A", resource)
	if err != nil {
		return err
	}
	b.cutOff("A") // or a lock that renews itself never ends
	time.Sleep(b.ttl * 3 / 2)
	if now != "nobody else had it" {
		next, err := b.acquire("B", resource, b.ttl/2)
		if err != nil {
			return brokenf("B, after the end of A's lease: %w", err)
		}
		if now == "B had it and released it" {
			if err := b.release("B", next); err != nil {
				return brokenf("B's release: %w", err)
			}
		}
	}
	b.heal()
	until := old.Until()
	err = b.extend("A", old)
	if errors.Is(err, locks.ErrUnsupported) {
		return err
	}
	_, got := b.acquire("C", resource, b.ttl/10)
	switch moved := old.Until(); {
	case got == nil && now == "B held it":
		return brokenf("A's extend after the end of its lease freed the lock that B held")
	case got != nil && now != "B held it":
		return brokenf("A's extend after the end of its lease, when %s, took the lock again: C cannot have it: %w", now, got)
	case err == nil:
		return brokenf("A's extend after the end of its lease, when %s, returned nil, although nothing was extended", now)
	case moved.After(until), moved.IsZero() && !until.IsZero():
		return brokenf("A's extend after the end of its lease, when %s, failed (%w), yet moved the lease's Until", now, err)
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
	if err := b.extend("A", lease); err != nil {
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

// slowness are the times that replies take, as parts of a TTL: the shortest is less than a Redlock gives one of its nodes,
// the longest less than most locks give their only one.
var slowness = []time.Duration{400, 50, 20, 5}

// untilFromRequest has replies take longer and longer, for as long as the lock is patient: one that gives up breaks no law.
func untilFromRequest(b *bench) error {
	for i, part := range slowness {
		granted, err := b.untilWhenSlow(fmt.Sprint("r", i), b.ttl/part)
		if err != nil || !granted {
			return err
		}
	}
	return nil
}

// untilWhenSlow judges by the return of a call: the request was sent at least the reply's delay before it, whatever the lock
// asked the servers before. Half the delay is left for clocks that a lock may round.
func (b *bench) untilWhenSlow(resource string, delay time.Duration) (granted bool, err error) {
	if err := b.connect("A", resource); err != nil {
		return false, err
	}
	b.disturb("A", nemesis.Disturbance{Delay: delay, Direction: nemesis.Replies})
	defer b.heal()
	late := func(lease *locks.Lease, what string) error {
		left := time.Until(lease.Until())
		if lease.Until().IsZero() || left <= b.ttl-delay/2 {
			return nil
		}
		return brokenf("A's %s returned a lease that ends %v from then, TTL %v, although the reply alone took more than %v",
			what, left, b.ttl, delay)
	}
	lease, got := b.acquire("A", resource, b.ttl/10+4*delay)
	if got != nil {
		return false, nil
	}
	if err := late(lease, "acquire"); err != nil {
		return true, err
	}
	if b.extend("A", lease) == nil {
		err = late(lease, "extend")
	}
	_ = b.release("A", lease) // it may time out
	return true, err
}

// certainNo has A's replies lost for good, and then until its connections are reset, when it may ask again and find the
// lock taken: by itself.
func certainNo(b *bench) error {
	for _, healed := range []bool{false, true} {
		if err := b.loseReplies(fmt.Sprint("healed=", healed), healed); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) loseReplies(resource string, healed bool) error {
	if err := b.connect("A", resource); err != nil {
		return err
	}
	b.disturb("A", nemesis.Disturbance{Drop: true, Direction: nemesis.Replies})
	var healing sync.WaitGroup
	if healed {
		healing.Go(func() {
			time.Sleep(b.ttl / 100)
			b.heal()
		})
	}
	_, err := b.acquire("A", resource, b.ttl/5)
	healing.Wait()
	_, got := b.acquire("B", resource, b.ttl/10)
	if !healed {
		b.heal()
	}
	if errors.Is(err, locks.ErrNotAcquired) && got != nil {
		return brokenf("A said that it certainly did not get the lock, yet holds its key: its error was %q, and B cannot have it: %w",
			err, got)
	}
	return nil
}

func noFenceUnasked(b *bench) error {
	lease, err := b.acquireAtOnce("A", "r")
	if err == nil && !b.fencing && lease.Fence != 0 {
		return errUnasked{lease.Fence}
	}
	return err
}
