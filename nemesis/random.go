package nemesis

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Shape says what a random schedule may strike.
type Shape struct {
	Clients []string      // at least one
	Nodes   []string      // may be empty: then nothing is drawn that strikes a lock server
	Kinds   []string      // of RandomKinds; one that occurs twice is drawn twice as often
	Count   int           // of faults
	Span    time.Duration // faults begin within it; positive
	TTL     time.Duration // faults last 0.1 to 2.1 of it, clocks step by at most one; positive
}

// RandomKinds are the kinds of faults that Random can draw.
var RandomKinds = []string{"pause", "stall", "cut", "drop", "delay", "crash", "clock-step"}

// needsNode are the kinds that strike a lock server.
var needsNode = []string{"stall", "crash", "clock-step"}

// Random draws a schedule, in order of time, to the millisecond. It is a pure function of the state of rng and the shape,
// and panics on a kind that is none of RandomKinds.
func Random(rng *rand.Rand, s Shape) Schedule {
	kinds := slices.Clone(s.Kinds)
	if len(s.Nodes) == 0 {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return slices.Contains(needsNode, k) })
	}
	if len(kinds) == 0 {
		return nil
	}
	var schedule Schedule
	upTo := func(d time.Duration) time.Duration {
		return time.Duration(rng.Int64N(max(int64(d), 1))).Round(time.Millisecond)
	}
	for range s.Count {
		step := Step{
			Fault: s.fault(rng, kinds[rng.IntN(len(kinds))], upTo),
			When:  Trigger{At: upTo(s.Span)},
			For:   s.TTL/10 + upTo(2*s.TTL),
			// It may strike where nothing happens.
			Optional: true,
		}
		if _, once := step.Fault.(ClockStep); once {
			step.For = 0
		}
		schedule = append(schedule, step)
	}
	slices.SortStableFunc(schedule, func(a, b Step) int { return cmp.Compare(a.When.At, b.When.At) })
	return schedule
}

func (s Shape) fault(rng *rand.Rand, kind string, upTo func(time.Duration) time.Duration) Fault {
	client := s.Clients[rng.IntN(len(s.Clients))]
	node := Resource
	if len(s.Nodes) > 0 {
		node = s.Nodes[rng.IntN(len(s.Nodes))]
	}
	switch kind {
	case "pause":
		return Pause{client}
	case "stall":
		return Stall{client}
	case "crash":
		return Crash{Node: node}
	case "clock-step":
		return ClockStep{Node: node, By: upTo(2*s.TTL) - s.TTL}
	case "cut", "drop", "delay":
		to := node
		if rng.IntN(3) == 0 {
			to = Resource
		}
		how := Disturbance{Direction: Direction(rng.IntN(3)), Cut: kind == "cut", Drop: kind == "drop"}
		if kind == "delay" {
			how.Delay, how.Jitter = max(upTo(s.TTL/20), time.Millisecond), s.TTL/100
		}
		return Disturb{Links: []Link{{client, to}}, How: how}
	default:
		panic("nemesis: no random fault is a " + kind)
	}
}
