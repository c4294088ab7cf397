package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// setnxValue is what every holder of a setnx-expire lock writes: nobody can tell whose it is.
const setnxValue = "locked"

// setnxExpire is the lock of many first attempts: SETNX, then EXPIRE as a second command, a constant value, a plain DEL.
// Every step after the first can be missed or hit someone else's lease, and nothing is undone when a reply is lost.
//
// Source: the SETNX page of the Redis documentation, and the faults filed as redis-py #554 and #902.
type setnxExpire struct {
	env  Env
	node *node
}

func newSetnxExpire(env Env) (Lock, error) {
	env, err := env.forRedis()
	if err != nil {
		return nil, err
	}
	n := newNode(env, env.Nodes[0], singleTimeout(env.TTL))
	n.ttl, n.fencing = 0, false // its SET NX has neither expiry nor script: that is SETNX
	return &setnxExpire{env, n}, nil
}

// Acquire polls until SETNX succeeds. If a later command fails, the key stays without an expiry; the error then says
// unknown, as after any lost reply.
func (s *setnxExpire) Acquire(ctx context.Context, resource string) (*Lease, error) {
	return poll(ctx, resource, s.env.pollDelay, func(ctx context.Context) (*Lease, error) { return s.try(ctx, resource) })
}

func (s *setnxExpire) try(ctx context.Context, resource string) (*Lease, error) {
	if _, err := s.node.acquire(ctx, resource, setnxValue); err != nil {
		return nil, err
	}
	sent := time.Now()
	// Whether the key was still there is not looked at: the code this stands for does not either.
	if err := s.expire(ctx, resource); err != nil && !errors.Is(err, ErrNotHeld) {
		return nil, fmt.Errorf("expire: %w", err)
	}
	var fence int64
	if s.env.Fencing {
		var err error
		if fence, err = s.mint(ctx, resource); err != nil {
			return nil, fmt.Errorf("mint a fence: %w", err)
		}
	}
	return NewLease(resource, setnxValue, fence, sent.Add(s.env.TTL)), nil
}

func (s *setnxExpire) expire(ctx context.Context, resource string) error {
	ctx, cancel := context.WithTimeout(ctx, s.node.timeout)
	defer cancel()
	there, err := s.node.client.PExpire(ctx, Key(resource), s.env.TTL).Result()
	return heldIf(there, err)
}

// mint counts the fence up after the grant. A holder that is late here gets a greater fence than its successor.
func (s *setnxExpire) mint(ctx context.Context, resource string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.node.timeout)
	defer cancel()
	return s.node.client.Incr(ctx, FenceKey(resource)).Result()
}

// Extend prolongs whatever lease there is, also another client's.
func (s *setnxExpire) Extend(ctx context.Context, lease *Lease) error {
	sent := time.Now()
	if err := s.expire(context.WithoutCancel(ctx), lease.Resource); err != nil {
		return fmt.Errorf("extend %q: %w", lease.Resource, err)
	}
	lease.prolong(sent.Add(s.env.TTL))
	return nil
}

// Release deletes whatever lease there is, also another client's.
func (s *setnxExpire) Release(ctx context.Context, lease *Lease) error {
	if err := s.node.delete(context.WithoutCancel(ctx), lease.Resource); err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}

// Close closes the connections.
func (s *setnxExpire) Close() error { return s.node.client.Close() }
