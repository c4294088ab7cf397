package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// redlock takes the lock on a majority of independent nodes. It asks all of them at once, each for at most TTL/200 (but
// at least 20 ms), so that a node that is down costs little of the lease. What remains counts from before the first
// request, on the monotonic clock, less an allowance for drifting clocks: if nothing remains, or the majority was
// missed, the attempt is undone on every node, whatever it answered.
//
// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/, "The Redlock algorithm"; the
// allowance of TTL/100 + 2 ms is that of redlock-rb, RedLock.net and node-redlock.
type redlock struct {
	env   Env
	nodes []*node
}

func newRedlock(env Env) (Lock, error) { return makeRedlock(env) }

// makeRedlock returns the concrete type, for redlockWatchdog.
func makeRedlock(env Env) (*redlock, error) {
	env, err := env.forRedis()
	if err != nil {
		return nil, err
	}
	r := &redlock{env: env}
	for _, addr := range env.Nodes {
		r.nodes = append(r.nodes, newNode(env, addr, max(env.TTL/200, 20*time.Millisecond)))
	}
	return r, nil
}

// until is the end of a lease whose first request was sent at the given time: the drift allowance before the TTL.
func (r *redlock) until(sent time.Time) time.Time {
	drift := r.env.TTL/100 + 2*time.Millisecond
	return sent.Add(r.env.TTL - drift)
}

// Acquire tries again after a random delay until ctx is done, with a fresh token each time.
//
// An attempt that failed may leave keys behind, on nodes that did not answer when it was undone. Less than a majority of
// them holds nothing, and the error wraps ErrNotAcquired. If a majority may have been left, the lock may stay taken in
// this client's name until the keys expire: the error then says unknown. A lease is never returned for such an attempt.
func (r *redlock) Acquire(ctx context.Context, resource string) (*Lease, error) {
	var leftover error
	lease, err := poll(ctx, resource, r.retryDelay, func(ctx context.Context) (*Lease, error) {
		lease, undo, err := r.try(ctx, resource)
		if undo != nil {
			leftover = undo
		}
		return lease, err
	})
	if err != nil && leftover != nil {
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, leftover, context.Cause(ctx))
	}
	return lease, err
}

// retryDelay is drawn from half to four times a node's timeout: wide, so that clients that split the vote part.
func (r *redlock) retryDelay() time.Duration {
	timeout := r.nodes[0].timeout
	return timeout/2 + time.Duration(r.env.Rand.Int64N(int64(timeout*7/2)))
}

// try makes one attempt. err wraps ErrNotAcquired if it failed; leftover is set beside if a majority may keep its keys.
func (r *redlock) try(ctx context.Context, resource string) (lease *Lease, leftover, err error) {
	token := r.env.newToken()
	sent := time.Now()
	fences := make([]int64, len(r.nodes))
	answers := r.askAll(func(i int, n *node) (err error) {
		fences[i], err = n.acquire(ctx, resource, token)
		return err
	})
	var granted int
	var fence int64
	for i, answer := range answers {
		if answer == nil {
			granted++
			fence = max(fence, fences[i]) // majorities meet in a node, and its fence is the greatest if it lost nothing
		}
	}
	until := r.until(sent)
	if granted >= r.quorum() && time.Now().Before(until) {
		return NewLease(resource, token, fence, until), nil, nil
	}
	undone := r.askAll(func(_ int, n *node) error { return n.release(ctx, resource, token) })
	return nil, r.leftover(answers, undone), r.refusal(answers, granted, sent)
}

// refusal says why an attempt failed.
func (r *redlock) refusal(answers []error, granted int, sent time.Time) error {
	if granted >= r.quorum() {
		return fmt.Errorf("%w: granted too late, after %v", ErrNotAcquired, time.Since(sent))
	}
	for _, answer := range answers {
		if answer != nil && answer != ErrNotAcquired { // more than a plain refusal
			return fmt.Errorf("%w: granted by %d of %d nodes; one of them: %w", ErrNotAcquired, granted, len(r.nodes), answer)
		}
	}
	return fmt.Errorf("%w: granted by %d of %d nodes", ErrNotAcquired, granted, len(r.nodes))
}

// leftover returns an error if a majority of nodes may have kept an attempt's keys although it was undone.
func (r *redlock) leftover(acquired, undone []error) error {
	var kept int
	var why error
	for i := range r.nodes {
		set := !errors.Is(acquired[i], ErrNotAcquired)
		gone := undone[i] == nil || errors.Is(undone[i], ErrNotHeld)
		if set && !gone {
			kept++
			why = undone[i]
		}
	}
	if kept < r.quorum() {
		return nil
	}
	return fmt.Errorf("outcome unknown: %d of %d nodes may keep a key of an attempt: %w", kept, len(r.nodes), why)
}

// Extend prolongs the lease on the nodes that have it. It counts if a majority did so in time; a key that a node has
// lost is not set again.
func (r *redlock) Extend(ctx context.Context, lease *Lease) error {
	return r.renew(context.WithoutCancel(ctx), lease)
}

func (r *redlock) renew(ctx context.Context, lease *Lease) error {
	sent := time.Now()
	err := r.majority(r.askAll(func(_ int, n *node) error { return n.extend(ctx, lease.Resource, lease.Token) }))
	until := r.until(sent)
	if err == nil && !time.Now().Before(until) {
		err = fmt.Errorf("answered too late, after %v", time.Since(sent))
	}
	if err != nil {
		return fmt.Errorf("extend %q: %w", lease.Resource, err)
	}
	lease.prolong(until)
	return nil
}

// Release deletes the lease on every node. It is sent also when ctx is done.
func (r *redlock) Release(ctx context.Context, lease *Lease) error {
	ctx = context.WithoutCancel(ctx)
	err := r.majority(r.askAll(func(_ int, n *node) error { return n.release(ctx, lease.Resource, lease.Token) }))
	if err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}

// Close closes the connections.
func (r *redlock) Close() error {
	var errs []error
	for _, n := range r.nodes {
		errs = append(errs, n.client.Close())
	}
	return errors.Join(errs...)
}
