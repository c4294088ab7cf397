package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
	"github.com/lockfault/lockfault/sim"
)

// bench is what a law of the contract works with: clients with a lock each, in virtual time.
type bench struct {
	names   []string // A, B, C, ...
	locks   map[string]locks.Lock
	ttl     time.Duration
	fencing bool
	cluster runner.Cluster
	cut     nemesis.Heal
	servers locks.Servers
	dialled atomic.Bool // the lock has dialled by Env.Dial
}

// benchTTL is the life of a lease on a bench.
const benchTTL = 10 * time.Second

// nobody observes a bench.
type nobody struct{}

func (nobody) Event(history.Event)           {}
func (nobody) Answered(string, string, bool) {}

// onBench runs f with some clients. The error is f's, or says what the lock left behind.
func (s *settings) onBench(clients int, fencing bool, f func(*bench) error) error {
	b := &bench{ttl: benchTTL, fencing: fencing, locks: map[string]locks.Lock{}, servers: s.entry.Servers}
	for i := range clients {
		b.names = append(b.names, string(rune('A'+i)))
	}
	var err error
	left := sim.Testbed{Limit: s.limit}.Run(
		runner.Setup{Seed: s.seed, Servers: s.entry.Servers, Clients: b.names, Observer: nobody{}, TTL: b.ttl, Resource: "r"},
		func(c runner.Cluster) {
			b.cluster = c
			hands, wrong := b.makeLocks(s)
			if wrong == nil {
				wrong = b.guarded(func() error { return f(b) })
			}
			for _, h := range hands {
				wrong = errors.Join(wrong, h.Close())
			}
			err = wrong
		})
	if left != nil {
		return errors.Join(err, errLeft{left})
	}
	return err
}

// errLeft is an error that says what a lock has left behind.
type errLeft struct{ error }

// errNotDialled is what a lock is told that goes past its testbed.
var errNotDialled = errors.New("the lock did not dial by env.Dial, so that no fault could reach it, and a real server at such an address " +
	"might have been spoken to; make the client with env.Connect(env.Nodes[0], timeout), or give your own client env.Dial as its dialer, " +
	"such as redis.Options{Addr: env.Nodes[0], Dialer: env.Dial}")

// dials tries whether the lock can be made, dials by Env.Dial when it acquires, and mints no fence unasked.
func (s *settings) dials() error {
	return s.onBench(1, false, func(b *bench) error {
		lease, err := b.acquire("A", "r", b.ttl/10)
		if !b.dialled.Load() {
			return errors.Join(errNotDialled, err)
		}
		if err == nil && lease.Fence != 0 {
			return errUnasked{lease.Fence}
		}
		return nil
	})
}

// errUnasked is what a lock is told that mints a fence unasked. In the catalogue it would fail wherever there is a write.
type errUnasked struct{ fence int64 }

func (e errUnasked) Error() string {
	return fmt.Sprintf("the lock returned fence %d though env.Fencing is false: give NewLease 0 then", e.fence)
}

// makeLocks gives each client its lock, behind the client's gates as in a scenario.
func (b *bench) makeLocks(s *settings) (all []runner.Hands, err error) {
	for _, name := range b.names {
		entry := s.entry
		entry.New = func(env locks.Env) (locks.Lock, error) {
			dial := env.Dial
			env.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				b.dialled.Store(true)
				return dial(ctx, network, addr)
			}
			lock, err := s.entry.New(env)
			b.locks[name] = lock
			return lock, err
		}
		hands, err := b.cluster.Hands(runner.HandsConfig{
			Client: name, Resource: "r", Lock: entry, Seed: s.seed, Now: b.cluster.Now,
			Env: locks.Env{Client: name, TTL: b.ttl, Fencing: b.fencing, Rand: runner.Random(s.seed, name)},
		})
		if err != nil {
			return all, err
		}
		all = append(all, hands)
	}
	return all, nil
}

// guarded turns a panic into an error.
func (b *bench) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the lock panicked: %v", p)
		}
	}()
	return f()
}

func (b *bench) acquireWith(ctx context.Context, client, resource string) (lease *locks.Lease, err error) {
	err = b.guarded(func() (err error) {
		lease, err = b.locks[client].Acquire(ctx, resource)
		if err == nil && lease == nil {
			err = errors.New("the lock's Acquire returned neither a lease nor an error")
		}
		return err
	})
	return lease, err
}

// acquire waits for the lock for at most the given time.
func (b *bench) acquire(client, resource string, wait time.Duration) (*locks.Lease, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return b.acquireWith(ctx, client, resource)
}

// acquireAtOnce is acquire of a lock that is free.
func (b *bench) acquireAtOnce(client, resource string) (*locks.Lease, error) {
	lease, err := b.acquire(client, resource, b.ttl/10)
	if err != nil {
		return nil, fmt.Errorf("%s cannot have the free lock on %q within %v: %w", client, resource, b.ttl/10, err)
	}
	return lease, nil
}

// connect has a client acquire and release, so that its next request need not dial.
func (b *bench) connect(client, resource string) error {
	lease, err := b.acquireAtOnce(client, resource)
	if err != nil {
		return err
	}
	if err := b.release(client, lease); err != nil {
		return brokenf("%s's release: %w", client, err)
	}
	return nil
}

func (b *bench) extend(client string, lease *locks.Lease) error {
	return b.guarded(func() error { return b.locks[client].Extend(context.Background(), lease) })
}

func (b *bench) release(client string, lease *locks.Lease) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.ttl/2)
	defer cancel()
	return b.guarded(func() error { return b.locks[client].Release(ctx, lease) })
}

// kill ends a client's process.
func (b *bench) kill(client string) {
	if heal, err := b.cluster.Kill(client); err == nil {
		_, _ = heal()
	}
}

// cutOff holds what a client and the lock servers send each other, until heal.
func (b *bench) cutOff(client string) {
	b.disturb(client, nemesis.Disturbance{Cut: true, Direction: nemesis.Both})
}

// disturb does something to what a client and the lock servers send each other, until heal.
func (b *bench) disturb(client string, how nemesis.Disturbance) {
	var links []nemesis.Link
	for _, node := range b.servers.Names() {
		links = append(links, nemesis.Link{From: client, To: node})
	}
	b.cut, _ = b.cluster.Disturb(links, how)
}

func (b *bench) heal() {
	if b.cut != nil {
		_, _ = b.cut()
		time.Sleep(b.ttl / 100) // what was held arrives
	}
}

func (b *bench) now() string { return milliseconds.Of(b.cluster.Now()) }
