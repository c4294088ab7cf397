package docker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/lockfault/lockfault/nemesis"
)

// Disturb implements nemesis.Target: a toxic on each link and direction. Evidence, from the clients' own counters: bytes
// and connection attempts that were held or lost, messages delayed; for the way back, commands that were carried out and
// not heard of; for the replication link, bytes that the replica has not got.
func (c *cluster) Disturb(links []nemesis.Link, how nemesis.Disturbance) (nemesis.Heal, error) {
	d, err := c.strikes(links, how)
	if err != nil {
		return nil, err
	}
	err = d.each(func(p *proxy, stream string) error {
		if d.how.Cut {
			return p.cut(stream)
		}
		return p.strike(stream, toxic{d.name, d.kind(), 1, d.attributes()})
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
		err = errors.Join(d.lift(), err, d.delivered())
		evidence.Effective = evidence.Effective && (d.how.Cut || d.struckOnce.Load())
		return evidence, err
	}, nil
}

// strikes finds the links of a disturbance that is not yet in force.
func (c *cluster) strikes(links []nemesis.Link, how nemesis.Disturbance) (*disturbance, error) {
	d := &disturbance{cluster: c, how: how, name: c.toxicName()}
	for _, l := range links {
		s, err := c.strikeOf(l, how.Direction)
		if err != nil {
			return nil, err
		}
		d.struck = append(d.struck, s)
	}
	return d, nil
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

	struckOnce atomic.Bool // it was not over before the links were free of cuts
}

// struckLink is a link under a disturbance.
type struckLink struct {
	proxies []*proxy
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
		if c.nodes[nemesis.Replica] == nil {
			return nil, unsupported("no link %v", l)
		}
		s.proxies = []*proxy{c.bed.toxiproxy.links[replicationLink]}
		requests, replies = replies, requests
	} else {
		var err error
		if s.proxies, err = c.links(l.From, l.To); err != nil {
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
		s.board.slowest.Store(0)
	}
	if s.ledger != nil {
		s.commands = s.ledger.commands(s.client)
	}
}

func (d *disturbance) kind() string {
	switch {
	case d.how.Drop:
		return "timeout"
	case d.how.PerKB > 0:
		return "bandwidth"
	}
	return "latency"
}

// kbPerSecond is how a toxic wants it.
func kbPerSecond(perKB time.Duration) int64 {
	return int64(math.Round(float64(time.Second) / float64(perKB)))
}

func (d *disturbance) attributes() toxiproxy.Attributes {
	switch {
	case d.how.Drop:
		return toxiproxy.Attributes{"timeout": 0}
	case d.how.PerKB > 0:
		return toxiproxy.Attributes{"rate": kbPerSecond(d.how.PerKB)}
	}
	// Toxiproxy draws from latency minus jitter to latency plus jitter; a disturbance from its delay upwards.
	half := d.how.Jitter / 2
	return toxiproxy.Attributes{"latency": (d.how.Delay + half).Milliseconds(), "jitter": half.Milliseconds()}
}

// each does f for every link and direction, all at once.
func (d *disturbance) each(f func(p *proxy, stream string) error) error {
	var mu sync.Mutex
	var errs []error
	var doing sync.WaitGroup
	for _, s := range d.struck {
		for _, p := range s.proxies {
			doing.Go(func() {
				for _, stream := range s.streams {
					if err := f(p, stream); err != nil {
						mu.Lock()
						errs = append(errs, fmt.Errorf("%s %s: %w", p.Name, stream, err))
						mu.Unlock()
					}
				}
			})
		}
	}
	doing.Wait()
	return errors.Join(errs...)
}

func (d *disturbance) lift() error {
	return d.each(func(p *proxy, stream string) error {
		if d.how.Cut {
			return p.join(stream)
		}
		struck, err := p.lift(stream, d.name)
		if struck {
			d.struckOnce.Store(true)
		}
		return err
	})
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
		errs = append(errs, until(ctx, "what was held is not delivered on "+s.proxies[0].Name, func() (bool, error) {
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
	var slowest time.Duration
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
		felt.read += since.read
		slowest = max(slowest, time.Duration(s.board.slowest.Load()))
		felt.messages += since.messages
		felt.dials += since.dials - since.dialled
		if s.ledger != nil {
			unheard += s.ledger.commands(s.client) - s.commands
		}
	}
	if !d.how.Cut && !d.how.Drop {
		detail := map[string]string{"messages_delayed": strconv.FormatInt(felt.messages, 10), "longest_round_trip": slowest.String()}
		if d.how.PerKB > 0 {
			detail["bytes_slowed"] = strconv.FormatInt(felt.written+felt.read, 10)
		}
		return nemesis.Evidence{Effective: felt.messages > 0, Detail: detail}, nil
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

// noteLag measures the lag when the replication is about to end.
func (c *cluster) noteLag(ctx context.Context) (*lag, error) {
	at, err := c.measureLag(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lag = at
	return at, nil
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
