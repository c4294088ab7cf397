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
func (c *cluster) CrashNode(name string, keep nemesis.Survival, unsynced time.Duration) (nemesis.Heal, error) {
	n, err := c.redis(name)
	if err != nil {
		return nil, err
	}
	if n.down.Load() {
		return func() (nemesis.Evidence, error) { return nemesis.Evidence{}, nil }, nil
	}
	defer c.promptly("crash " + name)()
	before := c.counts(name)
	n.down.Store(true)
	if err := n.crash(); err != nil {
		return nil, err
	}
	synced := monotonic() - unsynced
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
		detail := map[string]string{}
		if keep == nemesis.LoseSecond {
			if err := c.loseSince(n, synced, detail); err != nil {
				return nemesis.Evidence{}, err
			}
		}
		l := c.ledgerOf(n)
		keys := l.lose(keep)
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
		detail["connections_reset"] = strconv.FormatInt(before.open(), 10)
		detail["dials_refused"] = strconv.FormatInt(failed.dials-failed.dialled, 10)
		detail["keys_lost"], detail["keys_kept"] = strconv.Itoa(lost), strconv.FormatInt(kept, 10)
		return nemesis.Evidence{Effective: before.open()+failed.dials-failed.dialled > 0 || lost > 0, Detail: detail}, nil
	}, nil
}

// loseSince takes from a dead server what it wrote after a time.
func (c *cluster) loseSince(n *node, synced time.Duration, detail map[string]string) error {
	kept, err := c.sizes[n.name].before(synced)
	if err != nil {
		return err
	}
	cut, err := n.cutBack(kept.bytes)
	detail["aof_bytes_cut"], detail["aof_cut_back_to"] = strconv.FormatInt(cut, 10), max(kept.at-c.origin, 0).String()
	return err
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
		l := c.bed.toxiproxy.links[clientLink(c.clients[client].index, c.server(name).name)]
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
		return nemesis.Evidence{Effective: by != 0 && (stepped-by).Abs() < clockDifference, Detail: map[string]string{
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
	unsure := c.Now() - since
	if err := n.setClock("set", "--rate", strconv.FormatFloat(rate, 'f', 6, 64)); err != nil {
		return nil, err
	}
	return func() (nemesis.Evidence, error) {
		ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
		defer cancel()
		asked := c.Now()
		after, err := n.time(ctx)
		if err != nil {
			return nemesis.Evidence{}, err
		}
		drift := after.Sub(before) - (c.Now() - since)
		unsure += c.Now() - asked
		err = n.setClock("set", "--rate", "1")
		return nemesis.Evidence{Effective: drift.Abs() > unsure+time.Millisecond, Detail: map[string]string{
			"drift": drift.Round(time.Millisecond).String(), "give_or_take": unsure.Round(time.Microsecond).String(),
		}}, err
	}, nil
}
