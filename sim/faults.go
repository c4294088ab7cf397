package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

var _ nemesis.Target = (*Cluster)(nil)

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", nemesis.ErrUnsupported, fmt.Sprintf(format, args...))
}

func (c *Cluster) client(name string) (*client, error) {
	x, ok := c.clients[name]
	if !ok {
		return nil, unsupported("no client %q", name)
	}
	return x, nil
}

func (c *Cluster) server(name string) (lockServer, error) {
	if s := c.behind("", name); s != nil {
		return s, nil
	}
	return nil, unsupported("this lock has no server %q", name)
}

// Pause implements nemesis.Target. Evidence: steps and messages that had to wait.
func (c *Cluster) Pause(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	return c.shut(x.process), nil
}

// Stall implements nemesis.Target. Evidence: messages of the lock that had to wait.
func (c *Cluster) Stall(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	return c.shut(x.lock), nil
}

func (c *Cluster) shut(g *gate) nemesis.Heal {
	since, before := c.Now(), g.held()
	g.shut()
	return func() (nemesis.Evidence, error) {
		g.reopen()
		held := g.held() - before
		return nemesis.Evidence{Effective: held > 0, Detail: map[string]string{
			"stood_still": (c.Now() - since).String(),
			"held_back":   strconv.Itoa(held),
		}}, nil
	}
}

// Kill implements nemesis.Target. Evidence: the client was alive, and its connections ended.
func (c *Cluster) Kill(name string) (nemesis.Heal, error) {
	x, err := c.client(name)
	if err != nil {
		return nil, err
	}
	alive := !x.process.isKilled()
	x.process.kill()
	x.lock.kill()
	ended := 0
	c.net.mu.Lock()
	for _, node := range append(slices.Clone(c.nodes), nemesis.Resource) {
		l := c.net.links[nemesis.Link{From: name, To: node}]
		for p := range l.pipes {
			ended++
			if !p.there.done && p.there.broken == nil {
				p.there.done = true
				p.there.lane.send(p.there, segment{fin: true}) // after what is under way
			}
			p.back.broken = errKilled
			p.back.signal()
		}
	}
	c.net.mu.Unlock()
	return func() (nemesis.Evidence, error) {
		return nemesis.Evidence{Effective: alive, Detail: map[string]string{"connections_ended": strconv.Itoa(ended)}}, nil
	}, nil
}

// Disturb implements nemesis.Target. Evidence: bytes and connection attempts that were held or lost, messages delayed.
func (c *Cluster) Disturb(links []nemesis.Link, how nemesis.Disturbance) (nemesis.Heal, error) {
	struck, err := c.find(links)
	if err != nil {
		return nil, err
	}
	d := &disturbance{how: how}
	c.strike(struck, d)
	return func() (nemesis.Evidence, error) {
		c.lift(struck, d)
		return d.evidence(), nil
	}, nil
}

// find returns the links of these names.
func (c *Cluster) find(links []nemesis.Link) (struck []*link, err error) {
	for _, name := range links {
		l, ok := c.net.links[name]
		if !ok {
			return nil, unsupported("no link %v", name)
		}
		struck = append(struck, l)
	}
	return struck, nil
}

func (c *Cluster) strike(links []*link, d *disturbance) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, l := range links {
		for _, way := range l.lanes(d.how.Direction) {
			way.disturbances = append(way.disturbances, d)
		}
	}
}

func (c *Cluster) lift(links []*link, d *disturbance) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, l := range links {
		for _, way := range l.lanes(d.how.Direction) {
			way.heal(d, l.pipes)
		}
	}
}

// Reset implements nemesis.Target. Evidence: connections that were reset, and those that could not be made.
func (c *Cluster) Reset(links []nemesis.Link, way nemesis.Direction, after int64) (nemesis.Heal, error) {
	struck, err := c.find(links)
	if err != nil {
		return nil, err
	}
	d := &disturbance{how: nemesis.Disturbance{Direction: way}, reset: true, after: after}
	c.strike(struck, d)
	return func() (nemesis.Evidence, error) {
		c.lift(struck, d)
		return nemesis.Evidence{Effective: d.resets+d.dials > 0, Detail: map[string]string{
			"connections_reset": strconv.Itoa(d.resets), "dials_reset": strconv.Itoa(d.dials),
		}}, nil
	}, nil
}

func (d *disturbance) evidence() nemesis.Evidence {
	if d.how.Cut || d.how.Drop {
		what := "bytes_lost"
		if d.how.Cut {
			what = "bytes_held"
		}
		return nemesis.Evidence{Effective: d.bytes+d.dials > 0, Detail: map[string]string{
			what: strconv.Itoa(d.bytes), "dials_blocked": strconv.Itoa(d.dials),
		}}
	}
	detail := map[string]string{"messages_delayed": strconv.Itoa(d.delayed), "longest_added_delay": d.longestAddedBy.String()}
	if d.how.PerKB > 0 {
		detail["bytes_slowed"] = strconv.Itoa(d.bytes)
	}
	return nemesis.Evidence{Effective: d.delayed > 0 && d.longestAddedBy > 0, Detail: detail}
}

// CrashNode implements nemesis.Target. Evidence: connections reset, connections refused, keys lost, and, of a
// consensus service, requests committed without the member.
func (c *Cluster) CrashNode(name string, keep nemesis.Survival, unsynced time.Duration) (nemesis.Heal, error) {
	s, err := c.server(name)
	if err != nil {
		return nil, err
	}
	crashed, refused := time.Now(), s.dialsRefused()
	s.crash()
	reset := c.resetConnections(name, c.names)
	return func() (nemesis.Evidence, error) {
		lost, missed := s.restart(keep, crashed, unsynced)
		refused = s.dialsRefused() - refused
		return nemesis.Evidence{Effective: reset+refused+lost+missed > 0, Detail: map[string]string{
			"connections_reset": strconv.Itoa(reset), "dials_refused": strconv.Itoa(refused),
			"keys_lost": strconv.Itoa(lost), "commits_missed": strconv.Itoa(missed),
		}}, nil
	}, nil
}

// resetConnections ends what the clients have open with a server.
func (c *Cluster) resetConnections(name string, clients []string) (reset int) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, client := range clients {
		l := c.net.links[nemesis.Link{From: client, To: name}]
		if l == nil {
			continue
		}
		for p := range l.pipes {
			p.reset()
			reset++
		}
	}
	return reset
}

// StepClock implements nemesis.Target. Evidence: the wall clock before and after.
func (c *Cluster) StepClock(name string, by time.Duration) (nemesis.Heal, error) {
	s, err := c.server(name)
	if err != nil {
		return nil, err
	}
	before, after := s.stepClock(by)
	return func() (nemesis.Evidence, error) {
		return nemesis.Evidence{Effective: !after.Equal(before), Detail: map[string]string{
			"clock_before": before.UTC().Format(time.StampMilli), "clock_after": after.UTC().Format(time.StampMilli),
			"stepped": after.Sub(before).String(),
		}}, nil
	}, nil
}

// SetClockRate implements nemesis.Target. Evidence: how far the wall clock and time drifted apart meanwhile.
func (c *Cluster) SetClockRate(name string, rate float64) (nemesis.Heal, error) {
	s, err := c.server(name)
	if err != nil {
		return nil, err
	}
	since, wall := time.Now(), s.setRate(rate)
	return func() (nemesis.Evidence, error) {
		drift := s.setRate(1).Sub(wall) - time.Since(since)
		return nemesis.Evidence{Effective: drift != 0, Detail: map[string]string{"drift": drift.String()}}, nil
	}, nil
}
