package locks

import "context"

// singleWatchdog is single with a watchdog that renews each lease every TTL/3 until it is released, and closes Lost when
// it learns that the lease is over. Work may then take longer than the TTL; a process that stands still, watchdog
// included, is helped by nothing.
//
// Source: the lock watchdog of Redisson, https://redisson.pro/docs/data-and-services/locks-and-synchronizers/, with the
// owner check of single.
type singleWatchdog struct {
	*single
	dog *watchdog
}

func newSingleWatchdog(env Env) (Lock, error) {
	s, err := makeSingle(env)
	if err != nil {
		return nil, err
	}
	return singleWatchdog{s, newWatchdog(env.TTL / 3)}, nil
}

// Acquire is that of single; the lease is renewed from then on.
func (s singleWatchdog) Acquire(ctx context.Context, resource string) (*Lease, error) {
	lease, err := s.single.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	s.dog.watch(lease, s.renew)
	return lease, nil
}

// Release stops the renewals first, so that none can run after the delete.
func (s singleWatchdog) Release(ctx context.Context, lease *Lease) error {
	s.dog.dismiss(lease)
	return s.single.Release(ctx, lease)
}

// Close stops the renewals, closes the connections, and waits for the watchdog to end.
func (s singleWatchdog) Close() error {
	s.dog.dismissAll()
	err := s.single.Close()
	s.dog.wait()
	return err
}
