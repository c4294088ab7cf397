package locks

import "context"

// redlockWatchdog is redlock with a watchdog that renews each lease on the nodes every TTL/3 until it is released, and
// closes Lost when a majority no longer has the lease or its Until passes.
//
// Source: "Making the algorithm more reliable: extending the lock" on the page of redlock; the extend of redsync and
// node-redlock.
type redlockWatchdog struct {
	*redlock
	dog *watchdog
}

func newRedlockWatchdog(env Env) (Lock, error) {
	r, err := makeRedlock(env)
	if err != nil {
		return nil, err
	}
	return redlockWatchdog{r, newWatchdog(env.TTL / 3)}, nil
}

// Acquire is that of redlock; the lease is renewed from then on.
func (r redlockWatchdog) Acquire(ctx context.Context, resource string) (*Lease, error) {
	lease, err := r.redlock.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	r.dog.watch(lease, r.renew)
	return lease, nil
}

// Release stops the renewals first, so that none can run after the delete.
func (r redlockWatchdog) Release(ctx context.Context, lease *Lease) error {
	r.dog.dismiss(lease)
	return r.redlock.Release(ctx, lease)
}

// Close stops the renewals, closes the connections, and waits for the watchdog to end.
func (r redlockWatchdog) Close() error {
	r.dog.dismissAll()
	err := r.redlock.Close()
	r.dog.wait()
	return err
}
