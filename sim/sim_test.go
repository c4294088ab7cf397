package sim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// catalogue is every embedded scenario.
func catalogue(t testing.TB) []*scenarios.Scenario {
	t.Helper()
	all, err := scenarios.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func entry(t testing.TB, name string) locks.Entry {
	t.Helper()
	e, err := locks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func scenario(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written parses a scenario from text.
func written(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("written.yaml", []byte("title: written in a test\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play runs a plan and returns its outcome with the history as it was streamed.
func play(t testing.TB, p runner.Plan) (runner.Outcome, []byte) {
	t.Helper()
	var out bytes.Buffer
	o, err := runner.Run(Testbed{}, p, &out)
	if err != nil {
		t.Fatalf("%s: %v", p.Key(), err)
	}
	return o, out.Bytes()
}

// playWell is play for a lock that leaves nothing behind.
func playWell(t testing.TB, p runner.Plan) (runner.Outcome, []byte) {
	t.Helper()
	o, stream := play(t, p)
	if o.Err != nil {
		t.Fatalf("%s: %v", p.Key(), o.Err)
	}
	return o, stream
}

// find returns the events that match, in order.
func find(events []history.Event, match func(history.Event) bool) []history.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return !match(e) })
}

// completions of a client's operation.
func completions(events []history.Event, client string, op history.Op) []history.Event {
	return find(events, func(e history.Event) bool {
		return e.Role == history.Client && e.Process == client && e.Op == op && e.Type != history.Invoke
	})
}
