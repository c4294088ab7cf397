package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Shape says what a random schedule may strike.
type Shape struct {
	Clients []string
	Nodes   []string // may be empty
	Kinds   []string // of RandomKinds
	Count   int
	Span    time.Duration // faults begin within it
	TTL     time.Duration // faults last up to two of it
}

// RandomKinds are the kinds of faults that Random can draw.
var RandomKinds = []string{"pause", "stall", "cut", "drop", "delay", "crash", "clock-step"}

// needsNode are the kinds that strike a lock server.
var needsNode = []string{"stall", "crash", "clock-step"}

// Random draws a schedule. It is a pure function of the state of rng and the shape.
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
		return time.Duration(rng.Int64N(int64(d))).Round(time.Millisecond)
	}
	for range s.Count {
		schedule = append(schedule, Step{
			Fault: s.fault(rng, kinds[rng.IntN(len(kinds))], upTo),
			When:  Trigger{At: upTo(s.Span)},
			For:   s.TTL/10 + upTo(2*s.TTL),
			// It may strike where nothing happens.
			Optional: true,
		})
	}
	slices.SortStableFunc(schedule, func(a, b Step) int { return int(a.When.At - b.When.At) })
	return schedule
}

func (s Shape) fault(rng *rand.Rand, kind string, upTo func(time.Duration) time.Duration) Fault {
	client := s.Clients[rng.IntN(len(s.Clients))]
	node := Resource
	if len(s.Nodes) > 0 {
		node = s.Nodes[rng.IntN(len(s.Nodes))]
	}
	switch kind {
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
			how.Delay, how.Jitter = upTo(s.TTL/20), s.TTL/100
		}
		return Disturb{Links: []Link{{client, to}}, How: how}
	default:
		return Pause{client}
	}
}
