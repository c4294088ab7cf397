package docker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// nobody observes.
type nobody struct{}

func (nobody) Event(history.Event)           {}
func (nobody) Answered(string, string, bool) {}

const costTTL = 10 * time.Second

// BenchmarkCost is what the harness adds to one acquire and release of the simplest lock: straight to its server, through
// Toxiproxy, and as a client's process does it, through Toxiproxy and told step by step. All three use the same server.
func BenchmarkCost(b *testing.B) {
	bed := testbed(b)
	entry, err := locks.Find("single")
	if err != nil {
		b.Fatal(err)
	}
	var direct time.Duration // for one acquire and release
	for _, way := range []struct {
		name string
		open func(b *testing.B) (section func() error)
	}{
		{"direct", func(b *testing.B) func() error { return inProcess(b, entry, bed.nodes["n1"].ip+":6379") }},
		{"toxiproxy", func(b *testing.B) func() error {
			return inProcess(b, entry, bed.toxiproxy.links[clientLink(0, "n1")].addr)
		}},
		{"worker+toxiproxy", func(b *testing.B) func() error { return asProcess(b, entry, bed) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			section := way.open(b)
			for range 10 { // connections, caches
				if err := section(); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			for b.Loop() {
				if err := section(); err != nil {
					b.Fatal(err)
				}
			}
			took := b.Elapsed() / time.Duration(b.N)
			if way.name == "direct" {
				direct = took
			}
			if direct > 0 {
				b.ReportMetric(float64(took)/float64(direct), "x-direct")
			}
		})
	}
}

func inProcess(b *testing.B, entry locks.Entry, addr string) func() error {
	lock, err := entry.New(locks.Env{Client: "A", Nodes: []string{addr}, TTL: costTTL, Rand: runner.Random(1, "A")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = lock.Close() })
	return func() error {
		lease, err := lock.Acquire(context.Background(), "cost")
		if err != nil {
			return err
		}
		return lock.Release(context.Background(), lease)
	}
}

func asProcess(b *testing.B, entry locks.Entry, bed *Testbed) func() error {
	c, err := bed.newCluster(runner.Setup{
		Seed: 1, Servers: entry.Servers, Clients: []string{"A"}, Observer: nobody{}, TTL: costTTL, Resource: "cost",
		Data: new(scenarios.Scenario).NewData(false), Faults: nemesis.Schedule{},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.close)
	c.begin()
	hands, err := c.Hands(runner.HandsConfig{
		Client: "A", Resource: "cost", Lock: entry, Seed: 1, Env: locks.Env{Client: "A", TTL: costTTL}, Now: c.Now,
		Lost: func(string, time.Duration) {},
	})
	if err != nil {
		b.Fatal(err)
	}
	return func() error {
		for _, op := range []history.Op{history.Acquire, history.Release} {
			done := hands.Do(runner.Command{Op: op, Lease: "A/1", For: costTTL})
			if done.Type != history.Ok {
				return fmt.Errorf("%s: %v %s %s", op, done.Type, done.Error, done.Broken)
			}
		}
		return nil
	}
}
