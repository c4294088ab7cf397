package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// errNotSent marks a failure to reach a server at all: the command certainly did not run there.
var errNotSent = errors.New("not sent")

// Connect returns a go-redis client for a node. A command is sent once, never again by itself: whether a lost reply is
// retried is the lock's decision. Reading and writing time out after timeout, or at the deadline of the context if that
// is sooner; so a context bounds a whole command, with dialling and greeting. Where there are Sentinels, they say which node
// it is, and addr does not matter.
func (e Env) Connect(addr string, timeout time.Duration) *redis.Client {
	o := e.options(addr, timeout)
	if len(e.Sentinels) > 0 {
		return e.follow(o)
	}
	node := o.Simple()
	node.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(node)
}

// options are the settings that a client of a node and one that follows Sentinels share.
func (e Env) options(addr string, timeout time.Duration) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs:                 []string{addr},
		Dialer:                e.dial,
		ContextTimeoutEnabled: true,
		MaxRetries:            -1,
		DialerRetries:         1,
		// Half, so that a dial is seen to fail before the command times out: then the command certainly was not sent.
		DialTimeout:  timeout / 2,
		ReadTimeout:  timeout,
		WriteTimeout: timeout,
		PoolTimeout:  timeout,
		// go-redis stops dialling for a while after this many failures. Its default depends on the machine's cores, and
		// so would a run.
		PoolSize:         64,
		PipelinePoolSize: -1,
		// Nothing here needs what RESP3 adds, and without it a connection is ready after one round trip.
		Protocol:        2,
		DisableIdentity: true,
	}
}

func (e Env) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := e.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	return conn, nil
}

// forRedis checks that the environment has what a lock on Redis needs. Expiry in Redis counts whole milliseconds: the
// TTL is cut down to them, so that no lease outlives its key.
func (e Env) forRedis() (Env, error) {
	e.TTL = e.TTL.Truncate(time.Millisecond)
	switch {
	case e.TTL <= 0:
		return e, errors.New("the TTL must be at least one millisecond")
	case len(e.Nodes) == 0:
		return e, errors.New("no lock server given")
	case e.Rand == nil:
		return e, errors.New("no source of randomness given")
	}
	return e, nil
}
