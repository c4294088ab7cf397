// Package sim is the testbed in virtual time: clients, links and Redis servers in one process, in a bubble in which time
// jumps from event to event. Locks run in it unmodified. The same seed gives the same history, byte for byte.
package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// Cluster is what a run has at its disposal. It implements nemesis.Target; see there for what the faults mean.
type Cluster struct {
	net       *network
	observer  runner.Observer
	serve     func(net.Conn) // the protected resource
	clients   map[string]*client
	names     []string // of the clients
	nodes     []string // of the lock servers that clients dial
	servers   map[string]lockServer
	addresses map[string]string        // address -> server
	primary   *redisNode               // behind the name Primary; nil without replication
	failing   atomic.Bool              // the replica is to be promoted
	promoted  atomic.Bool              // the replica answers to the primary's name ...
	staying   atomic.Pointer[[]string] // ... but for these clients
	sentinel  time.Duration            // slot of the promotion
}

// lockServer is a Redis node or a member of the consensus service.
type lockServer interface {
	// accept serves a connection of the client until it ends, or says false if nothing listens.
	accept(client string, conn *end) bool
	dialsRefused() int
	crash()
	// restart brings the server back. It returns how many keys were lost, and how many requests the others have committed
	// meanwhile without it.
	restart(keep nemesis.Survival, crashed time.Time, unsynced time.Duration) (lost, missed int)
	stepClock(by time.Duration) (before, after time.Time)
	setRate(rate float64) (wall time.Time)
	close()
}

// client is a process: whatever it does passes its gates.
type client struct {
	slot, noticeSlot time.Duration
	process          *gate // shut by a pause
	lock             *gate // shut by a stall: traffic with lock servers
}

func newCluster(setup runner.Setup) *Cluster {
	c := &Cluster{
		net: newNetwork(setup.Seed), observer: setup.Observer, serve: setup.ServeData, names: setup.Clients,
		clients: map[string]*client{}, servers: map[string]lockServer{}, addresses: map[string]string{},
	}
	names := setup.Servers.Names()
	switch setup.Servers {
	case locks.ConsensusService:
		for _, m := range newConsensus(names, c.observer).members {
			c.add(m.name, m)
		}
	default:
		for _, name := range names {
			c.add(name, newRedisNode(name, c.observer))
		}
	}
	if setup.Servers == locks.PrimaryAndReplica {
		c.primary = c.servers[nemesis.Primary].(*redisNode)
		replica := newRedisNode(nemesis.Replica, c.observer)
		c.servers[nemesis.Replica] = replica
		replicate(c.primary, replica, c.net.addLink(nemesis.Link{From: nemesis.Primary, To: nemesis.Replica}))
	}
	for _, name := range setup.Clients {
		c.clients[name] = &client{slot: c.net.reserve(1), noticeSlot: c.net.reserve(1), process: &gate{net: c.net}, lock: &gate{net: c.net}}
		for _, node := range c.nodes {
			c.net.addLink(nemesis.Link{From: name, To: node})
		}
		c.net.addLink(nemesis.Link{From: name, To: nemesis.Resource})
	}
	c.sentinel = c.net.reserve(1)
	return c
}

// add makes a server that clients dial. Addresses are IP literals: looking up a name would leave the bubble.
func (c *Cluster) add(name string, s lockServer) {
	c.servers[name] = s
	c.nodes = append(c.nodes, name)
	c.addresses[fmt.Sprintf("127.0.0.%d:6379", len(c.nodes))] = name
}

// Now is the time since the start of the run.
func (c *Cluster) Now() time.Duration { return time.Since(c.net.start) }

// listAddresses gives those of the nodes, in order.
func (c *Cluster) listAddresses() []string {
	addrs := make([]string, len(c.nodes))
	for addr, name := range c.addresses {
		addrs[slices.Index(c.nodes, name)] = addr
	}
	return addrs
}

// Step waits until the client may take its next step: not while it is paused, and at an instant of its own. It fails once
// the client has been killed.
func (c *Cluster) Step(name string) error {
	x := c.clients[name]
	c.net.align(x.slot)
	return x.process.pass(x.slot)
}

// Notice is Step for what a client learns beside its steps, at an instant of its own again. A client whose background
// work is stalled does not learn anything either.
func (c *Cluster) Notice(name string) error {
	x := c.clients[name]
	c.net.align(x.noticeSlot)
	return passAll([]*gate{x.process, x.lock}, x.noticeSlot)
}

// AlignNemesis waits for the next instant at which the nemesis may act.
func (c *Cluster) AlignNemesis() { c.net.align(nemesisSlot) }

// Hands implements runner.Cluster: the client's lock runs in this process, behind the client's gates.
func (c *Cluster) Hands(cfg runner.HandsConfig) (runner.Hands, error) {
	x := c.clients[cfg.Client]
	cfg.Env.Nodes = c.listAddresses()
	cfg.Env.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		node, ok := c.addresses[addr]
		if !ok {
			return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("no server at %s", addr)}
		}
		return c.dial(ctx, cfg.Client, node, []*gate{x.process, x.lock})
	}
	cfg.Data = runner.NewDataClient(func(ctx context.Context) (net.Conn, error) {
		return c.dial(ctx, cfg.Client, nemesis.Resource, []*gate{x.process})
	})
	return runner.NewHands(cfg)
}

// dial makes a connection: a round trip, or a refusal, or a wait until the link lets the handshake through.
func (c *Cluster) dial(ctx context.Context, name, server string, gates []*gate) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: address, Err: err}
	}
	p := c.net.links[nemesis.Link{From: name, To: server}].attempt()
	if err := passAll(gates, p.there.slot); err != nil {
		return fail(err)
	}
	if err := p.handshake(ctx); err != nil {
		return fail(err)
	}
	if err := passAll(gates, p.back.slot); err != nil {
		return fail(err)
	}
	p.open()
	p.client.gates = gates
	if server == nemesis.Resource {
		go c.serve(p.server)
		return p.client, nil
	}
	if !c.behind(name, server).accept(name, p.server) {
		p.forget()
		return fail(syscall.ECONNREFUSED)
	}
	return p.client, nil
}

// behind is the server that answers a client to a name: after a failover the former replica answers to the primary's, but
// for a client on the old primary's side.
func (c *Cluster) behind(client, name string) lockServer {
	staying := c.staying.Load()
	if name == nemesis.Primary && c.promoted.Load() && (staying == nil || !slices.Contains(*staying, client)) {
		name = nemesis.Replica
	}
	return c.servers[name]
}

// handshake takes one round trip on the link, once it is free both ways.
func (p *pipe) handshake(ctx context.Context) error {
	net := p.link.net
	for _, way := range []*stream{p.there, p.back} {
		for {
			net.mu.Lock()
			if r := way.resets(0); r != nil {
				r.dials++
				net.mu.Unlock()
				return syscall.ECONNRESET
			}
			d := way.lane.blocked()
			freed := way.lane.freed
			var arrives time.Time
			if d == nil {
				arrives = way.arrival(0)
			} else {
				d.dials++
			}
			net.mu.Unlock()
			if d == nil {
				if err := net.sleepUntil(ctx, arrives); err != nil {
					return err
				}
				break
			}
			select {
			case <-freed:
			case <-net.closing:
				return errOver
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// errOver ends what waits on the network when the run is over.
var errOver = errors.New("the run is over")

func (n *network) sleepUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-n.closing:
		return errOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// grace is how long what a closed lock has running may take to end by itself.
const grace = time.Minute

// close ends every connection and server.
func (c *Cluster) close() {
	for _, x := range c.clients {
		x.process.kill()
		x.lock.kill()
	}
	close(c.net.closing)
	c.net.mu.Lock()
	for _, l := range c.net.links {
		for p := range l.pipes {
			p.breakWith(net.ErrClosed, net.ErrClosed)
		}
	}
	c.net.mu.Unlock()
	for _, s := range c.servers {
		s.close()
	}
	time.Sleep(grace)
}
