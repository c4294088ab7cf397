package scenarios

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/nemesis"
)

func TestEachFormOfATriggerIsRead(t *testing.T) {
	for _, tt := range []struct {
		text string
		want nemesis.Trigger
	}{
		{"at: 0s", nemesis.Trigger{}},
		{"at: 1.5s", nemesis.Trigger{At: 1500 * time.Millisecond}},
		{"before: A writes", nemesis.Trigger{Moment: nemesis.Moment{Edge: nemesis.Before, Client: "A", Op: "write", Nth: 1}}},
		{"before: B acquires (2)", nemesis.Trigger{Moment: nemesis.Moment{Edge: nemesis.Before, Client: "B", Op: "acquire", Nth: 2}}},
		{"after: A acquired", nemesis.Trigger{Moment: nemesis.Moment{Edge: nemesis.After, Client: "A", Op: "acquire", Nth: 1}}},
		{"after: B acquired (2) + 100ms", nemesis.Trigger{
			At: 100 * time.Millisecond, Moment: nemesis.Moment{Edge: nemesis.After, Client: "B", Op: "acquire", Nth: 2}}},
		{"after: A was refused write", nemesis.Trigger{
			Moment: nemesis.Moment{Edge: nemesis.After, Client: "A", Op: "write", Refused: true, Nth: 1}}},
		{"after: all nodes answered A's acquire", nemesis.Trigger{
			Moment: nemesis.Moment{Edge: nemesis.Answered, Client: "A", Op: "acquire", Nodes: nemesis.AllOfThem, Nth: 1}}},
		{"after: n3 answered B's acquire (2)", nemesis.Trigger{
			Moment: nemesis.Moment{Edge: nemesis.Answered, Client: "B", Op: "acquire", Node: "n3", Nth: 2}}},
		{"after: 1 node granted A", nemesis.Trigger{
			Moment: nemesis.Moment{Edge: nemesis.Granted, Client: "A", Op: "acquire", Nodes: 1, Nth: 1}}},
		{"after: 3 nodes granted A + 2s", nemesis.Trigger{
			At: 2 * time.Second, Moment: nemesis.Moment{Edge: nemesis.Granted, Client: "A", Op: "acquire", Nodes: 3, Nth: 1}}},
		{"after: pivot granted A", nemesis.Trigger{
			Moment: nemesis.Moment{Edge: nemesis.Granted, Client: "A", Op: "acquire", Node: "pivot", Nth: 1}}},
	} {
		s, err := Parse("x.yaml", []byte("title: x\nclients: {A: [acquire, write], B: [acquire, acquire]}\nfaults:\n  - pause: A\n    "+tt.text))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := s.Faults[0].When; got != tt.want {
			t.Errorf("%s is read as %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

// drawTrigger draws any trigger that a file can have.
func drawTrigger(t *rapid.T) nemesis.Trigger {
	var m nemesis.Moment
	ops := []string{"acquire", "extend", "check", "read", "write", "release"}
	m.Client = rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{0,5}`).Draw(t, "client")
	m.Nth = rapid.IntRange(1, 12).Draw(t, "nth")
	m.Edge = rapid.SampledFrom([]nemesis.Edge{nemesis.Before, nemesis.After, nemesis.Answered, nemesis.Granted}).Draw(t, "edge")
	switch m.Edge {
	case nemesis.After:
		if m.Refused = rapid.Bool().Draw(t, "refused"); m.Refused {
			ops = []string{"acquire", "extend", "check", "write", "release"}
		}
	case nemesis.Answered, nemesis.Granted:
		ops = []string{"acquire", "extend", "release"}
		if m.Edge == nemesis.Granted {
			ops = ops[:1]
		}
		if m.Nodes = rapid.SampledFrom([]int{nemesis.AllOfThem, 0, 1, 2, 3, 4, 5}).Draw(t, "nodes"); m.Nodes == 0 {
			m.Node = rapid.SampledFrom(serverNames).Draw(t, "node")
		}
	}
	m.Op = rapid.SampledFrom(ops).Draw(t, "op")
	trigger := nemesis.Trigger{Moment: m}
	if m.Edge != nemesis.Before {
		trigger.At = time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, "later"))
	}
	return trigger
}

func TestATriggerReadsAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTrigger(t)
		text := want.String()
		key, moment, _ := strings.Cut(text, " ")
		parse := map[string]func(string) (nemesis.Trigger, error){"after": parseAfter, "before": parseBefore}[key]
		if parse == nil {
			t.Fatalf("%q begins with neither after nor before", text)
		}
		if got, err := parse(moment); err != nil || got != want {
			t.Errorf("%+v writes %q, which reads %+v (%v)", want, text, got, err)
		}
	})
}
