package locks

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// processMutex is a mutex in the memory of one process: each Lock value stands for a process of its own. It shows what
// remains of a local lock when the service runs twice. Safe for concurrent use.
type processMutex struct {
	env Env

	mu   sync.Mutex
	held map[string]*claim
}

// claim is the state of one resource.
type claim struct {
	turn  chan struct{} // has room for one: full while held
	lease *Lease
}

func newProcessMutex(env Env) (Lock, error) {
	if env.Fencing {
		return nil, fmt.Errorf("process-mutex: fences: %w", ErrUnsupported)
	}
	return &processMutex{env: env, held: map[string]*claim{}}, nil
}

// Acquire waits for its turn in this process. The lease has no end.
func (p *processMutex) Acquire(ctx context.Context, resource string) (*Lease, error) {
	c := p.claim(resource)
	refused := func() error {
		return fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, context.Cause(ctx))
	}
	if ctx.Err() != nil { // a select would toss a coin between a free lock and a done context
		return nil, refused()
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, refused()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.lease = NewLease(resource, p.env.newToken(), 0, time.Time{})
	return c.lease, nil
}

// Extend is not supported: the lease has no end.
func (p *processMutex) Extend(context.Context, *Lease) error {
	return fmt.Errorf("extend: %w", ErrUnsupported)
}

// Release gives the turn to the next. It fails with ErrNotHeld if the lease was released before.
func (p *processMutex) Release(_ context.Context, lease *Lease) error {
	c := p.claim(lease.Resource)
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.lease != lease {
		return fmt.Errorf("release %q: %w", lease.Resource, ErrNotHeld)
	}
	c.lease = nil
	<-c.turn
	return nil
}

// Close does nothing.
func (p *processMutex) Close() error { return nil }

func (p *processMutex) claim(resource string) *claim {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.held[resource]
	if c == nil {
		c = &claim{turn: make(chan struct{}, 1)}
		p.held[resource] = c
	}
	return c
}
