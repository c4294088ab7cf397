// Package runner runs one plan on one testbed: clients take their steps, the nemesis strikes, everything is recorded, and
// the checkers judge the record. Decisions are made before the run (the plan) or after it (the verdicts), not during it.
package runner

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
)

// Plan is one run before it happens. A pure value: the same plan on the sim testbed gives the same history.
type Plan struct {
	Lock     locks.Entry
	Scenario *scenarios.Scenario
	Fencing  bool
	Seed     uint64
	Speed    float64 // divides every duration; 0 stands for 1
}

// Key names the plan everywhere: redlock/pause-after-acquire/fenced#42.
func (p Plan) Key() string {
	return fmt.Sprintf("%s/%s/%s#%d", p.Lock.Name, p.Scenario.Name, fencingWord(p.Fencing), p.Seed)
}

func fencingWord(on bool) string {
	if on {
		return "fenced"
	}
	return "unfenced"
}

// expanded is the scenario as it runs, or why it cannot.
func (p Plan) expanded() (*scenarios.Scenario, error) {
	if p.Fencing && !p.Lock.Fences {
		return nil, fmt.Errorf("%w: %s has no source of fences", nemesis.ErrUnsupported, p.Lock.Name)
	}
	s, err := p.Scenario.Expand(p.Seed, nemesis.Place{
		Nodes:      p.Lock.Servers.Names(),
		Replicated: p.Lock.Servers == locks.PrimaryAndReplica,
		Consensus:  p.Lock.Servers == locks.ConsensusService,
	})
	if err != nil || p.Speed == 0 || p.Speed == 1 {
		return s, err
	}
	return s.Scaled(p.Speed), nil
}

func (p Plan) begin(s *scenarios.Scenario, testbed string) history.Plan {
	return history.Plan{
		Lock: p.Lock.Name, Scenario: p.Scenario.Name, Testbed: testbed, Seed: p.Seed, Fencing: p.Fencing,
		TTL: s.TTL, Nodes: len(p.Lock.Servers.Names()),
	}
}

// Random is the only source of randomness of one client.
func Random(seed uint64, client string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(client))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
