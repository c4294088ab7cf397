package example

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/locktest"
)

func TestLock(t *testing.T) {
	locktest.Run(t, func(env locktest.Env) (locks.Lock, error) {
		client := env.Connect(env.Nodes[0], time.Second)
		return &adapter{New(client, env.TTL), client.Close, map[*locks.Lease]*Lock{}}, nil
	})
}

// adapter is the lock as lockfault speaks to it.
type adapter struct {
	locker *Locker
	close  func() error
	held   map[*locks.Lease]*Lock
}

func (a *adapter) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	lock, err := a.locker.Lock(ctx, resource)
	if err != nil {
		return nil, err // whether it was granted is unknown; locks.ErrNotAcquired would say that it was not
	}
	lease := locks.NewLease(resource, lock.token, 0, lock.Expires)
	a.held[lease] = lock
	return lease, nil
}

func (a *adapter) Release(ctx context.Context, lease *locks.Lease) error {
	lock := a.held[lease]
	if lock == nil { // the contract also tries a token that is nobody's
		lock = &Lock{client: a.locker.client, key: "lock:" + lease.Resource, token: lease.Token}
	}
	err := lock.Unlock(ctx)
	if errors.Is(err, ErrExpired) {
		return fmt.Errorf("%w: %w", locks.ErrNotHeld, err)
	}
	return err
}

func (a *adapter) Extend(context.Context, *locks.Lease) error { return locks.ErrUnsupported }

func (a *adapter) Close() error { return a.close() }
