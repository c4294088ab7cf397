package locks

import (
	"context"
	"fmt"
)

// singleDel is single with two steps left out: its release is a plain DEL, which also hits a successor's lease, and an
// attempt whose reply was lost is not undone.
//
// Source: the counter-example of the Redis documentation's page on distributed locks; laravel #20709.
type singleDel struct{ *single }

func newSingleDel(env Env) (Lock, error) {
	s, err := makeSingle(env)
	if err != nil {
		return nil, err
	}
	s.attempt = s.node.acquire
	return singleDel{s}, nil
}

// Release deletes whatever lease there is. It returns nil also when that was another client's.
func (s singleDel) Release(ctx context.Context, lease *Lease) error {
	if err := s.node.delete(context.WithoutCancel(ctx), lease.Resource); err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}
