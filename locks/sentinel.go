package locks

import (
	"context"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"
)

// SentinelName is what the Sentinels of Env.Sentinels call the primary.
const SentinelName = "locks"

// follow returns a client of whichever server the Sentinels say leads: go-redis's failover client, with the settings of
// Connect.
func (e Env) follow(o *redis.UniversalOptions) *redis.Client {
	o.Addrs, o.MasterName = e.Sentinels, SentinelName
	client := redis.NewFailoverClient(o.Failover())
	client.AddHook(notSent{})
	return client
}

// notSent marks every failure to connect: also that to learn from a Sentinel where to.
type notSent struct{}

func (notSent) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotSent, err)
		}
		return conn, nil
	}
}

func (notSent) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (notSent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
