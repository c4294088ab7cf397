package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// strain watches whether the machine keeps up with a run: whether each client's process runs, and whether each server
// answers, as promptly as the plan takes for granted. A run in which they did not shows what the machine did and not what
// the lock does; it is an error of the harness and never a verdict.
type strain struct {
	cluster  *cluster
	limit    time.Duration
	fraction int // of the TTL
	stop     context.CancelFunc
	looking  sync.WaitGroup

	mu   sync.Mutex
	what string // the worst so far
	took time.Duration
}

// ErrStrained is wrapped by errors that say that the machine did not keep up with a run.
var ErrStrained = errors.New("the machine was too busy for this run")

// What may take how long that ought to take no time: a fraction of the TTL. A lock on five nodes gives each of them a
// two-hundredth only, so that it is sooner thrown off its course.
const (
	strainFraction      = 20
	strainFractionOfOne = 50 // with five nodes
)

const (
	lookEvery = 5 * time.Millisecond
	askEvery  = 40 * time.Millisecond
)

func watchStrain(c *cluster, ttl time.Duration) *strain {
	ctx, stop := context.WithCancel(context.Background())
	s := &strain{cluster: c, fraction: strainFraction, stop: stop}
	if c.setup.Servers == locks.FiveNodes {
		s.fraction = strainFractionOfOne
	}
	s.limit = ttl / time.Duration(s.fraction)
	s.looking.Go(func() { s.lookAtClients(ctx) })
	for name, n := range c.nodes {
		s.looking.Go(func() { s.askServer(ctx, name, n) })
	}
	return s
}

// lookAtClients looks at the heartbeats. Those of a client that stands still on purpose do not count.
func (s *strain) lookAtClients(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := monotonic()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := monotonic()
		s.note("the harness stood still", now-last)
		last = now
		for _, x := range s.cluster.clients {
			if since := x.runningSince(); since > 0 {
				beat := time.Duration(x.board.beat.Load())
				s.note("client "+x.name+" stood still by itself", monotonic()-max(beat, since))
			}
		}
	}
}

// askServer times answers on the harness's own link.
func (s *strain) askServer(ctx context.Context, name string, n *node) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		crashes := n.crashes.Load()
		if n.down.Load() {
			continue
		}
		asked := monotonic()
		err := n.command.Ping(ctx).Err()
		if err == nil && n.crashes.Load() == crashes {
			s.note(name+" did not answer", monotonic()-asked)
		}
	}
}

// promptly notes how long it took to inject a fault: until that is done, nothing else of the plan happens.
func (c *cluster) promptly(what string) (done func()) {
	began := monotonic()
	return func() { c.strain.note("the harness took to "+what, monotonic()-began) }
}

func (s *strain) note(what string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if took > s.took {
		s.what, s.took = what, took
	}
}

// end stops watching and says whether the machine kept up.
func (s *strain) end() error {
	s.stop()
	s.looking.Wait()
	if s.took <= s.limit {
		return nil
	}
	return fmt.Errorf("%w: %s for %v, where %v, a %dth of the lease, is the most; run it on an idle machine, or slower, as with --speed 2",
		ErrStrained, s.what, s.took.Round(time.Millisecond), s.limit, s.fraction)
}

// runningSince is since when, on the monotonic clock, the client has been running; 0 if it stands still or is dead.
func (c *client) runningSince() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return 0
	default:
	}
	if c.dead || c.shuts > 0 || c.closes.Load() {
		return 0
	}
	return c.resumed
}
