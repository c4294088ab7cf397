package locks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// poll calls try until it grants the lock, its outcome is unknown, or ctx is done. An error of try that wraps
// ErrNotAcquired means that the lock was certainly not granted and that it may be tried again after pause.
//
// try runs detached from ctx, with its values only: a request that was sent is seen through, within its own timeout,
// because an abandoned one has an unknown outcome. So poll may return that much later than ctx is done.
func poll(ctx context.Context, resource string, pause func() time.Duration, try func(context.Context) (*Lease, error)) (*Lease, error) {
	last := ErrNotAcquired
	for {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("acquire %q: %w: %w", resource, last, context.Cause(ctx))
		}
		lease, err := try(context.WithoutCancel(ctx))
		if err == nil {
			return lease, nil
		}
		if !errors.Is(err, ErrNotAcquired) {
			return nil, fmt.Errorf("acquire %q: outcome unknown: %w", resource, err)
		}
		last = err
		sleep(ctx, pause())
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pollDelay is the pause between two attempts at a lock that someone else holds: TTL/200 within 20 to 100 ms, and up to
// half as much again, so that waiting clients do not march in step. It draws from Env.Rand: call it from the caller's
// goroutine only.
func (e Env) pollDelay() time.Duration {
	base := min(max(e.TTL/200, 20*time.Millisecond), 100*time.Millisecond)
	return base + time.Duration(e.Rand.Int64N(int64(base/2)))
}

// Poll is how the locks here wait: it calls try, which asks for the lock once, until the lock is granted, the outcome is
// unknown, or ctx is done, with pauses of TTL/200 (within 20 to 100 ms) and up to half as much again. An error of try that
// wraps ErrNotAcquired means that it may be asked again; any other ends the waiting. One goroutine at a time may call it.
func (e Env) Poll(ctx context.Context, resource string, try func(context.Context) (*Lease, error)) (*Lease, error) {
	return poll(ctx, resource, e.pollDelay, try)
}
