package locks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// consensus is the client of a replicated lock service with sessions, in the manner of etcd, Consul or Chubby: the service
// agrees on who holds what and when a session is over; a session that is not kept alive ends after its TTL and frees
// its lock. Each Acquire has a session of its own, so that no identity comes back.
//
// As in etcd's fast path, the client does not look at its session again after the grant: if it was stopped while the
// reply was under way, the session may be over. The protocol is on service.
//
// Source: etcd's concurrency package, https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency; M. Burrows, The Chubby
// lock service for loosely-coupled distributed systems, OSDI 2006.
type consensus struct {
	env     Env
	service *service
	dog     *watchdog
}

func newConsensus(env Env) (Lock, error) {
	env, err := env.forRedis()
	if err != nil {
		return nil, err
	}
	return &consensus{env, newService(env), newWatchdog(env.TTL / 3)}, nil
}

// Acquire opens a session, keeps it alive, and asks for the lock with it until it is granted. A request without an answer
// is repeated, which is harmless within a session. When ctx is done the session is closed, and with it goes whatever it
// may hold; if that is not answered either, and some request for the lock was not, the outcome is unknown.
func (c *consensus) Acquire(ctx context.Context, resource string) (*Lease, error) {
	a := &candidate{consensus: c, resource: resource}
	lease, err := poll(ctx, resource, c.env.pollDelay, a.try)
	if err == nil {
		return lease, nil
	}
	a.withdraw(context.WithoutCancel(ctx))
	if a.leftover != nil {
		return nil, fmt.Errorf("acquire %q: outcome unknown: %w: %w", resource, a.leftover, context.Cause(ctx))
	}
	return nil, err
}

// candidate is one Acquire under way.
type candidate struct {
	*consensus
	resource string
	session  *Lease // not yet granted; nil if there is no session
	unsure   error  // a request for the lock with this session had no answer
	leftover error  // an earlier session may hold the lock, and could not be closed
}

// try asks for the lock once, in a session that is alive as far as the client knows.
func (a *candidate) try(ctx context.Context) (*Lease, error) {
	if a.session != nil && closed(a.session.Lost) {
		a.withdraw(ctx)
	}
	if a.session == nil {
		if err := a.open(ctx); err != nil {
			return nil, fmt.Errorf("%w: open a session: %w", ErrNotAcquired, err)
		}
	}
	revision, err := a.service.try(ctx, a.resource, a.session.Token)
	switch {
	case errors.Is(err, errNoSession):
		a.unsure = nil // what is over holds nothing
		a.withdraw(ctx)
		return nil, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	case errors.Is(err, errNotSent):
		return nil, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	case err != nil:
		a.unsure = err
		return nil, fmt.Errorf("%w yet: %w", ErrNotAcquired, err)
	case revision == 0:
		return nil, ErrNotAcquired
	}
	if a.env.Fencing {
		a.session.Fence = revision
	}
	return a.session, nil
}

// open starts a session and its renewals.
func (a *candidate) open(ctx context.Context) error {
	sent := time.Now()
	id, err := a.service.open(ctx, a.env.TTL)
	if err != nil {
		return err
	}
	a.session = NewLease(a.resource, strconv.FormatInt(id, 10), 0, sent.Add(a.env.TTL))
	a.dog.watch(a.session, a.keep)
	return nil
}

// withdraw ends the session, if there is one, and with it what it may hold.
func (a *candidate) withdraw(ctx context.Context) {
	if a.session == nil {
		return
	}
	a.dog.dismiss(a.session)
	if _, err := a.service.close(ctx, a.session.Token); err != nil && a.unsure != nil {
		a.leftover = fmt.Errorf("%w; close the session: %w", a.unsure, err)
	}
	a.session, a.unsure = nil, nil
}

// keep renews the session of a lease.
func (c *consensus) keep(ctx context.Context, lease *Lease) error {
	sent := time.Now()
	alive, err := c.service.keep(ctx, lease.Token)
	if err := heldIf(alive, err); err != nil {
		return fmt.Errorf("extend %q: %w", lease.Resource, err)
	}
	lease.prolong(sent.Add(c.env.TTL))
	return nil
}

// Extend renews the session once, beside the renewals in the background.
func (c *consensus) Extend(ctx context.Context, lease *Lease) error {
	return c.keep(context.WithoutCancel(ctx), lease)
}

// Release frees the lock and closes the session. It is sent also when ctx is done. If nobody answers whether the lock was
// freed, but the session was alive until it was closed, then closing it freed the lock.
func (c *consensus) Release(ctx context.Context, lease *Lease) error {
	ctx = context.WithoutCancel(ctx)
	c.dog.dismiss(lease)
	freed, err := c.service.free(ctx, lease.Resource, lease.Token)
	ended, _ := c.service.close(ctx, lease.Token)
	if err != nil && ended {
		return nil
	}
	if err := heldIf(freed, err); err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}

// Close stops the renewals, closes the connections, and waits for the renewals to end. Sessions run out by themselves.
func (c *consensus) Close() error {
	c.dog.dismissAll()
	err := c.service.disconnect()
	c.dog.wait()
	return err
}

// closed tells whether a channel that is only ever closed is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
