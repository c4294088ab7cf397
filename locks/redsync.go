package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// redsyncLock is github.com/go-redsync/redsync as it is, over go-redis: on one node, or as a Redlock on several. Its
// settings are the library's defaults but for three: the expiry, tries without end, since Acquire waits as long as its
// context, and tokens from Env.Rand, so that a run can be repeated.
type redsyncLock struct {
	env     Env
	clients []*redis.Client
	sync    *redsync.Redsync
	held    map[*Lease]*redsync.Mutex
}

func newRedsync(env Env) (Lock, error) {
	env, err := env.forLibrary("redsync")
	if err != nil {
		return nil, err
	}
	r := &redsyncLock{env: env, held: map[*Lease]*redsync.Mutex{}}
	for _, addr := range env.Nodes {
		r.clients = append(r.clients, env.Connect(addr, singleTimeout(env.TTL)))
	}
	pools := make([]redsyncpool.Pool, len(r.clients))
	for i, c := range r.clients {
		pools[i] = goredis.NewPool(c)
	}
	r.sync = redsync.New(pools...)
	return r, nil
}

// endless is a number of tries that nobody gets to.
const endless = 1 << 30

// Acquire waits as the library does, 50 to 250 ms between tries. Whatever it fails with is unknown: all tries have one
// token, the last one's error is all that is returned, and what an attempt left behind when the context ended is not
// taken back.
func (r *redsyncLock) Acquire(ctx context.Context, resource string) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("acquire %q: %w: %w", resource, ErrNotAcquired, context.Cause(ctx))
	}
	m := r.sync.NewMutex(Key(resource), redsync.WithExpiry(r.env.TTL), redsync.WithTries(endless),
		redsync.WithGenValueFunc(func() (string, error) { return r.env.newToken(), nil }))
	if err := m.LockContext(ctx); err != nil {
		return nil, fmt.Errorf("acquire %q: %w", resource, inOrder(err))
	}
	lease := NewLease(resource, m.Value(), 0, m.Until())
	r.held[lease] = m
	return lease, nil
}

// Extend prolongs the lease on a majority of the nodes.
func (r *redsyncLock) Extend(ctx context.Context, lease *Lease) error {
	m := r.mutex(lease)
	if done, err := m.ExtendContext(ctx); !done {
		return fmt.Errorf("extend %q: %w", lease.Resource, r.refusal(err))
	}
	lease.SetUntil(m.Until())
	return nil
}

// Release deletes the lease on the nodes.
func (r *redsyncLock) Release(ctx context.Context, lease *Lease) error {
	m := r.mutex(lease)
	if done, err := m.UnlockContext(ctx); !done {
		return fmt.Errorf("release %q: %w", lease.Resource, r.refusal(err))
	}
	delete(r.held, lease)
	return nil
}

// mutex is the library's handle for a lease. One that is not of this client is restored from its token, as the library's
// WithValue is for.
func (r *redsyncLock) mutex(lease *Lease) *redsync.Mutex {
	if m := r.held[lease]; m != nil {
		return m
	}
	return r.sync.NewMutex(Key(lease.Resource), redsync.WithExpiry(r.env.TTL), redsync.WithValue(lease.Token))
}

// refusal is err, with ErrNotHeld if so many nodes answered that they do not hold the lease that the others are no
// majority.
func (r *redsyncLock) refusal(err error) error {
	refused := 0
	for _, one := range parts(err) {
		var taken *redsync.ErrTaken
		var takenHere *redsync.ErrNodeTaken
		switch {
		case errors.As(one, &taken):
			refused += len(taken.Nodes)
		case errors.As(one, &takenHere), errors.Is(one, redsync.ErrLockAlreadyExpired):
			refused++
		}
	}
	switch quorum := len(r.clients)/2 + 1; {
	case len(r.clients)-refused < quorum:
		return fmt.Errorf("%w: %w", ErrNotHeld, inOrder(err))
	case err == nil:
		return errors.New("the library says neither that it was done nor why not")
	}
	return inOrder(err)
}

// inOrder is err with what the library joined, in the order in which nodes answered, in an order that is the same in
// each run.
func inOrder(err error) error {
	all := parts(err)
	slices.SortFunc(all, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(all...)
}

// parts are the errors that were joined, with errors.Join, into err.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, parts(one)...)
	}
	return all
}

// Close closes the connections.
func (r *redsyncLock) Close() error {
	var errs []error
	for _, c := range r.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
