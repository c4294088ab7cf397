package scenarios

import (
	"math/rand/v2"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// Random is a workload drawn from the seed: clients that go through sections, while faults strike.
type Random struct {
	Clients  int      // 1 to 26, named A, B, ...
	Sections int      // of each client
	Faults   int      // how many strike
	Kinds    []string // of faults, as nemesis.RandomKinds lists them
}

// draw is a pure function of its arguments.
func (r *Random) draw(seed uint64, ttl time.Duration, nodes []string) ([]Client, nemesis.Schedule) {
	rng := rand.New(rand.NewPCG(seed, 0x5ec7104))
	fraction := func(least, most float64) time.Duration {
		return time.Duration((least + (most-least)*rng.Float64()) * float64(ttl)).Round(time.Millisecond)
	}
	var clients []Client
	var names []string
	for i := range r.Clients {
		c := Client{Name: string(rune('A' + i))}
		names = append(names, c.Name)
		for range r.Sections {
			c.Steps = append(c.Steps,
				Step{Op: Work, For: fraction(0, 0.3)},
				Step{Op: history.Acquire, For: DefaultWait * ttl},
				Step{Op: history.Read, For: defaultTimeout(ttl)},
				Step{Op: Work, For: fraction(0.01, 0.6)},
				Step{Op: history.Write, For: defaultTimeout(ttl)},
				Step{Op: history.Release, For: defaultTimeout(ttl)})
		}
		clients = append(clients, c)
	}
	span := time.Duration(r.Clients*r.Sections) * ttl / 3
	return clients, nemesis.Random(rng, nemesis.Shape{
		Clients: names, Nodes: nodes, Kinds: r.Kinds, Count: r.Faults, Span: span, TTL: ttl,
	})
}
