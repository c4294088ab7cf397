package docker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

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
