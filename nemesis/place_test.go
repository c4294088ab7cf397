package nemesis

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	noServer  = Place{}
	oneNode   = Place{Nodes: []string{"redis"}}
	primary   = Place{Nodes: []string{Primary}, Replicated: true}
	fiveNodes = Place{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}}
	consensus = Place{Nodes: fiveNodes.Nodes, Consensus: true}
	places    = []Place{noServer, oneNode, primary, fiveNodes, consensus}
)

func cut(from string, to ...string) Fault {
	f := Disturb{How: Disturbance{Cut: true}}
	for _, server := range to {
		f.Links = append(f.Links, Link{from, server})
	}
	return f
}

// struck is what a fault becomes on each of the places, in their order; nil where it is not supported.
var struck = []struct {
	law    string
	fault  Fault
	places [5]Fault
}{
	{"a pause needs no server", Pause{"A"}, [5]Fault{Pause{"A"}, Pause{"A"}, Pause{"A"}, Pause{"A"}, Pause{"A"}}},
	{"nor does a kill", Kill{"A"}, [5]Fault{Kill{"A"}, Kill{"A"}, Kill{"A"}, Kill{"A"}, Kill{"A"}}},
	{"renewals need one", Stall{"A"}, [5]Fault{nil, Stall{"A"}, Stall{"A"}, Stall{"A"}, Stall{"A"}}},
	{"the pivot decides", Crash{Node: Pivot, Keep: LoseAll},
		[5]Fault{nil, Crash{Node: "redis", Keep: LoseAll}, Crash{Node: Primary, Keep: LoseAll}, Crash{Node: "n3", Keep: LoseAll}, Crash{Node: "n1", Keep: LoseAll}}},
	{"a node of five", Crash{Node: "n4"}, [5]Fault{nil, nil, nil, Crash{Node: "n4"}, Crash{Node: "n4"}}},
	{"the only node", Crash{Node: "redis"}, [5]Fault{nil, Crash{Node: "redis"}, nil, nil, nil}},
	{"the primary", Crash{Node: Primary}, [5]Fault{nil, nil, Crash{Node: Primary}, nil, nil}},
	{"a clock that steps", ClockStep{Pivot, time.Second},
		[5]Fault{nil, ClockStep{"redis", time.Second}, ClockStep{Primary, time.Second}, ClockStep{"n3", time.Second}, ClockStep{"n1", time.Second}}},
	{"a clock of five", ClockStep{"n1", time.Second}, [5]Fault{nil, nil, nil, ClockStep{"n1", time.Second}, ClockStep{"n1", time.Second}}},
	{"a clock that runs", ClockRate{Pivot, 2},
		[5]Fault{nil, ClockRate{"redis", 2}, ClockRate{Primary, 2}, ClockRate{"n3", 2}, ClockRate{"n1", 2}}},
	{"only a primary with a replica can be in two minds", SplitBrain{[]string{"A"}}, [5]Fault{nil, nil, SplitBrain{[]string{"A"}}, nil, nil}},
	{"a link that resets", Reset{Links: []Link{{"A", Pivot}}, After: 9}, [5]Fault{nil, Reset{Links: []Link{{"A", "redis"}}, After: 9},
		Reset{Links: []Link{{"A", Primary}}, After: 9}, Reset{Links: []Link{{"A", "n3"}}, After: 9}, Reset{Links: []Link{{"A", "n1"}}, After: 9}}},
	{"a slow link", Bandwidth{Links: []Link{{"A", "n4"}}, PerKB: 9},
		[5]Fault{nil, nil, nil, Bandwidth{Links: []Link{{"A", "n4"}}, PerKB: 9}, Bandwidth{Links: []Link{{"A", "n4"}}, PerKB: 9}}},
	{"a consensus replaces a member by itself", Failover{}, [5]Fault{nil, nil, Failover{}, nil, Crash{Node: "n1"}}},
	{"the resource is everywhere", cut("A", Resource),
		[5]Fault{cut("A", Resource), cut("A", Resource), cut("A", Resource), cut("A", Resource), cut("A", Resource)}},
	{"all is every node", cut("A", AllNodes),
		[5]Fault{nil, cut("A", "redis"), cut("A", Primary), cut("A", "n1", "n2", "n3", "n4", "n5"), cut("A", "n1", "n2", "n3", "n4", "n5")}},
	{"the pivot's link", cut("A", Pivot), [5]Fault{nil, cut("A", "redis"), cut("A", Primary), cut("A", "n3"), cut("A", "n1")}},
	{"links that are not there are left out", cut("A", "n4", Resource),
		[5]Fault{cut("A", Resource), cut("A", Resource), cut("A", Resource), cut("A", "n4", Resource), cut("A", "n4", Resource)}},
	{"no link is there", cut("A", "n4", "n5"), [5]Fault{nil, nil, nil, cut("A", "n4", "n5"), cut("A", "n4", "n5")}},
	{"a link named twice is one", cut("A", "n3", Pivot, AllNodes, "n3"),
		[5]Fault{nil, cut("A", "redis"), cut("A", Primary), cut("A", "n3", "n1", "n2", "n4", "n5"), cut("A", "n3", "n1", "n2", "n4", "n5")}},
	{"the replica's link", cut(Primary, Replica), [5]Fault{nil, nil, cut(Primary, Replica), nil, nil}},
}

func TestEachFaultFindsTheServersThatAreThere(t *testing.T) {
	for _, tt := range struck {
		for i, place := range places {
			before := Step{Fault: tt.fault, For: time.Second, Optional: true}
			after, err := place.Step(before)
			if tt.places[i] == nil {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("%s: %v on %v gives %v, %v", tt.law, tt.fault, place.Nodes, after.Fault, err)
				}
				continue
			}
			want := Step{Fault: tt.places[i], For: time.Second, Optional: true}
			if err != nil || !reflect.DeepEqual(after, want) {
				t.Errorf("%s: %v on %v is %+v (%v), want %+v", tt.law, tt.fault, place.Nodes, after, err, want)
			}
		}
	}
}

// The table above knows every kind of fault.
func TestEveryKindOfFaultIsPlaced(t *testing.T) {
	var kinds []string
	for _, tt := range struck {
		kinds = append(kinds, tt.fault.Kind())
	}
	for _, f := range faults {
		if f, isLink := f.fault.(Disturb); isLink && !f.How.Cut {
			continue
		}
		if !slices.Contains(kinds, f.fault.Kind()) {
			t.Errorf("%s is not in the table", f.fault.Kind())
		}
	}
}

func TestAMomentIsThatOfTheServersThatAreThere(t *testing.T) {
	answer := func(edge Edge, nodes int, node string) Trigger {
		return Trigger{At: time.Second, Moment: Moment{Edge: edge, Client: "A", Op: "acquire", Nodes: nodes, Node: node, Nth: 2}}
	}
	granted := func(nodes int, node string) Trigger { return answer(Granted, nodes, node) }
	none := Trigger{}
	for _, tt := range []struct {
		law    string
		before Trigger
		after  [5]Trigger // none: unsupported
	}{
		{"one node", granted(1, ""), [5]Trigger{none, granted(1, ""), granted(1, ""), granted(1, ""), granted(1, "")}},
		{"three nodes", granted(3, ""), [5]Trigger{none, none, none, granted(3, ""), none}},
		{"all nodes", granted(AllOfThem, ""),
			[5]Trigger{none, granted(AllOfThem, ""), granted(AllOfThem, ""), granted(AllOfThem, ""), granted(AllOfThem, "")}},
		{"a node by name", granted(0, "n4"), [5]Trigger{none, none, none, granted(0, "n4"), granted(0, "n4")}},
		{"the pivot", granted(0, Pivot), [5]Trigger{none, granted(0, "redis"), granted(0, Primary), granted(0, "n3"), granted(0, "n1")}},
		{"an answer", answer(Answered, 2, ""), [5]Trigger{none, none, none, answer(Answered, 2, ""), none}},
	} {
		for i, place := range places {
			got, err := place.Trigger(tt.before)
			unsupported := errors.Is(err, ErrUnsupported)
			if want := tt.after[i]; unsupported != (want == none) || !unsupported && (err != nil || got != want) {
				t.Errorf("%s on %v: %+v (%v), want %+v", tt.law, place.Nodes, got, err, want)
			}
			for _, step := range []Step{{Fault: Pause{"A"}, When: tt.before}, {Fault: Pause{"A"}, Until: tt.before}} {
				if here, err := place.Step(step); errors.Is(err, ErrUnsupported) != unsupported ||
					!unsupported && here.When != got && here.Until != got {
					t.Errorf("%s on %v: the step is %+v (%v)", tt.law, place.Nodes, here, err)
				}
			}
		}
	}
}

func TestTheFirstTimeIsMeantIfNoneIsNamed(t *testing.T) {
	for nth, want := range map[int]int{0: 1, 1: 1, 2: 2} {
		for _, edge := range []Edge{Before, After, Answered} {
			got, err := oneNode.Trigger(Trigger{Moment: Moment{Edge: edge, Client: "A", Op: "write", Node: Pivot, Nth: nth}})
			if err != nil || got.Moment.Nth != want {
				t.Errorf("time %d is time %d (%v), want %d", nth, got.Moment.Nth, err, want)
			}
		}
	}
	if got, err := oneNode.Trigger(Trigger{At: time.Second}); err != nil || got != (Trigger{At: time.Second}) {
		t.Errorf("a time becomes %+v (%v)", got, err)
	}
}

func TestAPlacedStepStaysInItsPlaceAndTheOneWrittenStaysAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		written := rapid.SampledFrom(struck).Draw(t, "fault").fault
		place := rapid.SampledFrom(places).Draw(t, "place")
		var links []Link
		if f, ok := written.(Disturb); ok {
			links = slices.Clone(f.Links)
		}
		once, err := place.Step(Step{Fault: written})
		if err != nil {
			return
		}
		if twice, err := place.Step(once); err != nil || !reflect.DeepEqual(once, twice) {
			t.Errorf("%v is placed as %v and then as %v (%v)", written, once.Fault, twice.Fault, err)
		}
		if f, ok := written.(Disturb); ok && !slices.Equal(f.Links, links) {
			t.Errorf("the links %v are now %v", links, f.Links)
		}
	})
}
