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
	Sections int      // of each client, 1 to 10,000
	Faults   int      // how many strike, 0 to 10,000
	Kinds    []string // of faults, as nemesis.RandomKinds lists them; not empty
}

func (r *reader) random(s *Scenario, f field) *Random {
	random := &Random{Clients: 3, Sections: 5, Faults: 4, Kinds: nemesis.RandomKinds}
	for _, k := range r.fields(f.value, f.key, "sections: 5", "clients", "sections", "faults", "kinds") {
		switch k.key {
		case "clients":
			random.Clients = int(r.number(k, 1, 26))
		case "sections":
			random.Sections = int(r.number(k, 1, 10_000))
		case "faults":
			random.Faults = int(r.number(k, 0, 10_000))
		case "kinds":
			random.Kinds = r.someOf(k, nemesis.RandomKinds)
		}
	}
	if r.err == nil && float64(random.Clients)*float64(random.Sections)*float64(s.TTL) > float64(longest) {
		r.fail(f.at, "random: %d sections of %d clients take longer than %v; want fewer, or a shorter ttl",
			random.Sections, random.Clients, longest)
	}
	return random
}

// span is about how long all sections take, one after the other.
func (r *Random) span(ttl time.Duration) time.Duration {
	return time.Duration(r.Clients*r.Sections) * ttl / 3
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
				Step{Op: history.Acquire, For: defaultWait * ttl},
				Step{Op: history.Read, For: defaultTimeout(ttl)},
				Step{Op: Work, For: fraction(0.01, 0.6)},
				Step{Op: history.Write, For: defaultTimeout(ttl)},
				Step{Op: history.Release, For: defaultTimeout(ttl)})
		}
		clients = append(clients, c)
	}
	return clients, nemesis.Random(rng, nemesis.Shape{
		Clients: names, Nodes: nodes, Kinds: r.Kinds, Count: r.Faults, Span: r.span(ttl), TTL: ttl,
	})
}
