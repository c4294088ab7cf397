package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// singleGetDel is single with a release that checks and then acts: GET, compare in the client, DEL. The lease can pass to
// another client between the two. An attempt whose reply was lost is not undone.
//
// Source: the fault of redis-py #1031 (WATCH without MULTI).
type singleGetDel struct{ *single }

func newSingleGetDel(env Env) (Lock, error) {
	s, err := makeSingle(env)
	if err != nil {
		return nil, err
	}
	s.attempt = s.node.acquire
	return singleGetDel{s}, nil
}

// Release deletes the key if it had the caller's token a round trip ago.
func (s singleGetDel) Release(ctx context.Context, lease *Lease) error {
	ctx = context.WithoutCancel(ctx)
	err := s.owns(ctx, lease)
	if err == nil {
		err = s.node.delete(ctx, lease.Resource)
	}
	if err != nil {
		return fmt.Errorf("release %q: %w", lease.Resource, err)
	}
	return nil
}

func (s singleGetDel) owns(ctx context.Context, lease *Lease) error {
	ctx, cancel := context.WithTimeout(ctx, s.node.timeout)
	defer cancel()
	token, err := s.node.client.Get(ctx, Key(lease.Resource)).Result()
	if errors.Is(err, redis.Nil) {
		return ErrNotHeld
	}
	return heldIf(token == lease.Token, err)
}
