package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// prepare makes everything as new.
func (t *Testbed) prepare(ctx context.Context, setup runner.Setup) error {
	if err := t.toxiproxy.reset(); err != nil {
		return err
	}
	if t.deposed {
		if err := t.forget(ctx); err != nil {
			return err
		}
	}
	err := together(redisNames, func(name string) error {
		n := t.nodes[name]
		n.watch.listenTo(nil)
		if n.down.Load() {
			if err := n.restart(ctx, true); err != nil {
				return err
			}
			n.down.Store(false)
		}
		if n.watch.hasEnded() { // a Sentinel ends all connections of a server that it promotes or demotes
			if err := n.watch.connect(ctx); err != nil {
				return err
			}
		}
		if err := n.resetClock(ctx); err != nil {
			return err
		}
		return n.awaitAlone(ctx)
	})
	if err != nil {
		return err
	}
	if err := t.lead(ctx, setup.Faults); err != nil {
		return err
	}
	if err := together(redisNames, func(name string) error { return t.nodes[name].empty(ctx) }); err != nil {
		return err
	}
	first := setup.Data.Do(scenarios.Request{Op: history.Read}, func(scenarios.Response) {})
	return t.db.create(ctx, t.runs, setup.Data, first.Value)
}

// replicate has the replica follow the primary, and waits until it does.
func (t *Testbed) replicate(ctx context.Context) error {
	primary, replica := t.nodes[nemesis.Primary], t.nodes[nemesis.Replica]
	if role, err := primary.info(ctx, "replication", "role"); err != nil {
		return err
	} else if role != "master" {
		if err := primary.command.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
			return fmt.Errorf("have the primary lead: %w", err)
		}
	}
	if role, err := replica.info(ctx, "replication", "role"); err != nil {
		return err
	} else if role != "slave" {
		if err := replica.command.ReplicaOf(ctx, t.toxiproxy.ip, fmt.Sprint(replicationPort)).Err(); err != nil {
			return fmt.Errorf("have the replica follow: %w", err)
		}
	}
	err := until(ctx, "the replica does not follow", func() (bool, error) {
		up, err := replica.info(ctx, "replication", "master_link_status")
		return up == "up", err
	})
	if err != nil {
		return err
	}
	if err := primary.command.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("empty the primary: %w", err)
	}
	return t.inSync(ctx)
}

// inSync waits until the replica has all that the primary has.
func (t *Testbed) inSync(ctx context.Context) error {
	return until(ctx, "the replica does not catch up", func() (bool, error) {
		sent, err := t.nodes[nemesis.Primary].offset(ctx, "master_repl_offset")
		if err != nil {
			return false, err
		}
		got, err := t.nodes[nemesis.Replica].offset(ctx, "slave_repl_offset")
		return got >= sent, err
	})
}

// until looks again and again whether something has come about. Who asks has no other means to learn of it.
func until(ctx context.Context, failure string, come func() (bool, error)) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		is, err := come()
		if is && err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: %w", failure, context.Cause(ctx)), err)
		}
	}
}

// clockDifference is the most by which a node's clock may differ from the machine's.
const clockDifference = 20 * time.Millisecond

// resetClock makes the node's clock the machine's, and proves it.
func (n *node) resetClock(ctx context.Context) error {
	if err := n.setClock("reset"); err != nil {
		return err
	}
	return until(ctx, n.name+" does not show the machine's time", func() (bool, error) {
		before := time.Now()
		at, err := n.time(ctx)
		return err == nil && at.After(before.Add(-clockDifference)) && at.Before(time.Now().Add(clockDifference)), err
	})
}

// awaitAlone waits until the connections of earlier clients are gone, with all that they carried.
func (n *node) awaitAlone(ctx context.Context) error {
	return until(ctx, "connections of an earlier run to "+n.name+" do not end", func() (bool, error) {
		list, err := n.command.ClientList(ctx).Result()
		return err == nil && !strings.Contains(list, "name="+clientPrefix), err
	})
}

// empty removes every key, and proves it.
func (n *node) empty(ctx context.Context) error {
	if n.name != nemesis.Replica {
		if err := n.command.FlushAll(ctx).Err(); err != nil {
			return fmt.Errorf("empty %s: %w", n.name, err)
		}
	}
	return until(ctx, n.name+" does not become empty", func() (bool, error) {
		keys, err := n.command.DBSize(ctx).Result()
		return err == nil && keys == 0, err
	})
}
