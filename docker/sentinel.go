package docker

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// sentinelNames are the Sentinels that watch the primary. They ask it at an address where a proxy stands, as they do the
// replica, so that both can be parted from them.
var sentinelNames = []string{"sentinel1", "sentinel2", "sentinel3"}

// How long a Sentinel waits for an answer until it takes a server for dead. Asleep, it only tells who leads: then nothing
// but the plan's own faults happens.
const (
	awake  = 500 * time.Millisecond
	asleep = 24 * time.Hour
)

const (
	sentinelPort   = "26379"
	sentinelQuorum = 2
)

// sentinel is one of them, seen from the harness.
type sentinel struct {
	name    string
	id      string // of the container
	addr    string // on the private network
	command *redis.SentinelClient
}

func (s *sentinel) open(harness string) {
	s.command = redis.NewSentinelClient(&redis.Options{
		Addr: harness, ClientName: harnessName, Protocol: 2, DisableIdentity: true,
	})
}

// eachSentinel does f for every Sentinel, all at once.
func (t *Testbed) eachSentinel(f func(s *sentinel) error) error {
	return together(sentinelNames, func(name string) error { return f(t.sentinels[name]) })
}

// forget makes the Sentinels leave the servers alone.
func (t *Testbed) forget(ctx context.Context) error {
	return t.eachSentinel(func(s *sentinel) error {
		if err := s.command.Remove(ctx, locks.SentinelName).Err(); err != nil && err.Error() != "ERR No such master with that name" {
			return fmt.Errorf("have %s forget the primary: %w", s.name, err)
		}
		return nil
	})
}

// watchOver has the Sentinels watch a server as the primary, as if for the first time.
func (t *Testbed) watchOver(ctx context.Context, leader string) error {
	host, port, err := net.SplitHostPort(t.toxiproxy.announced(leader))
	if err != nil {
		return err
	}
	return t.eachSentinel(func(s *sentinel) error {
		if err := s.command.Monitor(ctx, locks.SentinelName, host, port, strconv.Itoa(sentinelQuorum)).Err(); err != nil {
			return fmt.Errorf("have %s watch the %s: %w", s.name, leader, err)
		}
		return s.set(ctx, "failover-timeout", never)
	})
}

// never is after what time a Sentinel leads a replica that follows the primary by another address, as it does here, back to
// the one that the Sentinel knows; past the replication link, that is.
const never = 24 * time.Hour

func (s *sentinel) set(ctx context.Context, option string, d time.Duration) error {
	if err := s.command.Set(ctx, locks.SentinelName, option, strconv.FormatInt(d.Milliseconds(), 10)).Err(); err != nil {
		return fmt.Errorf("set %s of %s: %w", option, s.name, err)
	}
	return nil
}

// patience sets after what time the Sentinels take a server for dead.
func (t *Testbed) patience(ctx context.Context, d time.Duration) error {
	return t.eachSentinel(func(s *sentinel) error { return s.set(ctx, "down-after-milliseconds", d) })
}

// agree returns when every Sentinel knows the others and the replica, and thinks that all is well.
func (t *Testbed) agree(ctx context.Context) error {
	return t.eachSentinel(func(s *sentinel) error {
		return until(ctx, s.name+" does not find the others and the replica", func() (bool, error) {
			state, err := s.command.Master(ctx, locks.SentinelName).Result()
			if err != nil || state["flags"] != "master" || state["num-slaves"] != "1" ||
				state["num-other-sentinels"] != strconv.Itoa(len(sentinelNames)-1) {
				return false, err
			}
			replicas, err := s.command.Replicas(ctx, locks.SentinelName).Result()
			return err == nil && len(replicas) == 1 && replicas[0]["flags"] == "slave" && replicas[0]["master-link-status"] == "ok", err
		})
	})
}

// say returns when every Sentinel tells that a server leads.
func (t *Testbed) say(ctx context.Context, leader string) error {
	want := t.toxiproxy.announced(leader)
	return t.eachSentinel(func(s *sentinel) error {
		return until(ctx, s.name+" does not say that the "+leader+" leads", func() (bool, error) {
			at, err := s.command.GetMasterAddrByName(ctx, locks.SentinelName).Result()
			return err == nil && len(at) == 2 && net.JoinHostPort(at[0], at[1]) == want, err
		})
	})
}

// needsSentinels tells whether a plan has them promote the replica.
func needsSentinels(schedule nemesis.Schedule) bool {
	for _, step := range schedule {
		switch f := step.Fault.(type) {
		case nemesis.SplitBrain:
			return true
		case nemesis.Failover:
			if f.By == nemesis.BySentinel {
				return true
			}
		}
	}
	return false
}

// lead makes the primary lead and the replica follow it again, with Sentinels that know of nothing else.
func (t *Testbed) lead(ctx context.Context, schedule nemesis.Schedule) error {
	if err := t.replicate(ctx); err != nil {
		return err
	}
	if t.deposed {
		if err := t.watchOver(ctx, nemesis.Primary); err != nil {
			return err
		}
		t.deposed = false
	}
	if needsSentinels(schedule) {
		if err := t.patience(ctx, awake); err != nil {
			return err
		}
		if err := t.agree(ctx); err != nil {
			return err
		}
	} else if err := t.patience(ctx, asleep); err != nil {
		return err
	}
	return t.say(ctx, nemesis.Primary)
}
