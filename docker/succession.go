package docker

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// promotionLimit is how long Sentinels may take until the replica leads.
const promotionLimit = 30 * time.Second

// Failover implements nemesis.Target. By hand, the replica stops following and is promoted with what it has, the primary is
// killed, and the Sentinels, which sleep, are told. By Sentinel, the primary is killed, and the rest is theirs. Evidence:
// how far both had come, and what the servers said.
func (c *cluster) Failover(by nemesis.Promoter) (nemesis.Heal, error) {
	primary, replica := c.nodes[nemesis.Primary], c.nodes[nemesis.Replica]
	if replica == nil || c.failing.Swap(true) {
		return nil, unsupported("this lock has no replica to promote")
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	defer c.promptly("kill the primary")()
	c.bed.deposed = true
	open := c.counts(nemesis.Primary).open()
	if err := c.enable(nemesis.Primary, false); err != nil {
		return nil, err
	}
	at, err := c.noteLag(ctx)
	if err != nil {
		return nil, err
	}
	if by == nemesis.ByHand {
		if err := replica.command.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
			return nil, fmt.Errorf("promote the replica: %w", err)
		}
	}
	primary.down.Store(true)
	if err := primary.crash(); err != nil {
		return nil, err
	}
	died := c.Now()
	led := make(chan promotion, 1)
	if by == nemesis.ByHand {
		led <- c.leadByHand(ctx)
	} else {
		go func() { led <- c.awaitPromotion() }()
	}
	return func() (nemesis.Evidence, error) {
		p := <-led
		if p.err != nil {
			return nemesis.Evidence{}, p.err
		}
		detail := map[string]string{
			"primary_offset": strconv.FormatInt(at.sent, 10), "replica_offset": strconv.FormatInt(at.got, 10),
			"connections_reset": strconv.FormatInt(open, 10), "promoted_at": p.at.String(), "promoted_after": (p.at - died).String(),
		}
		c.said(detail)
		return nemesis.Evidence{Effective: true, Detail: detail}, nil
	}, nil
}

// promotion is when the replica began to lead.
type promotion struct {
	at  time.Duration
	err error
}

// leadByHand has everybody follow the replica, which leads already.
func (c *cluster) leadByHand(ctx context.Context) (p promotion) {
	if p.err = c.nodes[nemesis.Replica].hearAll(ctx); p.err != nil {
		return p
	}
	c.lead()
	p.at = c.Now()
	if p.err = c.bed.forget(ctx); p.err != nil {
		return p
	}
	if p.err = c.bed.watchOver(ctx, nemesis.Replica); p.err != nil {
		return p
	}
	p.err = c.bed.patience(ctx, asleep)
	return p
}

// lead notes that the replica leads.
func (c *cluster) lead() {
	c.ledgers[nemesis.Replica].promote()
	c.promoted.Store(true)
}

// awaitPromotion returns when the replica leads, and every Sentinel says so.
func (c *cluster) awaitPromotion() (p promotion) {
	ctx, cancel := context.WithTimeoutCause(c.over, promotionLimit,
		fmt.Errorf("the Sentinels did not promote the replica within %v", promotionLimit))
	defer cancel()
	p.err = until(ctx, "the replica does not lead", func() (bool, error) {
		role, err := c.nodes[nemesis.Replica].info(ctx, "replication", "role")
		return role == "master", err
	})
	if p.err != nil {
		return p
	}
	if p.err = c.watchAgain(ctx); p.err != nil {
		return p
	}
	c.lead()
	p.at = c.Now()
	p.err = c.bed.say(ctx, nemesis.Replica)
	return p
}

// watchAgain listens to the replica again: a Sentinel that promotes it ends all its connections. That nothing was missed is
// certain as long as no Sentinel tells clients of the new leader.
func (c *cluster) watchAgain(ctx context.Context) error {
	replica := c.nodes[nemesis.Replica]
	if err := replica.watch.awaitEnd(ctx); err != nil {
		return fmt.Errorf("the replica was promoted without the end of its connections: %w", err)
	}
	c.ledgers[nemesis.Replica].lose(nemesis.KeepAll)
	if err := replica.watch.connect(ctx); err != nil {
		return err
	}
	return c.bed.eachSentinel(func(s *sentinel) error {
		at, err := s.command.GetMasterAddrByName(ctx, locks.SentinelName).Result()
		if err == nil && net.JoinHostPort(at[0], at[1]) == c.bed.toxiproxy.announced(nemesis.Replica) {
			err = fmt.Errorf("%w: what the new leader did at first was not heard", ErrStrained)
		}
		return err
	})
}

// split is a split brain in force.
type split struct {
	cluster *cluster
	clients []string // on the old primary's side
	name    string   // of the toxics
	parted  []*proxy
	served  int // what the old primary had carried out for its side when the replica began to lead
}

// SplitBrain implements nemesis.Target: every link across loses what is sent. On healing the old primary is made a replica by
// hand, as Sentinel does after some ten seconds. Evidence: what both primaries carried out while both led, and which keys
// were lost.
func (c *cluster) SplitBrain(clients []string) (nemesis.Heal, error) {
	for _, name := range clients {
		if _, err := c.client(name); err != nil {
			return nil, err
		}
	}
	if c.nodes[nemesis.Replica] == nil || c.failing.Swap(true) {
		return nil, unsupported("this lock has no replica to promote")
	}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	defer c.promptly("part the primary")()
	c.bed.deposed = true
	at, err := c.noteLag(ctx)
	if err != nil {
		return nil, err
	}
	s := &split{cluster: c, clients: clients, name: c.toxicName(), parted: c.across(clients)}
	err = s.each(func(p *proxy, stream string) error {
		return p.strike(stream, toxic{s.name, "timeout", 1, toxiproxy.Attributes{"timeout": 0}})
	})
	if err != nil {
		return nil, fmt.Errorf("part the primary: %w", err)
	}
	began := c.Now()
	led := make(chan promotion, 1)
	go func() {
		p := c.awaitPromotion()
		if p.err == nil {
			p.err = c.hearAll(nemesis.Primary)
		}
		s.served = s.commands()
		led <- p
	}()
	return func() (nemesis.Evidence, error) {
		p := <-led
		if p.err != nil {
			return nemesis.Evidence{}, p.err
		}
		detail := map[string]string{
			"primary_offset": strconv.FormatInt(at.sent, 10), "replica_offset": strconv.FormatInt(at.got, 10),
			"promoted_at": p.at.String(), "promoted_after": (p.at - began).String(),
		}
		served, err := s.heal(detail)
		c.said(detail)
		return nemesis.Evidence{Effective: served > 0, Detail: detail}, err
	}, nil
}

// across are the proxies between the sides.
func (c *cluster) across(clients []string) []*proxy {
	links := c.bed.toxiproxy.links
	parted := []*proxy{links[replicationLink], links[announcedLink(nemesis.Primary)]}
	for name, x := range c.clients {
		if !slices.Contains(clients, name) {
			parted = append(parted, links[clientLink(x.index, nemesis.Primary)])
			continue
		}
		for _, server := range append([]string{nemesis.Replica}, sentinelNames...) {
			parted = append(parted, links[clientLink(x.index, server)])
		}
	}
	return parted
}

func (s *split) each(f func(p *proxy, stream string) error) error {
	d := disturbance{}
	for _, p := range s.parted {
		d.struck = append(d.struck, &struckLink{proxies: []*proxy{p}, streams: []string{"upstream", "downstream"}})
	}
	return d.each(f)
}

// commands is what the old primary has carried out for its side.
func (s *split) commands() (count int) {
	for _, name := range s.clients {
		count += s.cluster.ledgers[nemesis.Primary].commands(name)
	}
	return count
}

// heal makes one of the two sides, and says what the old primary carried out for its side after the replica led.
func (s *split) heal(detail map[string]string) (served int, err error) {
	c := s.cluster
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	old, leader := c.nodes[nemesis.Primary], c.nodes[nemesis.Replica]
	if err := c.hearAll(nemesis.Primary); err != nil {
		return 0, err
	}
	served = s.commands() - s.served
	lost, err := old.differs(ctx, leader)
	if err != nil {
		return 0, err
	}
	bound, err := old.command.ConfigGet(ctx, "min-replicas-to-write").Result()
	if err != nil {
		return 0, err
	}
	err = s.each(func(p *proxy, stream string) error {
		_, err := p.lift(stream, s.name)
		return err
	})
	if err != nil {
		return 0, err
	}
	host, port, _ := strings.Cut(c.bed.toxiproxy.announced(nemesis.Replica), ":")
	if err := old.command.ReplicaOf(ctx, host, port).Err(); err != nil {
		return 0, fmt.Errorf("have the old primary follow: %w", err)
	}
	ended, err := old.endClients(ctx)
	detail["served_by_both"], detail["keys_lost"] = strconv.Itoa(served), strings.Join(lost, " ")
	detail["connections_reset"], detail["demoted"] = strconv.Itoa(ended), "by hand"
	detail["min_replicas_to_write"] = bound["min-replicas-to-write"]
	return served, err
}

// differs lists the keys of a node that another does not have, or has with another value. Values are strings here.
func (n *node) differs(ctx context.Context, from *node) (keys []string, err error) {
	all, err := n.command.Keys(ctx, "*").Result()
	if err != nil {
		return nil, fmt.Errorf("list the keys of %s: %w", n.name, err)
	}
	slices.Sort(all)
	for _, key := range all {
		mine, err := n.command.MGet(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("read %s on %s: %w", key, n.name, err)
		}
		theirs, err := from.command.MGet(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("read %s on %s: %w", key, from.name, err)
		}
		if mine[0] != nil && mine[0] != theirs[0] {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// endClients ends the connections of clients, as Sentinel does when it makes a server a replica.
func (n *node) endClients(ctx context.Context) (ended int, err error) {
	list, err := n.command.ClientList(ctx).Result()
	if err != nil {
		return 0, fmt.Errorf("list the connections to %s: %w", n.name, err)
	}
	for line := range strings.Lines(list) {
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
		if !strings.Contains(rest, " name="+clientPrefix) {
			continue
		}
		if err := n.command.ClientKillByFilter(ctx, "ID", id).Err(); err != nil {
			return ended, fmt.Errorf("end a connection to %s: %w", n.name, err)
		}
		ended++
	}
	return ended, nil
}
