package sim

import (
	"sync/atomic"
	"testing"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// counting is the testbed with a count of the commands that lock servers answer.
type counting struct {
	Testbed
	commands *atomic.Int64
}

type countingObserver struct {
	runner.Observer
	commands *atomic.Int64
}

func (o countingObserver) Answered(client, node string, wrote bool) {
	o.commands.Add(1)
	o.Observer.Answered(client, node, wrote)
}

func (c counting) Run(s runner.Setup, body func(runner.Cluster)) error {
	s.Observer = countingObserver{s.Observer, c.commands}
	return c.Testbed.Run(s, body)
}

// BenchmarkDirectedSchedules runs and judges the catalogue's directed schedules, every lock, fenced where it can be, on all
// processors.
func BenchmarkDirectedSchedules(b *testing.B) {
	var plans []runner.Plan
	for _, s := range catalogue(b) {
		if s.Random != nil {
			continue
		}
		for _, l := range locks.All {
			p := runner.Plan{Lock: l, Scenario: s, Fencing: l.Fences, Seed: 1}
			if o, _ := play(b, p); o.Unsupported == "" {
				plans = append(plans, p)
			}
		}
	}
	measure(b, plans)
}

// BenchmarkOneLock compares what a schedule costs on each kind of lock.
func BenchmarkOneLock(b *testing.B) {
	for _, name := range []string{"none", "single", "redlock", "consensus"} {
		for _, fencing := range []bool{false, true} {
			l := entry(b, name)
			if fencing && !l.Fences {
				continue
			}
			p := runner.Plan{Lock: l, Scenario: scenario(b, "A1"), Fencing: fencing}
			word := map[bool]string{false: "unfenced", true: "fenced"}[fencing]
			b.Run(name+"/"+word, func(b *testing.B) { measure(b, []runner.Plan{p}) })
		}
	}
}

func measure(b *testing.B, plans []runner.Plan) {
	var commands, next atomic.Int64
	bed := counting{commands: &commands}
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := next.Add(1) - 1
			p := plans[int(i)%len(plans)]
			p.Seed = uint64(i) // other delays each time
			if o, err := runner.Run(bed, p, nil); err != nil || o.Err != nil {
				b.Errorf("%s: %v %v", p.Key(), err, o.Err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
	b.ReportMetric(float64(commands.Load())/b.Elapsed().Seconds(), "commands/s")
}
