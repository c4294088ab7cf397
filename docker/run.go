package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// prepareLimit is how long it may take to make everything as new before a run.
const prepareLimit = 20 * time.Second

// ErrSpoilt is wrapped by errors that say that no further run is possible on a testbed.
var ErrSpoilt = errors.New("the container testbed cannot be used any more")

// Run implements runner.Testbed. Before body is called, links are healed, servers run with true clocks and without keys,
// and the replica follows: all of it is proved, or the run fails with an error of the harness.
func (t *Testbed) Run(setup runner.Setup, body func(runner.Cluster)) error {
	t.turn.Lock()
	defer t.turn.Unlock()
	t.journal = ""
	if t.spoil != nil {
		return fmt.Errorf("%w: %w", ErrSpoilt, t.spoil)
	}
	if err := t.supports(setup); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), prepareLimit,
		fmt.Errorf("the testbed could not be made as new within %v", prepareLimit))
	defer cancel()
	t.runs++
	if err := t.prepare(ctx, setup); err != nil {
		t.spoil = err
		return fmt.Errorf("%w: %w", ErrSpoilt, err)
	}
	c, err := t.newCluster(setup)
	if err != nil {
		return err
	}
	defer c.close()
	t.current.Store(c)
	defer t.current.Store(nil)
	c.begin()
	body(c)
	c.keepJournal()
	return nil
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", nemesis.ErrUnsupported, fmt.Sprintf(format, args...))
}

// supports says what of a plan cannot be had here.
func (t *Testbed) supports(setup runner.Setup) error {
	if setup.Servers == locks.ConsensusService {
		return unsupported("there are no containers of a consensus service yet")
	}
	if n := len(setup.Clients); n > t.cfg.Clients {
		return unsupported("%d clients; this testbed was started for %d", n, t.cfg.Clients)
	}
	for _, step := range setup.Faults {
		if f, ok := step.Fault.(nemesis.Bandwidth); ok && kbPerSecond(f.PerKB) < 1 {
			return unsupported("a link of less than 1 KB/s")
		}
		if _, ok := step.Fault.(nemesis.SplitBrain); ok && setup.Program != "" {
			return unsupported("a program on a primary and its replica is given one address, and asks no Sentinel which side is its own")
		}
	}
	return nil
}

// cluster is what a run has at its disposal. It implements runner.Cluster and runner.Settler.
type cluster struct {
	bed      *Testbed
	setup    runner.Setup
	run      int
	origin   time.Duration
	began    time.Time // the same moment on the machine's wall clock
	names    []string  // of the lock servers that clients dial
	clients  map[string]*client
	nodes    map[string]*node   // by the plan's names
	ledgers  map[string]*ledger // the same
	failing  atomic.Bool        // the replica is to be promoted
	promoted atomic.Bool
	over     context.Context // done when the run is
	end      context.CancelFunc

	mu     sync.Mutex
	strain *strain
	sizes  map[string]*appended // of servers that are to lose their last second
	lag    *lag                 // at the failover
	toxics int                  // to number them
}

var _ runner.Settler = (*cluster)(nil)

func (t *Testbed) newCluster(setup runner.Setup) (*cluster, error) {
	c := &cluster{
		bed: t, setup: setup, run: t.runs, names: setup.Servers.Names(), clients: map[string]*client{},
		nodes: map[string]*node{}, ledgers: map[string]*ledger{}, sizes: map[string]*appended{},
	}
	c.over, c.end = context.WithCancel(context.Background())
	for _, name := range c.names {
		c.nodes[name] = t.nodes[name]
		if setup.Servers == locks.OneNode {
			c.nodes[name] = t.nodes["n1"]
		}
	}
	if setup.Servers == locks.PrimaryAndReplica {
		c.nodes[nemesis.Replica] = t.nodes[nemesis.Replica]
	}
	for i, name := range setup.Clients {
		x, err := startClient(name, i, t.cfg.Worker, c.lift)
		if err != nil {
			c.close()
			return nil, err
		}
		c.clients[name] = x
	}
	err := c.arm()
	if err == nil {
		err = together(setup.Clients, c.join)
	}
	for _, name := range losesSecond(setup.Faults) {
		if n := c.nodes[name]; err == nil && n != nil && c.sizes[n.name] == nil {
			c.sizes[n.name], err = n.noteSizes(c.over)
		}
	}
	if err != nil {
		c.close()
	}
	return c, err
}

// join tells a client's process where it stands.
func (c *cluster) join(name string) error {
	links, index := c.bed.toxiproxy.links, c.clients[name].index
	p := place{
		Client: name, Run: c.run, Watched: slices.Contains(c.setup.Watched, name), Ways: map[string]way{},
		Data: links[clientLink(index, nemesis.Resource)].addr,
	}
	if c.setup.Servers == locks.PrimaryAndReplica {
		p.Nodes = []string{c.bed.toxiproxy.announced(nemesis.Primary)}
		for _, server := range []string{nemesis.Primary, nemesis.Replica} {
			p.Ways[c.bed.toxiproxy.announced(server)] = way{Proxy: links[clientLink(index, server)].addr}
		}
		for _, name := range sentinelNames {
			s := c.bed.sentinels[name]
			p.Sentinels = append(p.Sentinels, s.addr)
			p.Ways[s.addr] = way{Proxy: links[clientLink(index, s.name)].addr, Node: aSentinel}
		}
	} else {
		for i, node := range c.names {
			addr := links[clientLink(index, c.nodes[node].name)].addr
			p.Nodes = append(p.Nodes, addr)
			p.Ways[addr] = way{Proxy: addr, Node: i}
		}
	}
	if p.Program = c.setup.Program; p.Program != "" {
		if err := c.openGateway(c.clients[name], &p); err != nil {
			return fmt.Errorf("client %s: %w", name, err)
		}
	}
	if err := c.clients[name].prepare(order{Join: &p}); err != nil {
		return fmt.Errorf("client %s: %w", name, err)
	}
	return nil
}

// begin starts the clock of the run, and listens to the servers from then on.
func (c *cluster) begin() {
	c.origin, c.began = monotonic(), time.Now()
	for name, n := range c.nodes {
		l := newLedger(name, c.origin)
		l.event, l.answered = c.setup.Observer.Event, c.setup.Observer.Answered
		c.ledgers[name] = l
		defer n.watch.listenTo(l.hear)
	}
	if replica := c.ledgers[nemesis.Replica]; replica != nil {
		replica.source = c.ledgers[nemesis.Primary]
	}
	for _, x := range c.clients {
		x.mu.Lock()
		x.resumed = c.origin
		x.mu.Unlock()
	}
	c.strain = watchStrain(c, c.setup.TTL)
}

// close ends the clients, and stops listening.
func (c *cluster) close() {
	c.end()
	for _, a := range c.sizes {
		if a != nil {
			a.close()
		}
	}
	if c.strain != nil {
		c.strain.stop()
	}
	for _, x := range c.clients {
		x.end() // its board stays mapped, since somebody may still look at it
	}
	for _, n := range c.nodes {
		n.watch.listenTo(nil)
	}
}

// Now implements runner.Cluster.
func (c *cluster) Now() time.Duration { return monotonic() - c.origin }

// AlignNemesis implements runner.Cluster: in real time there is no instant that belongs to the nemesis.
func (c *cluster) AlignNemesis() {}

// Step implements runner.Cluster.
func (c *cluster) Step(name string) error { return c.clients[name].step() }

// Notice implements runner.Cluster: what a client tells it has noticed; it cannot have told once it was dead.
func (c *cluster) Notice(name string) error {
	if c.clients[name].isDead() {
		return errKilled
	}
	return nil
}

// links are the proxies of a client's link: one, but to the primary or the replica, whichever leads, two.
func (c *cluster) links(client, server string) ([]*proxy, error) {
	x := c.clients[client]
	if x == nil || server != nemesis.Resource && !slices.Contains(c.names, server) {
		return nil, unsupported("no link %s-%s", client, server)
	}
	targets := []string{server}
	switch {
	case server == nemesis.Primary:
		targets = append(targets, nemesis.Replica)
	case server != nemesis.Resource:
		targets[0] = c.nodes[server].name
	}
	var links []*proxy
	for _, target := range targets {
		links = append(links, c.bed.toxiproxy.links[clientLink(x.index, target)])
	}
	return links, nil
}

// Hands implements runner.Cluster: the client's process, told what to work with.
func (c *cluster) Hands(cfg runner.HandsConfig) (runner.Hands, error) {
	x := c.clients[cfg.Client]
	x.mu.Lock()
	x.onLost = func(l lost) { cfg.Lost(l.Lease, l.At) }
	x.mu.Unlock()
	err := x.prepare(order{Configure: &workerConfig{
		Lock: cfg.Lock.Name, TTL: cfg.Env.TTL, Fencing: cfg.Env.Fencing, Seed: cfg.Seed, Resource: cfg.Resource, Kind: cfg.Kind,
		Origin: c.origin,
	}})
	if err == nil && x.gateway != nil {
		err = x.together()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s for client %s: %w", cfg.Lock.Name, cfg.Client, err)
	}
	return x, nil
}

// together tells whether the lock's program is in the client's process group, as a pause and a crash need it.
func (x *client) together() error {
	lost, err := strays(x.cmd.Process.Pid)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the program has left its process group, so that no pause and no crash would hit %s: call it without "+
			"timeout, setsid or sudo", strings.Join(lost, ", "))
	}
	return err
}

// lift lets a reply go on to a client that is watched, once whatever waits to hear of it has acted. If the server has gone
// meanwhile, nobody will hear any more.
func (c *cluster) lift(x *client, h held) {
	name := c.names[h.Node]
	_ = c.hearAll(name)
	x.lift(h.ID)
}

// hearAll returns when all that a server has carried out so far has been told.
func (c *cluster) hearAll(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	if name == nemesis.Primary && c.promoted.Load() { // both may serve
		if replica := c.nodes[nemesis.Replica]; c.nodes[name].down.Load() {
			return replica.hearAll(ctx)
		} else if err := replica.hearAll(ctx); err != nil {
			return err
		}
	}
	return c.nodes[name].hearAll(ctx)
}

func (n *node) hearAll(ctx context.Context) error {
	return n.watch.barrier(ctx, func(ctx context.Context, echo string) error { return n.command.Echo(ctx, echo).Err() })
}

// server is what answers to a name: after a failover the former replica answers to the primary's.
func (c *cluster) server(name string) *node {
	if name == nemesis.Primary && c.promoted.Load() {
		name = nemesis.Replica
	}
	return c.nodes[name]
}

// Settle implements runner.Settler: it reads the log of the database, and hears the servers out.
func (c *cluster) Settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	errs := []error{c.strain.end(), c.bed.db.log(ctx, c.run, c.setup.Resource, c.origin, c.setup.Observer.Event)}
	for name, n := range c.nodes {
		if !n.down.Load() {
			if err := c.hearAll(name); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
