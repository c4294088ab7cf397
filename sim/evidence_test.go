package sim

import (
	"testing"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// faultCases has, for each fault, a run that feels it and the figure that shows so, and one that does not. A client that
// is done, a link without traffic and a moment that never comes feel nothing.
var faultCases = []struct {
	lock, felt, figure, missed string
}{
	{"single", "pause: A\n    at: 1s\n    for: 3s", "stood_still", "pause: A\n    at: 9s\n    for: 1s"},
	{"single", "kill: A\n    at: 1s", "connections_ended", "kill: A\n    after: A was refused acquire"},
	{"single-watchdog", "stall: A\n    at: 1s\n    for: 3s", "held_back", "stall: A\n    at: 20s\n    for: 1s"},
	{"single", "cut: A - resource\n    at: 1s\n    for: 2s", "bytes_held", "cut: A - resource\n    at: 9s\n    for: 1s"},
	{"single", "cut: A - all\n    direction: replies\n    at: 3s\n    for: 1s", "bytes_held", "cut: A - all\n    at: 9s\n    for: 1s"},
	{"single", "drop: A - resource\n    direction: requests\n    at: 1s\n    for: 1s", "bytes_lost", "drop: A - resource\n    at: 9s\n    for: 1s"},
	{"single", "delay: A - resource\n    by: 40ms\n    jitter: 10ms\n    at: 0s\n    for: 5s", "longest_added_delay", "delay: A - resource\n    by: 40ms\n    at: 9s\n    for: 1s"},
	{"single", "reset: A - resource\n    at: 1s\n    for: 2s", "connections_reset", "reset: A - resource\n    at: 9s\n    for: 1s"},
	{"single", "reset: A - all\n    after-bytes: 20\n    at: 1s", "connections_reset", "reset: A - all\n    after-bytes: 20000\n    at: 1s"},
	{"single", "bandwidth: A - resource\n    kb-per-second: 1\n    for: 5s", "bytes_slowed", "bandwidth: A - resource\n    kb-per-second: 1\n    at: 9s\n    for: 1s"},
	{"single", "crash: pivot\n    at: 500ms\n    for: 1s\n    keep: all-but-last-second", "keys_lost", "crash: pivot\n    after: A was refused acquire\n    for: 1s\n    keep: all-but-last-second"},
	{"failover", "failover: primary\n    by: sentinel\n    at: 1s", "replica_offset", "failover: primary\n    by: sentinel\n    after: A was refused acquire"},
	{"failover", "split-brain: A\n    at: 100ms", "served_by_both", "split-brain: A\n    at: 1s"},
	{"redlock", "crash: n2\n    at: 1s\n    for: 1s", "connections_reset", "crash: n2\n    after: A was refused write\n    for: 1s"},
	{"redlock", "crash: n2\n    at: 1s\n    for: 1s\n    keep: nothing", "keys_lost", "crash: n2\n    after: A was refused acquire\n    for: 1s"},
	{"consensus", "crash: n4\n    at: 1s\n    for: 9s", "commits_missed", "crash: n4\n    after: A was refused release\n    for: 1s"},
	{"single", "clock-step: pivot\n    by: 3s\n    at: 1s", "stepped", "clock-step: pivot\n    by: 0s\n    at: 1s"},
	{"single", "clock-rate: pivot\n    rate: 2\n    at: 1s\n    for: 1s", "drift", "clock-rate: pivot\n    rate: 1\n    at: 1s\n    for: 1s"},
	{"failover", "failover: primary\n    at: 1s", "replica_offset", "failover: primary\n    after: A was refused acquire"},
}

const feelingClients = `
clients:
  A:
    - acquire
    - read
    - write: {at: 2s}
    - release: {at: 3500ms}
  B:
    - acquire: {at: 5s, wait: 20s}
    - read
    - write
    - release
`

func TestEachFaultLeavesEvidenceOrLeavesTheRunUndecided(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.lock+"/"+c.felt, func(t *testing.T) {
			felt, _ := playWell(t, runner.Plan{Lock: entry(t, c.lock), Seed: 1, Scenario: written(t, feelingClients+"faults:\n  - "+c.felt+"\n")})
			done := faultOutcome(t, felt)
			if done.Type != history.Ok {
				t.Errorf("felt: the fault ended as %v: %s", done.Type, done.Error)
			}
			if v := done.Detail[c.figure]; v == "" || v == "0" || v == "0s" {
				t.Errorf("felt: no %s in %v", c.figure, done.Detail)
			}
			missed, _ := playWell(t, runner.Plan{Lock: entry(t, c.lock), Seed: 1, Scenario: written(t, feelingClients+"faults:\n  - "+c.missed+"\n")})
			if done := faultOutcome(t, missed); done.Type != history.Fail {
				t.Errorf("missed: the fault ended as %v, %v", done.Type, done.Detail)
			}
			if v := missed.Verdicts[checker.Exclusion]; v.Status != checker.Undecided {
				t.Errorf("missed: exclusion is %v (%s), want undecided", v.Status, v.Reason)
			}
		})
	}
}

// faultOutcome is the completion of the only fault.
func faultOutcome(t *testing.T, o runner.Outcome) history.Event {
	t.Helper()
	ends := find(o.Events, func(e history.Event) bool { return e.Role == history.Nemesis && e.Type != history.Invoke })
	if len(ends) != 1 {
		t.Fatalf("want one fault to complete, got %d", len(ends))
	}
	return ends[0]
}

func TestAnOptionalFaultThatNothingNoticedDecidesNothing(t *testing.T) {
	s := written(t, feelingClients+"faults:\n  - cut: A - resource\n    at: 9s\n    for: 1s\n    optional: true\n")
	o, _ := playWell(t, runner.Plan{Lock: entry(t, "single"), Scenario: s, Seed: 1})
	if v := o.Verdicts[checker.Exclusion]; v.Status != checker.Held {
		t.Errorf("exclusion is %v (%s), want held", v.Status, v.Reason)
	}
}
