package locks

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// rueidisLock is github.com/redis/rueidis/rueidislock as it is, with one key, as its README says for one Redis. The
// library renews the key every half TTL and gives its holder a context that ends with the lease: Lost.
//
// Client-side caching is off, as its README says for servers without it. Then nothing tells a holder that its key is
// gone before the next renewal, nor a waiting client that the lock is free: it asks every 20 ms.
type rueidisLock struct {
	locker rueidislock.Locker
	held   map[*Lease]context.CancelFunc
}

func newRueidislock(env Env) (Lock, error) {
	env, err := env.forLibrary("rueidislock")
	if err != nil {
		return nil, err
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyValidity: env.TTL,
		KeyMajority: 1,
		ClientOption: rueidis.ClientOption{
			InitAddress:       env.Nodes[:1],
			ForceSingleClient: true,
			DisableCache:      true,
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return env.dial(ctx, "tcp", addr)
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("rueidislock: %w", err)
	}
	return &rueidisLock{locker: locker, held: map[*Lease]context.CancelFunc{}}, nil
}

// Acquire waits as the library does, until ctx is done. The context that the library is given lives as long as the
// lease.
func (r *rueidisLock) Acquire(ctx context.Context, resource string) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, context.Cause(ctx))
	}
	life, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, giveUp)
	held, cancel, err := r.locker.WithContext(life, resource)
	if err == nil && !stop() { // ctx ended with the grant, and the lease with it
		cancel()
		err = context.Cause(ctx)
	}
	if err != nil {
		giveUp()
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	lease := NewLease(resource, "", 0, time.Time{})
	lease.Lost = held.Done()
	r.held[lease] = cancel
	return lease, nil
}

// Extend is not supported: the library extends by itself.
func (r *rueidisLock) Extend(_ context.Context, lease *Lease) error {
	return fmt.Errorf("extend %q: %w", lease.Resource, ErrUnsupported)
}

// Release ends the lease's context. The library then deletes the keys and does not say with what success: nil means that
// it has ended what it does for the lease.
func (r *rueidisLock) Release(_ context.Context, lease *Lease) error {
	cancel := r.held[lease]
	if cancel == nil {
		return fmt.Errorf("release %q: %w", lease.Resource, ErrNotHeld)
	}
	delete(r.held, lease)
	cancel()
	return nil
}

// Close closes the connection.
func (r *rueidisLock) Close() error {
	r.locker.Close()
	return nil
}
