package locks

import (
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// TestRedsyncWaitsForANodeThatIsSilent as long as go-redis does, unless go-redis is told to keep to contexts: the
// library's time-out for a node is one. results/libraries.md has these figures.
func TestRedsyncWaitsForANodeThatIsSilent(t *testing.T) {
	for _, law := range []struct {
		contexts bool
		takes    time.Duration
	}{
		{contexts: false, takes: 5 * time.Second},
		{contexts: true, takes: 500 * time.Millisecond}, // 5 % of the expiry
	} {
		inBed(t, "redsync-5", false, func(b *bed) {
			lock, links := b.client("A")
			r := lock.(*redsyncLock)
			var clients []*redis.Client
			for _, addr := range r.env.Nodes {
				c := redis.NewClient(&redis.Options{Addr: addr, Dialer: r.env.Dial, ContextTimeoutEnabled: law.contexts})
				b.t.Cleanup(func() { c.Close() })
				clients = append(clients, c)
			}
			m := redsync.New(goredis.NewPool(clients[0]), goredis.NewPool(clients[1]), goredis.NewPool(clients[2]),
				goredis.NewPool(clients[3]), goredis.NewPool(clients[4])).NewMutex("r", redsync.WithExpiry(ttl))
			if err := m.Lock(); err != nil {
				b.t.Fatal(err)
			}
			if _, err := m.Unlock(); err != nil {
				b.t.Fatal(err)
			}
			links[0].loseReplies.Store(true)
			start := time.Now()
			if err := m.Lock(); err != nil {
				b.t.Fatal(err)
			}
			if took := time.Since(start).Round(100 * time.Millisecond); took != law.takes {
				b.t.Errorf("contexts %v: took %v, want %v", law.contexts, took, law.takes)
			}
			if left := m.Until().Sub(start); left != ttl-ttl/100 {
				b.t.Errorf("the lease ends %v after the request", left)
			}
		})
	}
}
