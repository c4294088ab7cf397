package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// redislockLock is github.com/bsm/redislock as it is, over go-redis, with its linear back-off and tokens from Env.Rand.
// The library does not say how long a lease lasts without asking the server; as its users do, this counts a TTL from the
// last request.
type redislockLock struct {
	env    Env
	client *stampedClient
	locker *redislock.Client
	held   map[*Lease]*redislock.Lock
}

// stampedClient remembers when the last script was sent.
type stampedClient struct {
	*redis.Client
	sent time.Time
}

func (c *stampedClient) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	c.sent = time.Now()
	return c.Client.EvalSha(ctx, sha, keys, args...)
}

func (c *stampedClient) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	c.sent = time.Now()
	return c.Client.Eval(ctx, script, keys, args...)
}

// redislockBackoff is the library's recommended kind of retry, with the delay of its README's example.
const redislockBackoff = 100 * time.Millisecond

func newRedislock(env Env) (Lock, error) {
	env, err := env.forLibrary("redislock")
	if err != nil {
		return nil, err
	}
	client := &stampedClient{Client: env.Connect(env.Nodes[0], singleTimeout(env.TTL))}
	return &redislockLock{env: env, client: client, locker: redislock.New(client), held: map[*Lease]*redislock.Lock{}}, nil
}

// Acquire waits as the library does. The library gives up at the first error of the connection; unless the server was
// not reached at all, the outcome is unknown then.
func (r *redislockLock) Acquire(ctx context.Context, resource string) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, context.Cause(ctx))
	}
	lock, err := r.locker.Obtain(ctx, Key(resource), r.env.TTL, &redislock.Options{
		RetryStrategy: redislock.LinearBackoff(redislockBackoff),
		Token:         r.env.newToken(),
	})
	switch {
	case errors.Is(err, redislock.ErrNotObtained), errors.Is(err, errNotSent):
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, err)
	case err != nil:
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	lease := NewLease(resource, lock.Token(), 0, r.client.sent.Add(r.env.TTL))
	r.held[lease] = lock
	return lease, nil
}

// Extend prolongs the lease to a TTL from now.
func (r *redislockLock) Extend(ctx context.Context, lease *Lease) error {
	lock := r.held[lease]
	if lock == nil {
		return fmt.Errorf("extend %q: %w", lease.Resource, ErrNotHeld)
	}
	switch err := lock.Refresh(ctx, r.env.TTL, nil); {
	case errors.Is(err, redislock.ErrNotObtained):
		return fmt.Errorf("extend %q: %w: %w", lease.Resource, ErrNotHeld, err)
	case err != nil:
		return fmt.Errorf("extend %q: %w", lease.Resource, err)
	}
	lease.SetUntil(r.client.sent.Add(r.env.TTL))
	return nil
}

// Release deletes the caller's own lease.
func (r *redislockLock) Release(ctx context.Context, lease *Lease) error {
	switch err := r.held[lease].Release(ctx); {
	case errors.Is(err, redislock.ErrLockNotHeld):
		return fmt.Errorf("release %q: %w: %w", lease.Resource, ErrNotHeld, err)
	case err != nil:
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	delete(r.held, lease)
	return nil
}

// Close closes the connections.
func (r *redislockLock) Close() error { return r.client.Close() }
