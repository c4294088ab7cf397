package main

import (
	"fmt"
	"time"

	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// What a machine can still time in real time. A lock's time-out for a node is a two-hundredth of its lease; a process shows
// its life every two milliseconds, and a timer is about one late.
const (
	shortestLease = 500 * time.Millisecond
	shortestStep  = 2 * time.Millisecond
)

// timed is a duration of a scenario, and the least that it may be scaled to.
type timed struct {
	what  string
	lasts time.Duration
	least time.Duration
}

// checkSpeed refuses what the machine cannot time.
func checkSpeed(plans []runner.Plan) error {
	for _, p := range plans {
		for _, d := range durations(p.Scenario) {
			most := float64(d.lasts) / float64(d.least)
			if p.Speed > most {
				return usagef("--speed %v: %s of %s would take %v; on containers it needs %v, so the greatest speed is %.3g",
					p.Speed, d.what, p.Scenario.Name, time.Duration(float64(d.lasts)/p.Speed), d.least, most)
			}
		}
	}
	return nil
}

// durations are those that somebody chose; what Random draws may come out as short as it will.
func durations(s *scenarios.Scenario) []timed {
	all := []timed{{"the lease", s.TTL, shortestLease}}
	add := func(d time.Duration, what string, args ...any) {
		if d > 0 {
			all = append(all, timed{fmt.Sprintf(what, args...), d, shortestStep})
		}
	}
	for _, c := range s.Clients {
		for _, step := range c.Steps {
			add(step.For, "%s's %s", c.Name, step.Op)
			add(step.When.At, "the time before %s's %s", c.Name, step.Op)
		}
	}
	for _, step := range s.Faults {
		kind, subject := step.Fault.Kind(), step.Fault.Subject()
		add(step.For, "the %s of %s", kind, subject)
		add(step.When.At, "the time before the %s of %s", kind, subject)
		if d, ok := step.Fault.(nemesis.Disturb); ok {
			add(d.How.Delay, "the delay of %s", subject)
		}
	}
	return all
}
