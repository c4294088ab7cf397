package docker

import (
	"context"
	"fmt"
	"strconv"
	"time"

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
// stood still from the beginning to the end, the gap in its own heartbeats, and steps or an operation that had to wait.
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
	if x.busy() {
		waited--
	}
	return func() (nemesis.Evidence, error) {
		still := x.isDead() || isStopped(pid) && x.board.beat.Load() == beat
		stood := c.Now() - since
		gap := stood
		if x.last() && !x.isDead() {
			if err := resume(pid); err != nil {
				return nemesis.Evidence{}, fmt.Errorf("let client %s go on: %w", name, err)
			}
			if next, err := x.nextBeat(beat); err != nil {
				return nemesis.Evidence{}, err
			} else if next > 0 {
				gap = time.Duration(next - beat)
			}
		}
		held := x.reopen() - waited
		return nemesis.Evidence{Effective: still && held > 0, Detail: map[string]string{
			"stood_still": stood.String(), "heartbeat_gap": gap.String(), "stopped_by_kernel": strconv.FormatBool(still), "held_back": strconv.Itoa(held),
		}}, nil
	}, nil
}

// nextBeat waits for a heartbeat after one. It is 0 if the process has ended.
func (c *client) nextBeat(last int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	var next int64
	err := until(ctx, "the process of client "+c.name+" does not go on", func() (bool, error) {
		select {
		case <-c.ended:
			return true, nil
		default:
		}
		next = c.board.beat.Load()
		return next != last, nil
	})
	if next == last {
		next = 0
	}
	return next, err
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
		x.lookUp()
		held := x.board.held.Load() - before
		return nemesis.Evidence{Effective: held > 0, Detail: map[string]string{
			"stalled_for": (c.Now() - since).String(), "calls_held": strconv.FormatInt(held, 10),
		}}, nil
	}, nil
}

// cutFor is the latency that stands for a cut: longer than any run. Toxiproxy gives on what a latency toxic holds when
// the toxic is removed.
const cutFor = 24 * time.Hour
