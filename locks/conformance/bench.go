package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
)

// bench is what one check works with: servers in this process, and clients, each with a program of its own.
type bench struct {
	ctx         context.Context
	command     string
	description program.Description
	nodes       []*miniredis.Miniredis
	clients     []*client
	groups      []*program.Group
}

func newBench(ctx context.Context, command string, d program.Description) (*bench, error) {
	b := &bench{ctx: ctx, command: command, description: d}
	for range d.Kind().Names() {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		if err := m.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("start a server: %w", err), b.close())
		}
		b.nodes = append(b.nodes, m)
	}
	return b, nil
}

// close ends everything. What the programs did beside the check is its error.
func (b *bench) close() error {
	var errs []error
	for _, c := range b.clients {
		errs = append(errs, c.Lock.Close())
		c.net.heal() // lets go who waits
	}
	for _, g := range b.groups {
		g.End() // after the programs in it, which would be said to have died
	}
	for _, m := range b.nodes {
		m.Close()
	}
	return errors.Join(errs...)
}

// flush takes every lease away, as a server that loses its data does.
func (b *bench) flush() {
	for _, m := range b.nodes {
		m.FlushAll()
	}
}

// keepAll has nothing expire from now on: what is set stays until a command takes it away.
func (b *bench) keepAll() {
	for _, m := range b.nodes {
		m.ClockTTL(false)
	}
}

// client is a lock in a program of its own.
type client struct {
	locks.Lock
	name    string
	program *program.Program
	net     *network
}

// join starts a client.
func (b *bench) join(name string) (*client, error) { return b.joinFenced(name, false) }

func (b *bench) joinFenced(name string, fencing bool) (*client, error) {
	p, err := program.StartAlone(b.command)
	if err != nil {
		return nil, err
	}
	return b.joinAs(name, p, fencing)
}

// joinAs makes a client of a program.
func (b *bench) joinAs(name string, p *program.Program, fencing bool) (*client, error) {
	var err error
	c := &client{name: name, program: p, net: newNetwork()}
	env := locks.Env{Client: name, TTL: TTL, Fencing: fencing, Rand: rand.New(rand.NewPCG(1, uint64(len(b.clients)))), Dial: c.net.dial}
	for _, m := range b.nodes {
		env.Nodes = append(env.Nodes, m.Addr())
	}
	if c.Lock, err = p.Lock(env); err != nil {
		return nil, err
	}
	b.clients = append(b.clients, c)
	return c, nil
}

// joinAll starts several.
func (b *bench) joinAll(names ...string) ([]*client, error) {
	var all []*client
	for _, name := range names {
		c, err := b.join(name)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// errLate says that an answer did not come in time.
var errLate = errors.New("no answer in time")

// within makes a call that must end in time. One that does not ends with its program.
func (c *client) within(limit time.Duration, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	guard := time.NewTimer(limit)
	defer guard.Stop()
	select {
	case err := <-done:
		return err
	case <-guard.C:
		c.program.Kill()
		<-done
		return fmt.Errorf("%s: %w, %v", c.name, errLate, limit)
	}
}

const resource = "stock"

// try asks for the lock once.
func (c *client) try(limit time.Duration) (*locks.Lease, error) { return c.tryOn(resource, 0, limit) }

// tryOn asks for the lock on a resource for as long as wait, or once.
func (c *client) tryOn(resource string, wait, limit time.Duration) (lease *locks.Lease, err error) {
	err = c.within(wait+limit, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), max(wait, time.Millisecond))
		defer cancel()
		lease, err = c.Acquire(ctx, resource)
		return err
	})
	return lease, err
}

// get is try where it must be granted.
func (c *client) get(what string) (*locks.Lease, error) {
	lease, err := c.try(promptly)
	return lease, want(what, err, nil)
}

func (c *client) release(lease *locks.Lease, limit time.Duration) error {
	return c.within(limit, func() error { return c.Release(context.Background(), lease) })
}

func (c *client) extend(lease *locks.Lease) error {
	return c.within(promptly, func() error { return c.Extend(context.Background(), lease) })
}

func (c *client) valid(lease *locks.Lease) error {
	return c.within(promptly, func() error {
		return c.Lock.(interface {
			Valid(context.Context, *locks.Lease) error
		}).Valid(context.Background(), lease)
	})
}

// rest waits, unless the checks are interrupted.
func (b *bench) rest(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

// network is what lies between a program and the servers.
type network struct {
	sent    atomic.Int64 // bytes to the servers
	named   atomic.Bool  // a connection was given a name
	refuses atomic.Bool

	mu     sync.Mutex
	silent chan struct{} // closed when bytes flow again; nil while they do
	mute   bool          // only what servers send is held back
}

func newNetwork() *network { return &network{} }

// silence holds back whatever is sent from now on, either way.
func (n *network) silence() { n.hold(false) }

// muteServers holds back what servers send from now on: they carry out what they are told, and nobody hears of it.
func (n *network) muteServers() { n.hold(true) }

func (n *network) hold(mute bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent, n.mute = make(chan struct{}), mute
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent != nil {
		close(n.silent)
		n.silent = nil
	}
}

// pass waits until bytes may flow, to the servers or from them.
func (n *network) pass(toServers bool) {
	n.mu.Lock()
	silent := n.silent
	if n.mute && toServers {
		silent = nil
	}
	n.mu.Unlock()
	if silent != nil {
		<-silent
	}
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	if n.refuses.Load() {
		return nil, errors.New("refused, as the check wants it")
	}
	conn, err := new(net.Dialer).DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn, n}, nil
}

// wire is a connection through a network.
type wire struct {
	net.Conn
	net *network
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.net.pass(false)
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	w.net.pass(true)
	w.net.sent.Add(int64(len(b)))
	if bytes.Contains(bytes.ToUpper(b), []byte("SETNAME")) {
		w.net.named.Store(true)
	}
	return w.Conn.Write(b)
}
