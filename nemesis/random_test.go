package nemesis

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawShape draws any shape that a schedule can have.
func drawShape(t *rapid.T) Shape {
	ttl := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(t, "ttl"))
	return Shape{
		Clients: []string{"A", "B", "C"}[:rapid.IntRange(1, 3).Draw(t, "clients")],
		Nodes:   rapid.SampledFrom(places).Draw(t, "place").Nodes,
		Kinds:   rapid.SliceOfNDistinct(rapid.SampledFrom(RandomKinds), 0, len(RandomKinds), rapid.ID).Draw(t, "kinds"),
		Count:   rapid.IntRange(0, 20).Draw(t, "count"),
		Span:    ttl * time.Duration(rapid.IntRange(1, 10).Draw(t, "span")) / 3,
		TTL:     ttl,
	}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestASeedAndAShapeGiveOneSchedule(t *testing.T) {
	others := 0
	rapid.Check(t, func(t *rapid.T) {
		seed, shape := rapid.Uint64().Draw(t, "seed"), drawShape(t)
		kinds := slices.Clone(shape.Kinds)
		one := Random(seeded(seed), shape)
		if again := Random(seeded(seed), shape); !reflect.DeepEqual(one, again) {
			t.Errorf("first  %+v\nsecond %+v", one, again)
		}
		if !slices.Equal(kinds, shape.Kinds) {
			t.Errorf("the shape's kinds %v are now %v", kinds, shape.Kinds)
		}
		if !reflect.DeepEqual(one, Random(seeded(seed+1), shape)) {
			others++
		}
	})
	if others == 0 {
		t.Error("the seed makes no difference")
	}
}

func TestARandomScheduleKeepsToItsShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawShape(t)
		schedule := Random(seeded(rapid.Uint64().Draw(t, "seed")), shape)
		possible := slices.ContainsFunc(shape.Kinds, func(k string) bool { return len(shape.Nodes) > 0 || !slices.Contains(needsNode, k) })
		if want := shape.Count; possible && len(schedule) != want || !possible && len(schedule) != 0 {
			t.Errorf("%d faults, want %d (possible: %v)", len(schedule), want, possible)
		}
		last := time.Duration(0)
		for _, step := range schedule {
			kind := step.Fault.Kind()
			if !slices.Contains(shape.Kinds, kind) {
				t.Errorf("%s is not among %v", kind, shape.Kinds)
			}
			if step.When.At < last || step.When.At > shape.Span+time.Millisecond || step.When.Moment != (Moment{}) {
				t.Errorf("%s strikes %v after %v, within %v", kind, step.When, last, shape.Span)
			}
			last = step.When.At
			checkFault(t, shape, step)
			if _, err := (Place{Nodes: shape.Nodes}).Step(step); err != nil {
				t.Errorf("%s finds nothing to strike: %v", kind, err)
			}
		}
	})
}

func TestARandomScheduleStrikesEveryoneInEveryWay(t *testing.T) {
	drawn := map[string]bool{}
	for _, step := range Random(seeded(1), Shape{
		Clients: []string{"A", "B"}, Nodes: []string{"n1", "n2"}, Kinds: RandomKinds, Count: 1000, Span: time.Hour, TTL: time.Second,
	}) {
		drawn[step.Fault.Kind()+" "+step.Fault.Subject()] = true
		if f, ok := step.Fault.(Disturb); ok {
			drawn[f.Kind()+" "+f.How.Direction.String()] = true
		}
	}
	for _, kind := range RandomKinds {
		subjects := []string{"A-n1", "A-n2", "A-resource", "B-n1", "B-n2", "B-resource", "both", "requests", "replies"}
		switch kind {
		case "pause", "stall":
			subjects = []string{"A", "B"}
		case "crash", "clock-step":
			subjects = []string{"n1", "n2"}
		}
		for _, subject := range subjects {
			if !drawn[kind+" "+subject] {
				t.Errorf("%s %s was never drawn", kind, subject)
			}
		}
	}
}

// checkFault holds one step to the bounds of the shape.
func checkFault(t *rapid.T, shape Shape, step Step) {
	lasts := step.For >= shape.TTL/10 && step.For <= shape.TTL/10+2*shape.TTL+time.Millisecond
	client, node := shape.Clients[0], Resource
	switch f := step.Fault.(type) {
	case Pause:
		client = f.Client
	case Stall:
		client = f.Client
	case Crash:
		node = f.Node
	case ClockStep:
		node, lasts = f.Node, step.For == 0 // it does not heal
		if f.By < -shape.TTL-time.Millisecond || f.By > shape.TTL+time.Millisecond {
			t.Errorf("a clock steps by %v", f.By)
		}
	case Disturb:
		client, node = f.Links[0].From, f.Links[0].To
		kinds := 0
		for _, set := range []bool{f.How.Cut, f.How.Drop, f.How.Delay > 0} {
			if set {
				kinds++
			}
		}
		if kinds != 1 || len(f.Links) != 1 || f.How.Delay > shape.TTL/20+time.Millisecond {
			t.Errorf("links %v suffer %+v", f.Links, f.How)
		}
	}
	if !slices.Contains(shape.Clients, client) || node != Resource && !slices.Contains(shape.Nodes, node) {
		t.Errorf("%s strikes %s, which is not there", step.Fault.Kind(), step.Fault.Subject())
	}
	if !lasts || !step.Optional || !step.Until.IsZero() {
		t.Errorf("%s lasts %v, until %v, optional %v", step.Fault.Kind(), step.For, step.Until, step.Optional)
	}
}

func TestAKindThatIsNotRandomIsAMistakeOfTheProgram(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Random(seeded(1), Shape{Clients: []string{"A"}, Kinds: []string{"kill"}, Count: 1, Span: time.Second, TTL: time.Second})
}
