package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// node is one Redis that holds leases. Its methods follow the rule of Lock: nil, it happened; ErrNotAcquired or
// ErrNotHeld, it certainly did not; any other error, unknown. Each sends one command and takes at most timeout. Safe for
// concurrent use.
type node struct {
	client  *redis.Client
	ttl     time.Duration
	timeout time.Duration
	fencing bool
}

func newNode(env Env, addr string, timeout time.Duration) *node {
	return &node{client: env.Connect(addr, timeout), ttl: env.TTL, timeout: timeout, fencing: env.Fencing}
}

// singleTimeout bounds one command to the only node: TTL/4, so that a renewal that failed at TTL/3 can be tried again
// before the lease ends, but at least 50 ms.
func singleTimeout(ttl time.Duration) time.Duration {
	return max(ttl/4, 50*time.Millisecond)
}

// acquire asks for the lock once and returns the fence minted with the grant, 0 without fencing.
func (n *node) acquire(ctx context.Context, resource, token string) (fence int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	var granted bool
	if n.fencing {
		keys := []string{Key(resource), FenceKey(resource)}
		fence, err = n.client.Eval(ctx, grantScript, keys, token, n.ttl.Milliseconds()).Int64()
		granted = fence > 0
	} else {
		granted, err = n.client.SetNX(ctx, Key(resource), token, n.ttl).Result()
	}
	switch {
	case errors.Is(err, errNotSent):
		return 0, fmt.Errorf("%w: %w", ErrNotAcquired, err)
	case err != nil:
		return 0, err
	case !granted:
		return 0, ErrNotAcquired
	}
	return fence, nil
}

// acquireOrUndo is acquire which, when the outcome is unknown, makes it certain by deleting what it may have set. If
// that is answered, the lock is not held and the error wraps ErrNotAcquired. A request that the network still holds may
// arrive after the delete: its key then belongs to no one and lives for the TTL.
func (n *node) acquireOrUndo(ctx context.Context, resource, token string) (fence int64, err error) {
	fence, err = n.acquire(ctx, resource, token)
	if err == nil || errors.Is(err, ErrNotAcquired) {
		return fence, err
	}
	if undo := n.release(ctx, resource, token); undo != nil && !errors.Is(undo, ErrNotHeld) {
		return 0, fmt.Errorf("%w; undo it: %w", err, undo)
	}
	return 0, fmt.Errorf("%w: undone after %w", ErrNotAcquired, err)
}

// extend prolongs the key to a TTL from now, if the key has the token.
func (n *node) extend(ctx context.Context, resource, token string) error {
	return n.owned(ctx, extendScript, resource, token, n.ttl.Milliseconds())
}

// release deletes the key, if it has the token.
func (n *node) release(ctx context.Context, resource, token string) error {
	return n.owned(ctx, releaseScript, resource, token)
}

// owned runs a script that answers 1, or 0 if the key does not have the token in args[0].
func (n *node) owned(ctx context.Context, script, resource string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	done, err := n.client.Eval(ctx, script, []string{Key(resource)}, args...).Int64()
	return heldIf(done == 1, err)
}

// delete deletes the key, whoever holds it.
func (n *node) delete(ctx context.Context, resource string) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	deleted, err := n.client.Del(ctx, Key(resource)).Result()
	return heldIf(deleted == 1, err)
}

// heldIf turns a server's answer to "was it held?" into an error: its own if there was no answer.
func heldIf(held bool, err error) error {
	if err == nil && !held {
		return ErrNotHeld
	}
	return err
}
