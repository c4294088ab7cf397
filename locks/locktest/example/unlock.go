//go:build !bug

package example

import (
	"context"

	"github.com/redis/go-redis/v9"
)

var unlock = redis.NewScript(`
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
end
return 0`)

// Unlock gives the lock back, if it is still ours.
func (l *Lock) Unlock(ctx context.Context) error {
	deleted, err := unlock.Run(ctx, l.client, []string{l.key}, l.token).Int()
	if err == nil && deleted == 0 {
		return ErrExpired
	}
	return err
}
