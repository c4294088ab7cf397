package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockfault/lockfault/locks"
)

// guilty is a good lock on one node with one sin, such as reviewers let pass.
type guilty struct {
	locks.Lock
	env    Env
	client *redis.Client
	sin    string
}

// newGuilty builds on a lock that does not undo an attempt whose reply was lost, and is innocent as long as it says so.
func newGuilty(t *testing.T, sin string) New {
	base := find(t, "single-getdel")
	return func(env Env) (locks.Lock, error) {
		lock, err := base.New(env)
		return &guilty{lock, env, env.Connect(env.Nodes[0], time.Second), sin}, err
	}
}

func (g *guilty) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	if g.sin == "asks again after a lost reply" {
		return g.env.Poll(ctx, resource, g.ask(resource))
	}
	lease, err := g.Lock.Acquire(ctx, resource)
	switch {
	case g.sin == "takes a lost reply for a no" && err != nil:
		return nil, fmt.Errorf("%w: %w", locks.ErrNotAcquired, err)
	case g.sin == "counts from the reply" && err == nil:
		lease.SetUntil(time.Now().Add(g.env.TTL))
	case g.sin == "mints a fence unasked" && err == nil:
		lease.Fence = 1
	}
	return lease, err
}

// ask is one attempt. It takes every error for a refusal, and the key that it left behind for someone else's.
func (g *guilty) ask(resource string) func(context.Context) (*locks.Lease, error) {
	return func(ctx context.Context) (*locks.Lease, error) {
		token, sent := fmt.Sprint(g.env.Rand.Uint64()), time.Now()
		granted, err := g.client.SetNX(ctx, locks.Key(resource), token, g.env.TTL).Result()
		if err != nil || !granted {
			return nil, locks.ErrNotAcquired
		}
		return locks.NewLease(resource, token, 0, sent.Add(g.env.TTL)), nil
	}
}

const revive = `
local value = redis.call('get', KEYS[1])
if not value or value == ARGV[1] then
	redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
	return 1
end
return 0`

func (g *guilty) Extend(ctx context.Context, lease *locks.Lease) error {
	sent := time.Now()
	switch g.sin {
	case "cannot extend":
		return locks.ErrUnsupported
	case "moves Until before it extends":
		lease.SetUntil(sent.Add(g.env.TTL))
	case "revives", "revives what had a successor":
		if g.sin == "revives" || strings.Contains(lease.Resource, "released") {
			return g.revive(ctx, lease)
		}
	}
	err := g.Lock.Extend(ctx, lease)
	switch {
	case g.sin == "says that it extended" && errors.Is(err, locks.ErrNotHeld):
		return nil
	case g.sin == "counts from the extension's reply" && err == nil:
		lease.SetUntil(time.Now().Add(g.env.TTL))
	}
	return err
}

func (g *guilty) revive(ctx context.Context, lease *locks.Lease) error {
	sent := time.Now()
	done, err := g.client.Eval(ctx, revive, []string{locks.Key(lease.Resource)}, lease.Token, g.env.TTL.Milliseconds()).Int()
	if err == nil && done == 0 {
		err = locks.ErrNotHeld
	}
	if err == nil {
		lease.SetUntil(sent.Add(g.env.TTL))
	}
	return err
}

func (g *guilty) Close() error { return errors.Join(g.Lock.Close(), g.client.Close()) }

// TestTheGuiltyBreakTheirLaw, and no other.
func TestTheGuiltyBreakTheirLaw(t *testing.T) {
	for _, one := range []struct {
		sin  string
		want map[string]string // what is said, by law
	}{
		{"", nil},
		{"cannot extend", nil},
		{"revives", map[string]string{"late-extend": "when nobody else had it, took the lock again"}},
		{"revives what had a successor", map[string]string{"late-extend": "when B had it and released it, took the lock again"}},
		{"moves Until before it extends", map[string]string{"late-extend": "yet moved the lease's Until"}},
		{"says that it extended", map[string]string{
			"late-extend":   "although nothing was extended",
			"foreign-lease": "B's extend with a token that is nobody's returned nil",
		}},
		{"counts from the reply", map[string]string{"until": "A's acquire returned a lease that ends 10s from then"}},
		{"counts from the extension's reply", map[string]string{"until": "A's extend returned a lease that ends 10s from then"}},
		{"takes a lost reply for a no", map[string]string{"certain-no": "said that it certainly did not get the lock, yet holds its key"}},
		{"asks again after a lost reply", map[string]string{"certain-no": "said that it certainly did not get the lock, yet holds its key"}},
		{"mints a fence unasked", map[string]string{"fence": "the lock returned fence 1 though env.Fencing is false: give NewLease 0 then"}},
	} {
		t.Run(one.sin, func(t *testing.T) {
			s := newSettings("T", newGuilty(t, one.sin), nil)
			for _, l := range laws {
				err := s.keep(l, false)
				if errors.Is(err, locks.ErrUnsupported) {
					err = nil
				}
				want, broken := one.want[l.name]
				if (err != nil) != broken || broken && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", l.name, err, want)
				}
			}
		})
	}
}

// TestCertainNoCatchesBothWays of losing a reply: one hides from a law that knows the other only.
func TestCertainNoCatchesBothWays(t *testing.T) {
	s := newSettings("T", newGuilty(t, "asks again after a lost reply"), nil)
	for _, healed := range []bool{false, true} {
		err := s.onBench(2, false, func(b *bench) error { return b.loseReplies("r", healed) })
		if err == nil || !strings.Contains(err.Error(), "yet holds its key") {
			t.Errorf("healed %v: %v", healed, err)
		}
	}
}

// TestEveryReplyThatALockWaitsForIsTried: a Redlock is not asked for more patience than it has, nor let off with less.
func TestEveryReplyThatALockWaitsForIsTried(t *testing.T) {
	for name, want := range map[string][]bool{"single": {true, true, true, true}, "redlock": {true, false, false, false}} {
		e := find(t, name)
		s := newSettings("T", e.New, []Option{On(e.Servers)})
		var got []bool
		for _, part := range slowness {
			if err := s.onBench(1, false, func(b *bench) error {
				granted, err := b.untilWhenSlow("r", b.ttl/part)
				got = append(got, granted)
				return err
			}); err != nil {
				t.Errorf("%s, a reply that takes 1/%d of a TTL: %v", name, part, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s was granted %v, want %v", name, got, want)
		}
	}
}

// unaskedVariable has TestUnasked run, with the contract or without.
const unaskedVariable = "LOCKTEST_TEST_UNASKED"

// TestUnasked is what the next test runs, in a process of its own.
func TestUnasked(t *testing.T) {
	switch os.Getenv(unaskedVariable) {
	case "all":
		Run(t, newGuilty(t, "mints a fence unasked"))
	case "some":
		Run(t, newGuilty(t, "mints a fence unasked"), Scenarios("N1", "N2"))
	default:
		t.Skip("part of the next test")
	}
}

// TestAFenceUnaskedFailsOnce, and not in each scenario.
func TestAFenceUnaskedFailsOnce(t *testing.T) {
	for of, skipped := range map[string]bool{"all": true, "some": false} {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnasked$", "-test.v", "-test.short")
		c.Env = append(os.Environ(), unaskedVariable+"="+of)
		out, _ := c.CombinedOutput()
		const says = "the lock returned fence 1 though env.Fencing is false: give NewLease 0 then"
		failed := strings.Count(string(out), "violated:  "+says) + strings.Count(string(out), "locktest: "+says)
		if c.ProcessState.ExitCode() != 1 || failed != 1 || strings.Contains(string(out), "enforcement") {
			t.Errorf("%s: fails %d times, exit status %d:\n%s", of, failed, c.ProcessState.ExitCode(), out)
		}
		if strings.Contains(string(out), "not run: "+says) != skipped {
			t.Errorf("%s: scenarios skipped? want %v\n%s", of, skipped, out)
		}
	}
}
