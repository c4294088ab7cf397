package docker

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
)

const mayAll = "\nexpect:\n  - may: [exclusion, effects, ownership, progress, availability, expiry]\n"

// ends are the completions of faults, by kind.
func ends(events []history.Event) map[history.Op]history.Event {
	found := map[history.Op]history.Event{}
	for _, e := range events {
		if e.Role == history.Nemesis && e.Type != history.Invoke {
			found[e.Op] = e
		}
	}
	return found
}

// TestEachFaultIsFeltOrLeavesTheRunUndecided: a run that feels the fault, with the figure that shows so, and one that does
// not: a client that is done and a link without traffic feel nothing.
func TestEachFaultIsFeltOrLeavesTheRunUndecided(t *testing.T) {
	bed := testbed(t)
	for _, c := range []struct{ name, lock, felt, figure, missed string }{
		{"reset", "single", "- reset: A - redis\n  at: 2s\n  for: 3s", "rst_at_servers", "- reset: A - redis\n  at: 12s\n  for: 1s"},
		{"reset after bytes", "single", "- reset: A - all\n  after-bytes: 20\n  direction: requests\n  at: 2s", "rst_at_servers",
			"- reset: A - all\n  after-bytes: 20000\n  direction: requests\n  at: 2s"},
		{"bandwidth", "single", "- bandwidth: A - resource\n  kb-per-second: 1\n  at: 2s\n  for: 3s", "bytes_slowed",
			"- bandwidth: A - resource\n  kb-per-second: 1\n  at: 12s\n  for: 1s"},
		{"delay with jitter", "single", "- delay: A - resource\n  by: 100ms\n  jitter: 50ms\n  at: 2s\n  for: 3s", "longest_round_trip",
			"- delay: A - resource\n  by: 100ms\n  jitter: 50ms\n  at: 12s\n  for: 1s"},
		{"last second", "single", "- crash: redis\n  after: A acquired\n  for: 100ms\n  keep: all-but-last-second", "keys_lost",
			"- crash: redis\n  after: A was refused acquire\n  for: 100ms\n  keep: all-but-last-second"},
		{"clock rate", "single", "- clock-rate: redis\n  rate: 3\n  at: 1s\n  for: 2s", "drift", "- clock-rate: redis\n  rate: 1\n  at: 1s\n  for: 2s"},
		{"clock step", "single", "- clock-step: redis\n  by: 3s\n  at: 1s", "clock_after", "- clock-step: redis\n  by: 0s\n  at: 1s"},
		{"pause", "single", "- pause: A\n  at: 2s\n  for: 3s", "heartbeat_gap", "- pause: A\n  at: 12s\n  for: 1s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			felt := judge(t, bed, c.lock, parse(t, section+indent(c.felt)+mayAll), false)
			for kind, e := range ends(felt.Events) {
				t.Log(kind, e.Detail)
				if v := e.Detail[c.figure]; e.Type != history.Ok || v == "" || v == "0" || v == "0s" {
					t.Errorf("felt: %s ended as %v with %s %q: %s", kind, e.Type, c.figure, v, e.Error)
				}
			}
			missed := judge(t, bed, c.lock, parse(t, section+indent(c.missed)+mayAll), false)
			for kind, e := range ends(missed.Events) {
				if e.Type != history.Fail {
					t.Errorf("missed: %s ended as %v: %v", kind, e.Type, e.Detail)
				}
			}
			if v := missed.Verdicts[checker.Exclusion]; v.Status != checker.Undecided {
				t.Errorf("missed: exclusion is %v (%s), want undecided", v.Status, v.Reason)
			}
		})
	}
}

// figure is a duration of a fault's evidence.
func figure(t *testing.T, e history.Event, name string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(e.Detail[name])
	if err != nil {
		t.Errorf("%s of %s: %v", name, e.Op, err)
	}
	return d
}

// TestEvidenceIsMeasured: the figures are those of what was done, within what a busy machine needs.
func TestEvidenceIsMeasured(t *testing.T) {
	bed := testbed(t)
	const slack = 150 * time.Millisecond
	near := func(t *testing.T, what string, got, want time.Duration) {
		t.Helper()
		if got < want-slack/10 || got > want+slack {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	t.Run("clock rate", func(t *testing.T) { // 2 s at speed 5, at thrice the rate
		o := judge(t, bed, "single", parse(t, section+indent("- clock-rate: redis\n  rate: 3\n  at: 1s\n  for: 2s")+mayAll), false)
		near(t, "drift", figure(t, ends(o.Events)["clock-rate"], "drift"), 800*time.Millisecond)
	})
	t.Run("pause", func(t *testing.T) {
		o := judge(t, bed, "single", parse(t, section+indent("- pause: A\n  at: 2s\n  for: 3s")+mayAll), false)
		near(t, "gap", figure(t, ends(o.Events)["pause"], "heartbeat_gap"), 600*time.Millisecond)
	})
	t.Run("last second", func(t *testing.T) { // the lease is older, its extension is not
		s := strings.Replace(section, "- write: {at: 3s}", "- extend: {at: 2800ms}\n    - write: {at: 4s}", 1)
		o := judge(t, bed, "single", parse(t, s+indent("- crash: redis\n  at: 3500ms\n  for: 50ms\n  keep: all-but-last-second")+mayAll), false)
		e := ends(o.Events)["crash"]
		if e.Detail["keys_lost"] != "0" || e.Detail["aof_bytes_cut"] == "0" {
			t.Errorf("lost %s keys, cut %s bytes back to %s", e.Detail["keys_lost"], e.Detail["aof_bytes_cut"], e.Detail["aof_cut_back_to"])
		}
		near(t, "cut back to", figure(t, e, "aof_cut_back_to"), 500*time.Millisecond-slack/4)
	})
}

// TestOfTwoDisturbancesOneHealsAndTheOtherStays: a cut that lasts for all of A's section lies over another that is over
// before A writes, and in either order.
func TestOfTwoDisturbancesOneHealsAndTheOtherStays(t *testing.T) {
	bed := testbed(t)
	for name, faults := range map[string]string{
		"cut over cut":   "- cut: A - resource\n  at: 2s\n  for: 8s\n- cut: A - resource\n  at: 2500ms\n  for: 1s",
		"delay over cut": "- cut: A - resource\n  at: 2s\n  for: 8s\n- delay: A - resource\n  by: 100ms\n  at: 2500ms\n  for: 1s\n  optional: true",
	} {
		t.Run(name, func(t *testing.T) {
			o := judge(t, bed, "single", parse(t, section+indent(faults)+mayAll), false)
			for _, e := range o.Events {
				if e.Role == history.Resource && e.Op == history.Write && e.By == "A" && e.Time < 1400*time.Millisecond {
					t.Errorf("A's write arrived at %v; the second fault was over at 0.7 s, and the cut was in force until A had given up at 1.6 s", e.Time)
				}
			}
			held := 0
			for _, e := range o.Events {
				if n, _ := strconv.Atoi(e.Detail["bytes_held"]); e.Role == history.Nemesis && n > 0 {
					held++
				}
			}
			if held == 0 {
				t.Error("no cut held anything")
			}
		})
	}
}
