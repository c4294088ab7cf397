package recorder

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// Lock is a lock whose calls are recorded. It implements locks.Lock; what it does and returns is what the lock does and
// returns.
type Lock struct {
	lock   locks.Lock
	r      *Recorder
	client string

	mu   sync.Mutex
	held map[*locks.Lease]*held
	dogs sync.WaitGroup
}

// held is a lease with what is recorded of it.
type held struct {
	acquire *Call
	over    chan struct{} // closed when it is released
}

// Wrap records what a client does with its lock. Clients of one recorder have different names.
func (r *Recorder) Wrap(lock locks.Lock, client string) *Lock {
	return &Lock{lock: lock, r: r, client: client, held: map[*locks.Lease]*held{}}
}

// Acquire implements locks.Lock.
func (l *Lock) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	call := l.r.Acquire(l.client, resource)
	lease, err := l.lock.Acquire(ctx, resource)
	if err != nil {
		call.Failed(err, errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, locks.ErrUnsupported))
		return lease, err
	}
	until := lease.Until()
	if lease.Lost != nil { // it may be renewed in the background, and its holder waits to be told
		until = time.Time{}
	}
	call.Granted(lease.Fence, until)
	h := &held{call, make(chan struct{})}
	l.mu.Lock()
	l.held[lease] = h
	l.mu.Unlock()
	if lost := lease.Lost; lost != nil {
		l.dogs.Go(func() {
			select {
			case <-lost:
				l.r.Lost(call)
			case <-h.over:
			}
		})
	}
	return lease, nil
}

// Extend implements locks.Lock.
func (l *Lock) Extend(ctx context.Context, lease *locks.Lease) error {
	l.mu.Lock()
	h := l.held[lease]
	l.mu.Unlock()
	if h == nil {
		return l.lock.Extend(ctx, lease)
	}
	call := l.r.Extend(h.acquire)
	err := l.lock.Extend(ctx, lease)
	if err != nil {
		call.Done(err)
	} else {
		call.Extended(lease.Until())
	}
	return err
}

// Release implements locks.Lock.
func (l *Lock) Release(ctx context.Context, lease *locks.Lease) error {
	h := l.take(lease)
	if h == nil {
		return l.lock.Release(ctx, lease)
	}
	close(h.over)
	call := l.r.Release(h.acquire)
	err := l.lock.Release(ctx, lease)
	call.Done(err)
	return err
}

func (l *Lock) take(lease *locks.Lease) *held {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[lease]
	delete(l.held, lease)
	return h
}

// Write begins a write, under a lease, to the data that the lock guards; data is its name, or empty for that of the lock.
// It returns nil, whose methods do nothing, for a lease that is not held by this lock.
func (l *Lock) Write(lease *locks.Lease, data string) *Call {
	l.mu.Lock()
	h := l.held[lease]
	l.mu.Unlock()
	if h == nil {
		return nil
	}
	return l.r.Write(h.acquire, data)
}

// Close implements locks.Lock. It does not close the recorder.
func (l *Lock) Close() error {
	err := l.lock.Close()
	l.mu.Lock()
	for lease, h := range l.held {
		close(h.over)
		delete(l.held, lease)
	}
	l.mu.Unlock()
	l.dogs.Wait()
	return err
}
