package scenarios

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

func TestEachFormOfAFaultIsRead(t *testing.T) {
	links := func(from string, to ...string) (links []nemesis.Link) {
		for _, server := range to {
			links = append(links, nemesis.Link{From: from, To: server})
		}
		return links
	}
	tests := []struct {
		text string
		want nemesis.Fault
	}{
		{"pause: A", nemesis.Pause{Client: "A"}},
		{"kill: A", nemesis.Kill{Client: "A"}},
		{"stall: B", nemesis.Stall{Client: "B"}},
		{"cut: A - n4, n5", nemesis.Disturb{Links: links("A", "n4", "n5"), How: nemesis.Disturbance{Cut: true}}},
		{"cut: primary - replica", nemesis.Disturb{Links: links("primary", "replica"), How: nemesis.Disturbance{Cut: true}}},
		{"cut: A - resource\n    direction: both", nemesis.Disturb{Links: links("A", "resource"), How: nemesis.Disturbance{Cut: true}}},
		{"drop: A - all\n    direction: replies", nemesis.Disturb{
			Links: links("A", "all"), How: nemesis.Disturbance{Drop: true, Direction: nemesis.Replies}}},
		{"delay: B - pivot\n    direction: requests\n    by: 1s\n    jitter: 2ms", nemesis.Disturb{
			Links: links("B", "pivot"), How: nemesis.Disturbance{Direction: nemesis.Requests, Delay: time.Second, Jitter: 2 * time.Millisecond}}},
		{"crash: n1", nemesis.Crash{Node: "n1", Keep: nemesis.KeepAll}},
		{"crash: redis\n    keep: all", nemesis.Crash{Node: "redis", Keep: nemesis.KeepAll}},
		{"crash: n1\n    keep: all-but-last-second", nemesis.Crash{Node: "n1", Keep: nemesis.LoseSecond, Unsynced: time.Second}},
		{"reset: A - redis", nemesis.Reset{Links: links("A", "redis")}},
		{"reset: A - n1, n2\n    direction: replies\n    after-bytes: 40", nemesis.Reset{
			Links: links("A", "n1", "n2"), Direction: nemesis.Replies, After: 40}},
		{"bandwidth: B - resource\n    direction: requests\n    kb-per-second: 8", nemesis.Bandwidth{
			Links: links("B", "resource"), Direction: nemesis.Requests, PerKB: 125 * time.Millisecond}},
		{"crash: primary\n    keep: nothing", nemesis.Crash{Node: "primary", Keep: nemesis.LoseAll}},
		{"clock-step: pivot\n    by: -5s", nemesis.ClockStep{Node: "pivot", By: -5 * time.Second}},
		{"clock-rate: n5\n    rate: 0", nemesis.ClockRate{Node: "n5", Rate: 0}},
		{"clock-rate: n5\n    rate: 1.03", nemesis.ClockRate{Node: "n5", Rate: 1.03}},
		{"failover: primary", nemesis.Failover{}},
		{"failover: primary\n    by: hand", nemesis.Failover{}},
		{"failover: primary\n    by: sentinel", nemesis.Failover{By: nemesis.BySentinel}},
		{"split-brain: A", nemesis.SplitBrain{Clients: []string{"A"}}},
		{"split-brain: A, B\n    for: 3s", nemesis.SplitBrain{Clients: []string{"A", "B"}}},
	}
	read := map[string]bool{}
	for _, tt := range tests {
		s := parse(t, fault(tt.text))
		if got := s.Faults[0].Fault; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s is read as %#v, want %#v", tt.text, got, tt.want)
		}
		read[tt.want.Kind()] = true
	}
	for _, k := range FaultKinds {
		if !read[k.Name] {
			t.Errorf("%s is listed and not read", k.Name)
		}
	}
}
