package locks

import (
	"context"
	"fmt"
	"time"
)

// none is no lock at all: every Acquire is granted at once and never ends. It is the control of an experiment: a workload
// that shows no violation with it cannot show one with any lock.
type none struct{ env Env }

func newNone(env Env) (Lock, error) {
	if env.Fencing {
		return nil, fmt.Errorf("none: fences: %w", ErrUnsupported)
	}
	return none{env}, nil
}

// Acquire grants, unless ctx is done already.
func (n none) Acquire(ctx context.Context, resource string) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, context.Cause(ctx))
	}
	return NewLease(resource, n.env.newToken(), 0, time.Time{}), nil
}

// Extend is not supported: the lease has no end.
func (n none) Extend(context.Context, *Lease) error { return fmt.Errorf("extend: %w", ErrUnsupported) }

// Release always succeeds.
func (n none) Release(context.Context, *Lease) error { return nil }

// Close does nothing.
func (n none) Close() error { return nil }
