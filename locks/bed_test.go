package locks

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

const ttl = 10 * time.Second

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	os.Exit(m.Run())
}

// bed is what a test runs locks on, in a bubble.
type bed struct {
	t       *testing.T
	entry   Entry
	fencing bool
	nodes   []*miniredis.Miniredis
	service *fakeService
	serve   []func(net.Conn)
}

// inBed runs f in a bubble with the servers of a lock. The bubble fails the test if anything is left running.
func inBed(t *testing.T, name string, fencing bool, f func(*bed)) {
	t.Helper()
	entry, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := &bed{t: t, entry: entry, fencing: fencing}
		switch entry.Servers {
		case OneNode, PrimaryAndReplica:
			b.redis(1)
		case FiveNodes:
			b.redis(5)
		case ConsensusService:
			b.service = newFakeService(3)
			for _, m := range b.service.members {
				t.Cleanup(m.Close)
				b.serve = append(b.serve, m.ServeConn)
			}
		}
		f(b)
	})
}

func (b *bed) redis(n int) {
	for range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		c, err := m.Dial() // starts the server without a listener
		if err != nil {
			b.t.Fatal(err)
		}
		c.Close()
		b.t.Cleanup(m.Close)
		b.nodes = append(b.nodes, m)
		b.serve = append(b.serve, m.Server().ServeConn)
	}
}

// client makes a lock of its own and the links to its servers. It is closed at the end of the test.
func (b *bed) client(name string) (Lock, []*link) {
	b.t.Helper()
	var links []*link
	var addrs []string
	for i, serve := range b.serve {
		l := &link{serve: serve}
		l.latency.Store(int64(time.Millisecond))
		links = append(links, l)
		addrs = append(addrs, fmt.Sprintf("127.0.0.1:%d", 7001+i))
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	lock, err := b.entry.New(Env{
		Client: name, Nodes: addrs, TTL: ttl, Fencing: b.fencing, Rand: rand.New(rand.NewPCG(1, h.Sum64())),
		Dial: func(ctx context.Context, _, addr string) (net.Conn, error) {
			for i, a := range addrs {
				if a == addr {
					return links[i].dial(ctx)
				}
			}
			return nil, fmt.Errorf("no server at %s", addr)
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { lock.Close() })
	return lock, links
}

// acquire must succeed within a second.
func (b *bed) acquire(l Lock, resource string) *Lease {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
	defer cancel()
	lease, err := l.Acquire(ctx, resource)
	if err != nil {
		b.t.Fatalf("acquire: %v", err)
	}
	return lease
}

// tryFor tries to acquire for a while.
func (b *bed) tryFor(d time.Duration, l Lock, resource string) (*Lease, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), d)
	defer cancel()
	return l.Acquire(ctx, resource)
}

func (b *bed) release(l Lock, lease *Lease) {
	b.t.Helper()
	if err := l.Release(b.t.Context(), lease); err != nil {
		b.t.Errorf("release: %v", err)
	}
}

// acquireLater acquires after a while, in the background. It sends nil if that failed.
func (b *bed) acquireLater(after time.Duration, l Lock, resource string) <-chan *Lease {
	granted := make(chan *Lease, 1)
	time.AfterFunc(after, func() {
		lease, err := b.tryFor(time.Second, l, resource)
		if err != nil {
			b.t.Errorf("acquire after %v: %v", after, err)
		}
		granted <- lease
	})
	return granted
}

// keys counts the nodes that hold a lock on the resource.
func (b *bed) keys(resource string) (n int) {
	for _, m := range b.nodes {
		if m.Exists(Key(resource)) {
			n++
		}
	}
	return n
}

// stop keeps a client from reading for d.
func stop(links []*link, d time.Duration) {
	until := time.Now().Add(d)
	for _, l := range links {
		l.stoppedUntil.Store(&until)
	}
}
