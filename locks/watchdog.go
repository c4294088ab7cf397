package locks

import (
	"context"
	"errors"
	"sync"
	"time"
)

// watchdog renews leases in the background, one goroutine for each. It never draws from Env.Rand. Safe for concurrent
// use.
type watchdog struct {
	period time.Duration

	mu    sync.Mutex // guards stops only, never held while waiting
	stops map[*Lease]context.CancelFunc
	dogs  sync.WaitGroup
}

func newWatchdog(period time.Duration) *watchdog {
	return &watchdog{period: period, stops: map[*Lease]context.CancelFunc{}}
}

// watch calls renew every period until the lease is dismissed. renew prolongs the lease, or returns ErrNotHeld if the
// lease is over; any other error is no answer, and it is tried again. watch sets lease.Lost and closes it as soon as
// renew returns ErrNotHeld or the lease's Until passes.
func (w *watchdog) watch(lease *Lease, renew func(context.Context, *Lease) error) {
	lost := make(chan struct{})
	lease.Lost = lost
	ctx, stop := context.WithCancel(context.Background())
	w.mu.Lock()
	w.stops[lease] = stop
	w.mu.Unlock()
	w.dogs.Go(func() {
		defer w.dismiss(lease)
		if w.keep(ctx, lease, renew) {
			close(lost)
		}
	})
}

// keep renews the lease until it is over (true) or ctx is done (false).
func (w *watchdog) keep(ctx context.Context, lease *Lease, renew func(context.Context, *Lease) error) (over bool) {
	renewed := time.Now()
	for {
		sleep(ctx, min(w.period-time.Since(renewed), time.Until(lease.Until())))
		switch {
		case ctx.Err() != nil:
			return false
		case !time.Now().Before(lease.Until()):
			return true
		}
		renewed = time.Now()
		if errors.Is(w.renew(ctx, lease, renew), ErrNotHeld) {
			// After a release the answer says nothing: the release itself may have caused it.
			return ctx.Err() == nil
		}
	}
}

// renew tries once. An answer after the lease's Until would be of no use, so it is not waited for.
func (w *watchdog) renew(ctx context.Context, lease *Lease, renew func(context.Context, *Lease) error) error {
	ctx, cancel := context.WithDeadline(ctx, lease.Until())
	defer cancel()
	return renew(ctx, lease)
}

// dismiss ends the renewals of a lease. One that is under way may still arrive, which does no harm: it is owner-checked.
func (w *watchdog) dismiss(lease *Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.stops[lease]; stop != nil {
		stop()
		delete(w.stops, lease)
	}
}

// dismissAll ends all renewals.
func (w *watchdog) dismissAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for lease, stop := range w.stops {
		stop()
		delete(w.stops, lease)
	}
}

// wait returns when no renewal is under way any more. Call dismissAll first.
func (w *watchdog) wait() { w.dogs.Wait() }
