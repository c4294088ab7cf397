package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// TestTheCatalogueIsAsExpected for seeds that choose other delays.
func TestTheCatalogueIsAsExpected(t *testing.T) {
	for _, s := range catalogue(t) {
		seeds := []uint64{1, 2}
		if s.Random != nil {
			seeds = seeds[:1] // a long one, and TestManyRandomSchedules takes others
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, l := range locks.All {
				for _, fencing := range []bool{false, true} {
					for _, seed := range seeds {
						o, _ := playWell(t, runner.Plan{Lock: l, Scenario: s, Fencing: fencing, Seed: seed})
						if o.Unsupported == "" && len(o.Unexpected) > 0 {
							t.Errorf("%s: %s", o.Plan.Key(), strings.Join(o.Unexpected, "; "))
						}
					}
				}
			}
		})
	}
}

// TestRedlockRefusesAGrantWhoseRepliesCameTooLate: it gives up its own keys on all nodes and leaves the successor's alone.
func TestRedlockRefusesAGrantWhoseRepliesCameTooLate(t *testing.T) {
	o, _ := playWell(t, runner.Plan{Lock: entry(t, "redlock"), Scenario: scenario(t, "A3"), Seed: 1})
	acquired := completions(o.Events, "B", history.Acquire)
	released := completions(o.Events, "B", history.Release)
	if len(acquired) != 1 || acquired[0].Type != history.Ok || len(released) != 1 {
		t.Fatalf("B was not granted and released once: %v, %v", acquired, released)
	}
	for _, e := range completions(o.Events, "A", history.Acquire) {
		if e.Type == history.Ok && e.Time < released[0].Time {
			t.Errorf("A was granted at %v, while B held", e.Time)
		}
	}
	stolen := find(o.Events, func(e history.Event) bool {
		return e.Role == history.Node && e.Op != history.KeySet && e.Detail["owner"] == "B" && e.By != "B"
	})
	if len(stolen) > 0 {
		t.Errorf("B's key was touched: %+v", stolen[0])
	}
}

// TestALostReplyIsUnknown: the server granted, the client cannot know.
func TestALostReplyIsUnknown(t *testing.T) {
	o, _ := playWell(t, runner.Plan{Lock: entry(t, "single-del"), Scenario: scenario(t, "D4"), Seed: 1})
	if got := completions(o.Events, "A", history.Acquire); len(got) != 2 || got[1].Type != history.Info {
		t.Errorf("A's acquire completed as %v, want info", got)
	}
	granted := find(o.Events, func(e history.Event) bool { return e.Op == history.KeySet && e.By == "A" })
	if len(granted) != 2 {
		t.Error("the server never granted: the scenario shows nothing")
	}
}

// TestADelayedWriteHarmsThoughNobodyOverlaps is why effects are judged apart from exclusion.
func TestADelayedWriteHarmsThoughNobodyOverlaps(t *testing.T) {
	p := runner.Plan{Lock: entry(t, "redlock"), Scenario: scenario(t, "A5"), Seed: 1}
	o, _ := playWell(t, p)
	if o.Verdicts[checker.Exclusion].Status != checker.Held || o.Verdicts[checker.Effects].Status != checker.Violated {
		t.Errorf("got %v", o.Verdicts)
	}
	p.Fencing = true
	if o, _ = playWell(t, p); o.Verdicts[checker.Effects].Status != checker.Held {
		t.Errorf("fenced: %v", o.Verdicts[checker.Effects])
	}
}

// TestTheRunnerTellsNoCheckerWhatIsExpected: other expectations, same verdicts.
func TestTheRunnerTellsNoCheckerWhatIsExpected(t *testing.T) {
	p := runner.Plan{Lock: entry(t, "single"), Scenario: scenario(t, "A1"), Seed: 1}
	honest, stream := playWell(t, p)
	lying := *p.Scenario
	lying.Expect = nil
	p.Scenario = &lying
	other, otherStream := playWell(t, p)
	if string(stream) != string(otherStream) {
		t.Error("the expectation shows in the history")
	}
	for name, v := range honest.Verdicts {
		if other.Verdicts[name].Status != v.Status {
			t.Errorf("%s: %v with the expectation, %v without", name, v.Status, other.Verdicts[name].Status)
		}
	}
	if len(other.Unexpected) == 0 || !slices.ContainsFunc(other.Unexpected, func(s string) bool { return strings.HasPrefix(s, "exclusion") }) {
		t.Errorf("a violation that nobody expects is not reported: %v", other.Unexpected)
	}
}
