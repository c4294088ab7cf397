package sim

import (
	"testing"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

func BenchmarkSchedule(b *testing.B) {
	s, err := scenarios.Find("A1")
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range locks.All {
		b.Run(l.Name, func(b *testing.B) {
			events := 0
			for i := range b.N {
				o, err := runner.Run(Testbed{}, runner.Plan{Lock: l, Scenario: s, Fencing: l.Fences, Seed: uint64(i)}, nil)
				if err != nil || o.Err != nil {
					b.Fatal(err, o.Err)
				}
				events += len(o.Events)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
		})
	}
}
