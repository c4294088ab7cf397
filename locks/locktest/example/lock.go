// Package example is a lock as a team may have it in its own code, and its test. lock_test.go has all that is needed to
// put it under locktest. The lock is right; with `go test -tags bug` it has a bug that reviews let pass, and the test says
// what comes of it.
package example

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrExpired is returned by Unlock if the lock had run out.
var ErrExpired = errors.New("the lock had expired")

// Locker hands out locks that live for a TTL.
type Locker struct {
	client *redis.Client
	ttl    time.Duration
}

// New makes a Locker.
func New(client *redis.Client, ttl time.Duration) *Locker { return &Locker{client, ttl} }

// Lock is a lock that is held.
type Lock struct {
	client     *redis.Client
	key, token string
	Expires    time.Time
}

// Lock waits for the lock until ctx is done.
func (l *Locker) Lock(ctx context.Context, name string) (*Lock, error) {
	lock := &Lock{client: l.client, key: "lock:" + name, token: rand.Text()}
	for {
		asked := time.Now() // the TTL runs from the request, not from the reply
		granted, err := l.client.SetNX(ctx, lock.key, lock.token, l.ttl).Result()
		if err != nil {
			return nil, err
		}
		if granted {
			lock.Expires = asked.Add(l.ttl)
			return lock, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
