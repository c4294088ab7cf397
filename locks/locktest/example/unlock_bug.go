//go:build bug

package example

import "context"

// Unlock gives the lock back. Whose lock?
func (l *Lock) Unlock(ctx context.Context) error {
	deleted, err := l.client.Del(ctx, l.key).Result()
	if err == nil && deleted == 0 {
		return ErrExpired
	}
	return err
}
