package locks

import (
	"context"
	"fmt"
	"time"
)

// single is the lock that the Redis documentation gives for one instance: SET key token NX PX ttl to acquire, and a
// script that compares the token and deletes to release. An attempt whose reply was lost is undone before the next.
//
// As usual for one instance, nobody looks at the clock after the reply: a client that was stopped while the reply was
// under way returns a lease that may be over. Its Until says so, to a caller that compares.
//
// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/, "Correct implementation with a
// single instance".
type single struct {
	env     Env
	node    *node
	attempt func(ctx context.Context, resource, token string) (fence int64, err error)
}

func newSingle(env Env) (Lock, error) { return makeSingle(env) }

// makeSingle returns the concrete type, for locks that differ from single in a step.
func makeSingle(env Env) (*single, error) {
	env, err := env.forRedis()
	if err != nil {
		return nil, err
	}
	n := newNode(env, env.Nodes[0], singleTimeout(env.TTL))
	return &single{env: env, node: n, attempt: n.acquireOrUndo}, nil
}

// Acquire polls, see Env.pollDelay. If a reply is lost and the attempt cannot be undone either, the outcome is unknown.
func (s *single) Acquire(ctx context.Context, resource string) (*Lease, error) {
	return poll(ctx, resource, s.env.pollDelay, func(ctx context.Context) (*Lease, error) {
		token := s.env.newToken()
		sent := time.Now() // the TTL runs from the request, not from the reply
		fence, err := s.attempt(ctx, resource, token)
		if err != nil {
			return nil, err
		}
		return NewLease(resource, token, fence, sent.Add(s.env.TTL)), nil
	})
}

// Extend prolongs the caller's own lease only. Like Acquire it does not look at the clock after the reply.
func (s *single) Extend(ctx context.Context, lease *Lease) error {
	return s.renew(context.WithoutCancel(ctx), lease)
}

func (s *single) renew(ctx context.Context, lease *Lease) error {
	sent := time.Now()
	if err := s.node.extend(ctx, lease.Resource, lease.Token); err != nil {
		return fmt.Errorf("extend %q: %w", lease.Resource, err)
	}
	lease.prolong(sent.Add(s.env.TTL))
	return nil
}

// Release deletes the caller's own lease only. It is sent also when ctx is done.
func (s *single) Release(ctx context.Context, lease *Lease) error {
	if err := s.node.release(context.WithoutCancel(ctx), lease.Resource, lease.Token); err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}

// Close closes the connections.
func (s *single) Close() error { return s.node.client.Close() }
