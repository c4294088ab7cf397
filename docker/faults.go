package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/lockfault/lockfault/nemesis"
)

var _ nemesis.Target = (*cluster)(nil)

func (c *cluster) client(name string) (*client, error) {
	x, ok := c.clients[name]
	if !ok {
		return nil, unsupported("no client %q", name)
	}
	return x, nil
}

func (c *cluster) redis(name string) (*node, error) {
	if n := c.server(name); n != nil {
		return n, nil
	}
	return nil, unsupported("this lock has no server %q", name)
}

// Pause implements nemesis.Target: SIGSTOP to the client's process group. Evidence: the kernel's word that the process
// stood still from the beginning to the end, its heart did not beat, and steps or an operation had to wait.
func (c *cluster) Pause(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	if x.isDead() {
		return func() (nemesis.Evidence, error) { return nemesis.Evidence{}, nil }, nil
	}
	pid := x.cmd.Process.Pid
	waited := x.shut()
	if err := stop(pid); err != nil {
		x.reopen()
		return nil, fmt.Errorf("stop client %s: %w", name, err)
	}
	since, beat := c.Now(), x.board.beat.Load()
	if x.busy.Load() {
		waited--
	}
	return func() (nemesis.Evidence, error) {
		still := x.isDead() || isStopped(pid) && x.board.beat.Load() == beat
		stood := c.Now() - since
		if x.last() && !x.isDead() {
			if err := resume(pid); err != nil {
				return nemesis.Evidence{}, fmt.Errorf("let client %s go on: %w", name, err)
			}
		}
		held := x.reopen() - waited
		return nemesis.Evidence{Effective: still && held > 0, Detail: map[string]string{
			"stood_still": stood.String(), "stopped_by_kernel": strconv.FormatBool(still), "held_back": strconv.Itoa(held),
		}}, nil
	}, nil
}

// shut makes the client's steps wait. It returns how many had to so far.
func (c *client) shut() (waits int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shuts++; c.shuts == 1 {
		c.open = make(chan struct{})
	}
	return c.waits
}

// last tells whether only one pause is in force.
func (c *client) last() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shuts == 1
}

// reopen takes one shut back. It returns how many steps had to wait so far.
func (c *client) reopen() (waits int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shuts--; c.shuts == 0 && c.open != nil {
		c.resumed = monotonic()
		close(c.open)
		c.open = nil
	}
	return c.waits
}

// Kill implements nemesis.Target: SIGKILL to the client's process group. Evidence: the process was alive, and its
// connections ended.
func (c *cluster) Kill(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	alive := x.die()
	if alive {
		if err := kill(x.cmd.Process.Pid); err != nil {
			return nil, fmt.Errorf("kill client %s: %w", name, err)
		}
		<-x.ended
	}
	var connections int64
	for i := range x.board.links {
		connections += x.board.links[i].count().open()
	}
	return func() (nemesis.Evidence, error) {
		return nemesis.Evidence{Effective: alive, Detail: map[string]string{
			"connections_ended": strconv.FormatInt(connections, 10), "ended_as": x.why.Error(),
		}}, nil
	}, nil
}

// die marks the client as killed, and says whether it was alive until then.
func (c *client) die() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return false
	default:
	}
	was := !c.dead
	c.dead = true
	if c.open != nil {
		close(c.open)
		c.open = nil
	}
	return was
}

// Stall implements nemesis.Target: the worker makes its traffic with lock servers wait. Evidence: calls that had to.
func (c *cluster) Stall(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	since, before := c.Now(), x.board.held.Load()
	x.board.stalled.Add(1)
	return func() (nemesis.Evidence, error) {
		x.board.stalled.Add(-1)
		_ = x.order(order{Look: true}) // a client that is dead need not
		held := x.board.held.Load() - before
		return nemesis.Evidence{Effective: held > 0, Detail: map[string]string{
			"stalled_for": (c.Now() - since).String(), "calls_held": strconv.FormatInt(held, 10),
		}}, nil
	}, nil
}

// cutFor is the latency that stands for a cut: longer than any run. Toxiproxy gives on what a latency toxic holds when
// the toxic is removed.
const cutFor = 24 * time.Hour

// Disturb implements nemesis.Target: a toxic on each link and direction. Evidence, from the clients' own counters: bytes
// and connection attempts that were held or lost, messages delayed; for the way back, commands that were carried out and
// not heard of; for the replication link, bytes that the replica has not got.
func (c *cluster) Disturb(links []nemesis.Link, how nemesis.Disturbance) (nemesis.Heal, error) {
	d := &disturbance{cluster: c, how: how, name: c.toxicName()}
	for _, l := range links {
		s, err := c.strikeOf(l, how.Direction)
		if err != nil {
			return nil, err
		}
		d.struck = append(d.struck, s)
	}
	err := d.each(func(s *struckLink, stream string) error {
		_, err := s.proxy.AddToxic(d.name+stream, d.kind(), stream, 1, d.attributes())
		return err
	})
	if err != nil {
		_ = d.lift() // what is not there cannot be removed
		return nil, fmt.Errorf("%s: %w", d.kind(), err)
	}
	for _, s := range d.struck {
		s.note()
	}
	return func() (nemesis.Evidence, error) {
		evidence, err := d.evidence()
		return evidence, errors.Join(d.lift(), err, d.delivered())
	}, nil
}

func (c *cluster) toxicName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toxics++
	return fmt.Sprintf("run%d-%d-", c.run, c.toxics)
}

// disturbance is a nemesis.Disturbance in force.
type disturbance struct {
	cluster *cluster
	how     nemesis.Disturbance
	name    string
	struck  []*struckLink
}

// struckLink is a link under a disturbance.
type struckLink struct {
	proxy   *proxy
	streams []string   // of Toxiproxy
	board   *linkBoard // nil for the replication link
	ledger  *ledger    // of the lock server; nil if the link does not lead to one
	client  string

	before   linkCount
	commands int
}

// strikeOf finds the link. Toxiproxy's upstream is the way from who opened the connection: from a client to a server, but
// from the replica to the primary.
func (c *cluster) strikeOf(l nemesis.Link, d nemesis.Direction) (*struckLink, error) {
	requests, replies := "upstream", "downstream"
	s := &struckLink{client: l.From}
	if l.From == nemesis.Primary && l.To == nemesis.Replica {
		if c.ledgers[nemesis.Replica] == nil {
			return nil, unsupported("no link %v", l)
		}
		s.proxy = c.bed.toxiproxy.links[replicationLink]
		requests, replies = replies, requests
	} else {
		var err error
		if s.proxy, err = c.link(l.From, l.To); err != nil {
			return nil, err
		}
		i := slices.Index(c.names, l.To)
		if l.To == nemesis.Resource {
			i = resourceLink
		}
		s.board, s.ledger = &c.clients[l.From].board.links[i], c.ledgers[l.To]
	}
	switch d {
	case nemesis.Requests:
		s.streams = []string{requests}
	case nemesis.Replies:
		s.streams = []string{replies}
	default:
		s.streams = []string{requests, replies}
	}
	return s, nil
}

// note remembers the counters at the beginning.
func (s *struckLink) note() {
	if s.board != nil {
		s.before = s.board.count()
	}
	if s.ledger != nil {
		s.commands = s.ledger.commands(s.client)
	}
}

func (d *disturbance) kind() string {
	if d.how.Drop {
		return "timeout"
	}
	return "latency"
}

func (d *disturbance) attributes() toxiproxy.Attributes {
	switch {
	case d.how.Drop:
		return toxiproxy.Attributes{"timeout": 0}
	case d.how.Cut:
		return toxiproxy.Attributes{"latency": cutFor.Milliseconds(), "jitter": 0}
	}
	// Toxiproxy draws from latency minus jitter to latency plus jitter; a disturbance from its delay upwards.
	half := d.how.Jitter / 2
	return toxiproxy.Attributes{"latency": (d.how.Delay + half).Milliseconds(), "jitter": half.Milliseconds()}
}

// each does f for every link and direction, all at once.
func (d *disturbance) each(f func(s *struckLink, stream string) error) error {
	var mu sync.Mutex
	var errs []error
	var doing sync.WaitGroup
	for _, s := range d.struck {
		doing.Go(func() {
			for _, stream := range s.streams {
				if err := f(s, stream); err != nil {
					mu.Lock()
					errs = append(errs, fmt.Errorf("%s %s: %w", s.proxy.Name, stream, err))
					mu.Unlock()
				}
			}
		})
	}
	doing.Wait()
	return errors.Join(errs...)
}

func (d *disturbance) lift() error {
	return d.each(func(s *struckLink, stream string) error { return s.proxy.RemoveToxic(d.name + stream) })
}

// delivered returns when what a cut held has been carried out: servers are then rid of the connections that their clients
// have given up.
func (d *disturbance) delivered() error {
	if !d.how.Cut {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	var errs []error
	for _, s := range d.struck {
		if s.board == nil {
			continue
		}
		served := func() (int64, error) { return d.cluster.bed.db.connections(ctx, s.client) }
		if s.ledger != nil {
			n := d.cluster.server(s.ledger.node)
			if n.down.Load() {
				continue
			}
			served = func() (int64, error) { return n.connections(ctx, s.client) }
		}
		errs = append(errs, until(ctx, "what was held is not delivered on "+s.proxy.Name, func() (bool, error) {
			n, err := served()
			return err == nil && n <= d.cluster.openOn(s), err
		}))
	}
	return errors.Join(errs...)
}

// openOn is how many connections the client has on the link.
func (c *cluster) openOn(s *struckLink) int64 {
	if c.clients[s.client].isDead() {
		return 0
	}
	return s.board.count().open()
}

func (d *disturbance) evidence() (nemesis.Evidence, error) {
	var felt linkCount
	var unheard int
	var lag int64
	for _, s := range d.struck {
		if s.board == nil {
			behind, err := d.cluster.behind()
			if err != nil {
				return nemesis.Evidence{}, err
			}
			lag += behind
			continue
		}
		since := s.board.count().minus(s.before)
		felt.written += since.written
		felt.messages += since.messages
		felt.dials += since.dials - since.dialled
		if s.ledger != nil {
			unheard += s.ledger.commands(s.client) - s.commands
		}
	}
	if !d.how.Cut && !d.how.Drop {
		return nemesis.Evidence{Effective: felt.messages > 0, Detail: map[string]string{
			"messages_delayed": strconv.FormatInt(felt.messages, 10), "added_delay": d.how.Delay.String(),
		}}, nil
	}
	what := "bytes_lost"
	if d.how.Cut {
		what = "bytes_held"
	}
	detail := map[string]string{"dials_blocked": strconv.FormatInt(felt.dials, 10)}
	switch {
	case lag > 0:
		detail[what] = strconv.FormatInt(lag, 10)
	case d.how.Direction == nemesis.Replies:
		detail["requests_unanswered"] = strconv.FormatInt(felt.messages, 10)
		detail["commands_unheard_of"] = strconv.Itoa(unheard)
	default:
		detail[what] = strconv.FormatInt(felt.written, 10)
	}
	return nemesis.Evidence{Effective: felt.messages+felt.dials+lag > 0, Detail: detail}, nil
}

// lag is how far replication had come at a failover.
type lag struct{ sent, got int64 }

// behind is how many bytes the replica has not got of what the primary has sent, or had not when it was promoted.
func (c *cluster) behind() (int64, error) {
	c.mu.Lock()
	at := c.lag
	c.mu.Unlock()
	if at == nil {
		ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
		defer cancel()
		var err error
		if at, err = c.measureLag(ctx); err != nil {
			return 0, err
		}
	}
	return at.sent - at.got, nil
}

func (c *cluster) measureLag(ctx context.Context) (*lag, error) {
	got, err := c.nodes[nemesis.Replica].offset(ctx, "slave_repl_offset")
	if err != nil {
		return nil, err
	}
	sent, err := c.nodes[nemesis.Primary].offset(ctx, "master_repl_offset")
	if err != nil {
		return nil, err
	}
	return &lag{sent, got}, nil
}

// CrashNode implements nemesis.Target: kill -9 of the server; nothing listens until it comes back. Evidence: connections
// reset, connections refused, keys lost.
func (c *cluster) CrashNode(name string, keep nemesis.Survival) (nemesis.Heal, error) {
	n, err := c.redis(name)
	if err != nil {
		return nil, err
	}
	if keep == nemesis.LoseSecond {
		return nil, unsupported("a crash that loses the last second")
	}
	if n.down.Load() {
		return func() (nemesis.Evidence, error) { return nemesis.Evidence{}, nil }, nil
	}
	before := c.counts(name)
	n.down.Store(true)
	if err := n.crash(); err != nil {
		return nil, err
	}
	if err := c.enable(name, false); err != nil {
		return nil, err
	}
	return func() (nemesis.Evidence, error) {
		refused := c.counts(name)
		ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
		defer cancel()
		if err := n.watch.awaitEnd(ctx); err != nil { // so that nothing from before is heard after
			return nemesis.Evidence{}, err
		}
		l := c.ledgerOf(n)
		keys := l.lose(keep == nemesis.LoseAll)
		if err := n.restart(ctx, keep == nemesis.LoseAll); err != nil {
			return nemesis.Evidence{}, err
		}
		n.down.Store(false)
		kept, err := n.command.DBSize(ctx).Result()
		if err != nil {
			return nemesis.Evidence{}, fmt.Errorf("count the keys of %s: %w", name, err)
		}
		if err := c.enable(name, true); err != nil {
			return nemesis.Evidence{}, err
		}
		failed := refused.minus(before)
		lost := max(keys-int(kept), 0)
		return nemesis.Evidence{Effective: before.open()+failed.dials-failed.dialled > 0 || lost > 0, Detail: map[string]string{
			"connections_reset": strconv.FormatInt(before.open(), 10),
			"dials_refused":     strconv.FormatInt(failed.dials-failed.dialled, 10),
			"keys_lost":         strconv.Itoa(lost), "keys_kept": strconv.FormatInt(kept, 10),
		}}, nil
	}, nil
}

func (c *cluster) ledgerOf(n *node) *ledger {
	for name, other := range c.nodes {
		if other == n {
			return c.ledgers[name]
		}
	}
	return nil
}

// counts adds up what all clients did on their links to a server.
func (c *cluster) counts(name string) (sum linkCount) {
	i := slices.Index(c.names, name)
	if i < 0 {
		return sum
	}
	for _, x := range c.clients {
		n := x.board.links[i].count()
		sum.dials += n.dials
		sum.dialled += n.dialled
		sum.closed += n.closed
	}
	return sum
}

// enable opens or closes all clients' links to a server.
func (c *cluster) enable(name string, on bool) error {
	if !slices.Contains(c.names, name) {
		return nil // nobody has a link to a replica
	}
	return together(c.setup.Clients, func(client string) error {
		l, err := c.link(client, name)
		if err != nil {
			return err
		}
		l.Enabled = on
		if err := l.Save(); err != nil {
			return fmt.Errorf("switch the link %s: %w", l.Name, err)
		}
		return nil
	})
}

// StepClock implements nemesis.Target, by the clock tool in the container. Evidence: the node's TIME before and after.
func (c *cluster) StepClock(name string, by time.Duration) (nemesis.Heal, error) {
	n, err := c.redis(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	before, err := n.time(ctx)
	if err != nil {
		return nil, err
	}
	since := c.Now()
	if err := n.setClock("step", fmt.Sprintf("%dns", by.Nanoseconds())); err != nil {
		return nil, err
	}
	after, err := n.time(ctx)
	if err != nil {
		return nil, err
	}
	stepped := after.Sub(before) - (c.Now() - since)
	return func() (nemesis.Evidence, error) {
		return nemesis.Evidence{Effective: (stepped - by).Abs() < clockDifference, Detail: map[string]string{
			"clock_before": before.UTC().Format(time.StampMilli), "clock_after": after.UTC().Format(time.StampMilli),
			"stepped": stepped.Round(time.Millisecond).String(),
		}}, nil
	}, nil
}

// SetClockRate implements nemesis.Target. Evidence: how far the node's TIME and the machine's drifted apart meanwhile.
func (c *cluster) SetClockRate(name string, rate float64) (nemesis.Heal, error) {
	n, err := c.redis(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	since := c.Now()
	before, err := n.time(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.setClock("set", "--rate", strconv.FormatFloat(rate, 'f', 6, 64)); err != nil {
		return nil, err
	}
	return func() (nemesis.Evidence, error) {
		ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
		defer cancel()
		after, err := n.time(ctx)
		if err != nil {
			return nemesis.Evidence{}, err
		}
		drift := after.Sub(before) - (c.Now() - since)
		err = n.setClock("set", "--rate", "1")
		return nemesis.Evidence{Effective: drift.Abs() > time.Millisecond, Detail: map[string]string{
			"drift": drift.Round(time.Millisecond).String(),
		}}, err
	}, nil
}

// Failover implements nemesis.Target, by hand: the replica stops following and is promoted with what it has, the primary
// is killed, and the clients' links lead to the new one. Evidence: how far both had come.
func (c *cluster) Failover() (nemesis.Heal, error) {
	primary, replica := c.nodes[nemesis.Primary], c.nodes[nemesis.Replica]
	if replica == nil || c.promoted.Load() {
		return nil, unsupported("this lock has no replica to promote")
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	open := c.counts(nemesis.Primary).open()
	if err := c.enable(nemesis.Primary, false); err != nil {
		return nil, err
	}
	at, err := c.measureLag(ctx)
	if err != nil {
		return nil, err
	}
	if err := replica.command.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
		return nil, fmt.Errorf("promote the replica: %w", err)
	}
	primary.down.Store(true)
	if err := primary.crash(); err != nil {
		return nil, err
	}
	if err := c.hearAll(nemesis.Replica); err != nil {
		return nil, err
	}
	c.ledgers[nemesis.Replica].promote()
	c.promoted.Store(true)
	c.mu.Lock()
	c.lag = at
	c.mu.Unlock()
	err = together(c.setup.Clients, func(client string) error {
		l, err := c.link(client, nemesis.Primary)
		if err != nil {
			return err
		}
		return c.bed.toxiproxy.repoint(l, c.bed.toxiproxy.links[harnessLink(nemesis.Replica)].upstream)
	})
	return func() (nemesis.Evidence, error) {
		return nemesis.Evidence{Effective: true, Detail: map[string]string{
			"primary_offset": strconv.FormatInt(at.sent, 10), "replica_offset": strconv.FormatInt(at.got, 10),
			"connections_reset": strconv.FormatInt(open, 10),
		}}, nil
	}, err
}
