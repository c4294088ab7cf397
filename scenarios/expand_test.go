package scenarios

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/nemesis"
)

var (
	noServer  = nemesis.Place{}
	oneNode   = nemesis.Place{Nodes: []string{"redis"}}
	primary   = nemesis.Place{Nodes: []string{nemesis.Primary}, Replicated: true}
	fiveNodes = nemesis.Place{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}}
	consensus = nemesis.Place{Nodes: fiveNodes.Nodes, Consensus: true}
	places    = []nemesis.Place{noServer, oneNode, primary, fiveNodes, consensus}
)

// frozen is a copy of everything in a scenario, to compare with later.
func frozen(t *testing.T, s *Scenario) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNeitherExpandNorScaledChangeTheScenario(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		before := frozen(t, s)
		for _, place := range places {
			e, err := s.Expand(1, place)
			if err != nil {
				continue
			}
			spoil(e)
		}
		spoil(s.Scaled(7))
		if after := frozen(t, s); after != before {
			at := 0
			for before[at] == after[at] {
				at++
			}
			t.Errorf("%s was %.80s ... and is %.80s ...", s.Name, before[at:], after[at:])
		}
	}
}

// spoil writes over everything that a scenario could share with the one it came from.
func spoil(s *Scenario) {
	for i := range s.Clients {
		for j := range s.Clients[i].Steps {
			s.Clients[i].Steps[j] = Step{Op: "spoilt"}
		}
		s.Clients[i] = Client{Name: "spoilt"}
	}
	for i := range s.Faults {
		if f, ok := s.Faults[i].Fault.(nemesis.Disturb); ok && len(f.Links) > 0 {
			f.Links[0] = nemesis.Link{From: "spoilt"}
		}
		s.Faults[i] = nemesis.Step{}
	}
}

func TestOptionalFaultsThatNothingCanSufferAreLeftOut(t *testing.T) {
	s := parse(t, ok+"faults:\n  - pause: A\n  - crash: n4\n    optional: true\n  - cut: A - n1, n4\n    optional: true\n")
	for _, tt := range []struct {
		place nemesis.Place
		want  []string
	}{
		{noServer, []string{"pause A"}},
		{oneNode, []string{"pause A"}},
		{fiveNodes, []string{"pause A", "crash n4", "cut A-n1 A-n4"}},
		{consensus, []string{"pause A", "crash n4", "cut A-n1 A-n4"}},
	} {
		e, err := s.Expand(1, tt.place)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, step := range e.Faults {
			got = append(got, step.Fault.Kind()+" "+step.Fault.Subject())
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("on %v: %q, want %q", tt.place.Nodes, got, tt.want)
		}
	}
}

func TestARunThatWouldShowNothingIsUnsupported(t *testing.T) {
	for _, tt := range []struct {
		law, text string
		place     nemesis.Place
		supported bool
	}{
		{"no fault can strike", "faults: [{crash: n4}]\n", oneNode, false},
		{"the fault can strike", "faults: [{crash: n4}]\n", fiveNodes, true},
		{"one of two faults cannot strike", "faults: [{pause: A}, {crash: n4}]\n", oneNode, false},
		{"the one that cannot is optional", "faults: [{pause: A}, {crash: n4, optional: true}]\n", oneNode, true},
		{"there is no fault", "", noServer, true},
		{"no server can answer", "faults: [{pause: A, after: 1 node granted A}]\n", noServer, false},
		{"one server cannot answer twice", "faults: [{pause: A, after: 2 nodes granted A}]\n", oneNode, false},
		{"two of five can answer", "faults: [{pause: A, after: 2 nodes granted A}]\n", fiveNodes, true},
		{"a consensus answers as one", "faults: [{pause: A, after: 2 nodes granted A}]\n", consensus, false},
	} {
		_, err := parse(t, ok+tt.text).Expand(1, tt.place)
		if tt.supported && err != nil || !tt.supported && !errors.Is(err, nemesis.ErrUnsupported) {
			t.Errorf("%s: %v", tt.law, err)
		}
	}
}

func TestAStepWaitsForTheServersThatAreThere(t *testing.T) {
	s := parse(t, "title: x\nclients:\n  A: [acquire]\n  B:\n    - acquire: {after: pivot granted A}\n")
	for _, tt := range []struct {
		place nemesis.Place
		want  string
	}{{oneNode, "redis"}, {primary, "primary"}, {fiveNodes, "n3"}, {consensus, "n1"}} {
		e, err := s.Expand(1, tt.place)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Clients[1].Steps[0].When.Moment.Node; got != tt.want {
			t.Errorf("on %v B waits for %q, want %q", tt.place.Nodes, got, tt.want)
		}
	}
	if _, err := s.Expand(1, noServer); !errors.Is(err, nemesis.ErrUnsupported) {
		t.Errorf("without servers B waits for ever: %v", err)
	}
}

func TestScalingDividesEveryDuration(t *testing.T) {
	s := parse(t, "title: x\nttl: 2s\nhorizon: 20s\nclients:\n  A:\n    - acquire: {at: 4s, wait: 6s}\n    - write: {after: A acquired + 8s}\n"+
		"faults:\n  - delay: A - all\n    by: 10s\n    jitter: 12s\n    after: A acquired + 14s\n    for: 16s\n"+
		"  - clock-step: n1\n    by: -18s\n  - clock-rate: n1\n    rate: 2\n    until: A acquired + 22s\n").Scaled(2)
	delay, step, rate := s.Faults[0], s.Faults[1].Fault.(nemesis.ClockStep), s.Faults[2]
	how := delay.Fault.(nemesis.Disturb).How
	got := []time.Duration{
		s.TTL, s.Horizon, s.Clients[0].Steps[0].When.At, s.Clients[0].Steps[0].For, s.Clients[0].Steps[1].When.At, s.Clients[0].Steps[1].For,
		how.Delay, how.Jitter, delay.When.At, delay.For, step.By, rate.Until.At,
	}
	want := []time.Duration{1000, 10_000, 2000, 3000, 4000, 500, 5000, 6000, 7000, 8000, -9000, 11_000}
	for i := range want {
		if got[i] != want[i]*time.Millisecond {
			t.Errorf("duration %d is %v, want %v", i, got[i], want[i]*time.Millisecond)
		}
	}
	if r := rate.Fault.(nemesis.ClockRate).Rate; r != 2 {
		t.Errorf("the clock's rate is %v", r)
	}
}

func TestAtSpeedOneNothingChanges(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if got := s.Scaled(1); frozen(t, got) != frozen(t, s) {
			t.Errorf("%s changes", s.Name)
		}
	}
}

func TestASeedDrawsTheSameRunEveryTime(t *testing.T) {
	s := parse(t, "title: x\nrandom: {}\n")
	different := 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		place := rapid.SampledFrom(places).Draw(t, "place")
		draw := func(seed uint64) *Scenario {
			e, err := s.Expand(seed, place)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		one := draw(seed)
		if again := draw(seed); !reflect.DeepEqual(again, one) {
			t.Errorf("first  %+v\nsecond %+v", one, again)
		}
		if !reflect.DeepEqual(draw(seed+1), one) {
			different++
		}
		if len(one.Clients) != 3 || len(one.Clients[0].Steps) != 5*6 || len(one.Faults) != 4 {
			t.Errorf("%d clients of %d steps, %d faults", len(one.Clients), len(one.Clients[0].Steps), len(one.Faults))
		}
	})
	if different == 0 {
		t.Error("every seed draws the same run")
	}
}
