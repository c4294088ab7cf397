package certain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/recording"
)

var epoch = time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)

func second(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }

// tape is a recording that is being made up, in true time.
type tape struct {
	lines []recording.Line
	shift func(host string) time.Duration // error of a host's clock when it is read
}

func (tp *tape) add(l recording.Line, began, ended time.Time) *recording.Line {
	if tp.shift == nil {
		tp.shift = func(string) time.Duration { return 0 }
	}
	l.Process, l.Lock = l.Host, "stock"
	l.Ended = ended.Add(tp.shift(l.Host))
	if !began.IsZero() {
		l.Outcome, l.Began = recording.Ok, began.Add(tp.shift(l.Host))
	}
	l.File, l.Number = l.Host+".jsonl", len(tp.lines)+1
	tp.lines = append(tp.lines, l)
	return &tp.lines[len(tp.lines)-1]
}

// held is a section: granted at from, released at to. Its client is its host.
func (tp *tape) held(host string, from, to float64, fence int64) {
	lease := fmt.Sprintf("%s@%v", host, from)
	tp.add(recording.Line{Host: host, Client: host, Op: recording.Acquire, Lease: lease, Fence: fence}, second(from-0.002), second(from))
	tp.add(recording.Line{Host: host, Client: host, Op: recording.Release, Lease: lease}, second(to), second(to+0.002))
}

func (tp *tape) wrote(host string, grant, at float64, fence, version int64) {
	tp.add(recording.Line{Host: host, Client: host, Op: recording.Write, Lease: fmt.Sprintf("%s@%v", host, grant), Fence: fence, Version: version},
		second(at), second(at+0.001))
}

// tried is a write that was not applied, or perhaps not.
func (tp *tape) tried(outcome recording.Outcome, host string, grant, at float64, fence int64) {
	tp.wrote(host, grant, at, fence, 0)
	tp.lines[len(tp.lines)-1].Outcome = outcome
}

// ends says that nothing of some hosts is missing.
func (tp *tape) ends(hosts ...string) {
	for _, h := range hosts {
		tp.add(recording.Line{Host: h, Op: recording.Start}, time.Time{}, second(-1000))
		tp.add(recording.Line{Host: h, Op: recording.End}, time.Time{}, second(1000))
	}
}

func bounds(b time.Duration) func(string) time.Duration {
	return func(string) time.Duration { return b }
}

func judge(t interface{ Fatal(...any) }, tp *tape, b time.Duration) map[string]checker.Verdict {
	j, err := Judge(tp.lines, bounds(b))
	if err != nil {
		t.Fatal(err)
	}
	return j.Verdicts
}

const ms = time.Millisecond

func TestExclusionIsViolatedOnlyBeyondBothBounds(t *testing.T) {
	for _, law := range []struct {
		name  string
		tape  func(*tape)
		bound time.Duration
		want  checker.Status
	}{
		{"far apart", func(tp *tape) { tp.held("a", 0, 1, 0); tp.held("b", 2, 3, 0) }, 100 * ms, checker.Held},
		{"one after the other, exact clocks", func(tp *tape) { tp.held("a", 0, 1, 0); tp.held("b", 1.003, 3, 0) }, 0, checker.Held},
		{"one after the other, within the bounds", func(tp *tape) { tp.held("a", 0, 1, 0); tp.held("b", 1.003, 3, 0) }, 5 * ms, checker.Undecided},
		{"overlap within both bounds", func(tp *tape) { tp.held("a", 0, 1.015, 0); tp.held("b", 1, 3, 0) }, 10 * ms, checker.Undecided},
		{"overlap beyond both bounds", func(tp *tape) { tp.held("a", 0, 1.025, 0); tp.held("b", 1, 3, 0) }, 10 * ms, checker.Violated},
		{"a short hold inside a long one", func(tp *tape) { tp.held("a", 0, 2, 0); tp.held("b", 1, 1.001, 0) }, 100 * ms, checker.Violated},
		{"a short hold at the edge of a long one", func(tp *tape) { tp.held("a", 0, 2, 0); tp.held("b", 1.9, 1.901, 0) }, 100 * ms, checker.Undecided},
		{"one client twice", func(tp *tape) { tp.held("a", 0, 2, 0); tp.held("a", 1, 3, 0) }, 0, checker.Held},
		{"two short holds at one time", func(tp *tape) { tp.held("a", 1, 1.001, 0); tp.held("b", 1, 1.001, 0) }, ms, checker.Undecided},
	} {
		var tp tape
		law.tape(&tp)
		tp.ends("a", "b")
		if v := judge(t, &tp, law.bound)[checker.Exclusion]; v.Status != law.want {
			t.Errorf("%s: %v %s", law.name, v.Status, v.Reason)
		}
	}
}

func TestAHoldWithoutReleaseCountsOnlyUpToItsLastUse(t *testing.T) {
	var tp tape
	tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0))
	tp.held("b", 10, 11, 0)
	tp.ends("a", "b")
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Undecided || !strings.Contains(v.Reason, "no release on record") {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
	tp.wrote("a", 0, 10.5, 0, 0) // it acted as a holder
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Violated {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

func TestALeaseEndsAtItsUntil(t *testing.T) {
	for _, law := range []struct {
		writes float64
		want   checker.Status
	}{{0, checker.Held}, {5, checker.Held}, {12, checker.Violated}} {
		var tp tape
		l := tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0))
		l.Until = second(10)
		if law.writes > 0 {
			tp.wrote("a", 0, law.writes, 0, 0)
		}
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Lost, Lease: "a@0"}, time.Time{}, second(10.5))
		if law.writes > 10 { // never told
			tp.lines = tp.lines[:len(tp.lines)-1]
			tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Release, Lease: "a@0"}, second(13), second(13))
		}
		tp.held("b", 11, 14, 0)
		tp.ends("a", "b")
		if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != law.want {
			t.Errorf("write at %v: %v %s", law.writes, v.Status, v.Reason)
		}
	}
}

// TestAnAttemptToWriteShowsAHolder, whatever became of it.
func TestAnAttemptToWriteShowsAHolder(t *testing.T) {
	for _, outcome := range []recording.Outcome{recording.Ok, recording.Fail, recording.Unknown} {
		var tp tape
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@1"}, second(1), second(1)).Until = second(3)
		tp.held("b", 4, 10, 2)
		tp.tried(outcome, "a", 1, 9, 1)
		tp.ends("a", "b")
		if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Violated {
			t.Errorf("%s: %v %s", outcome, v.Status, v.Reason)
		}
	}
}

// release is tried; it began at a time.
func (tp *tape) release(outcome recording.Outcome, host string, grant, at float64) {
	tp.add(recording.Line{Host: host, Client: host, Op: recording.Release, Lease: fmt.Sprintf("%s@%v", host, grant)}, second(at), second(at+0.001))
	tp.lines[len(tp.lines)-1].Outcome = outcome
}

// TestALeaseWithoutAGrantOnRecordIsAHold from its first write on, and perhaps since long before.
func TestALeaseWithoutAGrantOnRecordIsAHold(t *testing.T) {
	for _, law := range []struct {
		name string
		tape func(*tape)
		want checker.Status
		says string
	}{
		{"it wrote while another held", func(tp *tape) { tp.wrote("a", 0, 5, 0, 0); tp.release(recording.Ok, "a", 0, 9) },
			checker.Violated, `a wrote as a holder of "stock" at 21:00:05.000000 (clock of a, ±1ms) while b held it`},
		{"it was refused while another held", func(tp *tape) { tp.tried(recording.Fail, "a", 0, 5, 0) }, checker.Violated, ""},
		{"it wrote until another held", func(tp *tape) { tp.wrote("a", 0, 1, 0, 0); tp.wrote("a", 0, 5, 0, 0) },
			checker.Violated, `b was granted "stock" at 21:00:04.000000 (clock of b, ±1ms) while a held it from 21:00:01.000000`},
		{"it was over before", func(tp *tape) { tp.wrote("a", 0, 1, 0, 0); tp.release(recording.Ok, "a", 0, 2) }, checker.Held, ""},
		{"nobody knows when it was over", func(tp *tape) { tp.wrote("a", 0, 1, 0, 0) }, checker.Undecided, "1 of 2 have no release on record"},
		{"nobody knows when it began", func(tp *tape) { tp.wrote("a", 0, 9, 0, 0); tp.release(recording.Ok, "a", 0, 10) },
			checker.Undecided, "1 of 2 have no grant on record"},
		{"only its release is known", func(tp *tape) { tp.release(recording.Ok, "a", 0, 5) }, checker.Undecided, "1 of 2 have no grant on record"},
		{"it wrote after its release only", func(tp *tape) { tp.release(recording.Ok, "a", 0, 2); tp.wrote("a", 0, 5, 0, 0) }, checker.Held, ""},
		{"it was not granted", func(tp *tape) {
			tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(4.5), second(5)).Outcome = recording.Unknown
			tp.release(recording.Ok, "a", 0, 5.1)
		}, checker.Undecided, "fewer than two grants"},
		{"it was not granted, but wrote", func(tp *tape) {
			tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(4.5), second(5)).Outcome = recording.Unknown
			tp.wrote("a", 0, 5.1, 0, 0)
		}, checker.Violated, ""},
	} {
		var tp tape
		tp.held("b", 4, 8, 0)
		law.tape(&tp)
		tp.ends("a", "b")
		v := judge(t, &tp, ms)[checker.Exclusion]
		says := v.Reason
		if v.Witness != nil {
			says = v.Witness.Sentence
		}
		if v.Status != law.want || !strings.Contains(says, law.says) {
			t.Errorf("%s: %v %s", law.name, v.Status, says)
		}
	}
}

// TestWhoWroteOnMayHaveHeld: a release that perhaps failed is no proof that its caller gave up.
func TestWhoWroteOnMayHaveHeld(t *testing.T) {
	for outcome, want := range map[recording.Outcome]checker.Status{
		recording.Ok: checker.Held, recording.Fail: checker.Undecided, recording.Unknown: checker.Undecided,
	} {
		var tp tape
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0))
		tp.release(outcome, "a", 0, 3)
		tp.held("b", 4, 8, 0)
		tp.ends("a", "b")
		if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Held {
			t.Errorf("%s: %v %s", outcome, v.Status, v.Reason)
		}
		tp.wrote("a", 0, 5, 0, 0)
		if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != want || want == checker.Undecided && !strings.Contains(v.Reason, "wrote on") {
			t.Errorf("%s, and a write: %v %s", outcome, v.Status, v.Reason)
		}
	}
}

// TestAWriteAfterTheReleaseExtendsNoLease whose end its holder knew.
func TestAWriteAfterTheReleaseExtendsNoLease(t *testing.T) {
	var tp tape
	tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0)).Until = second(3)
	tp.release(recording.Ok, "a", 0, 6)
	tp.wrote("a", 0, 9, 0, 0)
	tp.held("b", 4, 5, 0)
	tp.ends("a", "b")
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Undecided {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

// TestTheWitnessNamesTheTwo that overlapped, although other clocks put the holds in another order.
func TestTheWitnessNamesTheTwo(t *testing.T) {
	var tp tape
	tp.held("z", 4, 4.1, 0)
	tp.held("y", 4.5, 20, 0)
	tp.held("x", 5, 20, 0)
	tp.ends("x", "y", "z")
	j, err := Judge(tp.lines, func(host string) time.Duration {
		if host == "x" {
			return 2 * time.Second
		}
		return 0
	})
	if err != nil {
		t.Fatal(err)
	}
	v := j.Verdicts[checker.Exclusion]
	if v.Status != checker.Violated || !strings.HasPrefix(v.Witness.Sentence, `x was granted "stock"`) || !strings.Contains(v.Witness.Sentence, "while y held") {
		t.Errorf("%v %+v", v.Status, v.Witness)
	}
}

// TestALateReleaseLeavesItOpen: the holder may have looked at the lease's end, or may have believed until then.
func TestALateReleaseLeavesItOpen(t *testing.T) {
	var tp tape
	tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0)).Until = second(3)
	tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Release, Lease: "a@0", Outcome: recording.Fail}, second(6.5), second(6.6))
	tp.held("b", 4, 7, 0)
	tp.ends("a", "b")
	v := judge(t, &tp, ms)[checker.Exclusion]
	if v.Status != checker.Undecided || !strings.Contains(v.Reason, "1 of 2 were given up only after their lease had ended") {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

// TestAnExtensionMovesTheEnd, but one that came after it revives nothing.
func TestAnExtensionMovesTheEnd(t *testing.T) {
	for _, law := range []struct {
		extended float64
		want     checker.Status
	}{{9, checker.Violated}, {13, checker.Undecided}} {
		var tp tape
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@0"}, second(0), second(0)).Until = second(10)
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Extend, Lease: "a@0"}, second(law.extended), second(law.extended)).Until = second(law.extended + 10)
		tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Release, Lease: "a@0"}, second(18), second(18))
		tp.held("b", 11, 12, 0)
		tp.ends("a", "b")
		if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != law.want {
			t.Errorf("extended at %v: %v %s", law.extended, v.Status, v.Reason)
		}
	}
}

func TestEffectsAndFences(t *testing.T) {
	for _, law := range []struct {
		name, property string
		tape           func(*tape)
		want           checker.Status
	}{
		{"sections apart", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 2, 1)
			tp.wrote("a", 0, 1, 1, 0)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4, 2, 0)
		}, checker.Held},
		{"a write comes into a section", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 9, 1)
			tp.wrote("a", 0, 1, 1, 0)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4, 2, 0)
			tp.wrote("a", 0, 8, 1, 0)
		}, checker.Violated},
		{"a write comes between a grant and the first write, and may have been read", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 9, 1)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4, 2, 0)
			tp.wrote("a", 0, 8, 1, 0)
		}, checker.Undecided},
		{"the same with versions", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 9, 1)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4, 2, 1)
			tp.wrote("a", 0, 8, 1, 2)
		}, checker.Undecided},
		{"a write at about the time of the first one of a section", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 9, 1)
			tp.wrote("a", 0, 4, 1, 0)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4.015, 2, 0)
			tp.wrote("a", 0, 8, 1, 0)
		}, checker.Undecided},
		{"versions tell what clocks cannot", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 0.009, 1)
			tp.held("b", 0.001, 0.005, 2)
			tp.wrote("a", 0, 0.001, 1, 1)
			tp.wrote("b", 0.001, 0.002, 2, 2)
			tp.wrote("a", 0, 0.003, 1, 3)
		}, checker.Violated},
		{"a write too close to tell", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 1, 1)
			tp.wrote("a", 0, 0.999, 1, 0)
			tp.held("b", 1.003, 2, 2)
			tp.wrote("b", 1.003, 1.004, 2, 0)
		}, checker.Undecided},
		{"a write at about the time of the grant", checker.Effects, func(tp *tape) {
			tp.held("b", 0, 0.99, 1)
			tp.wrote("b", 0, 1.005, 1, 0)
			tp.held("a", 1, 9, 2)
			tp.wrote("a", 1, 8, 2, 0)
		}, checker.Undecided},
		{"a write at about the time of the last one", checker.Effects, func(tp *tape) {
			tp.held("a", 0, 2, 1)
			tp.wrote("a", 0, 1, 1, 0)
			tp.wrote("b", 5, 1.015, 2, 0) // its grant is not on record
		}, checker.Undecided},
		{"fences in order", checker.FenceOrder, func(tp *tape) { tp.held("a", 0, 1, 1); tp.held("b", 2, 3, 2) }, checker.Held},
		{"a fence goes back", checker.FenceOrder, func(tp *tape) { tp.held("a", 0, 1, 2); tp.held("b", 2, 3, 1) }, checker.Violated},
		{"a fence twice, whoever came first", checker.FenceOrder, func(tp *tape) { tp.held("a", 0, 1, 2); tp.held("b", 0, 1, 2) }, checker.Violated},
		{"a fence goes back, too close to tell", checker.FenceOrder, func(tp *tape) { tp.held("a", 0, 1, 2); tp.held("b", 0.004, 3, 1) }, checker.Undecided},
		{"a stale write applied", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 0, 9, 1)
			tp.held("b", 3, 5, 2)
			tp.wrote("b", 3, 4, 2, 0)
			tp.wrote("a", 0, 8, 1, 0)
		}, checker.Violated},
		{"one fence of two holders", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 1, 3, 5)
			tp.wrote("a", 1, 1.2, 5, 0)
			tp.held("b", 4, 6, 5)
			tp.wrote("b", 4, 4.2, 5, 0)
		}, checker.Violated},
		{"one fence of two holders, in the order of versions", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 1, 3, 5)
			tp.wrote("a", 1, 1.2, 5, 1)
			tp.held("b", 4, 6, 5)
			tp.wrote("b", 4, 4.2, 5, 2)
		}, checker.Violated},
		{"one fence of two holders, of which one perhaps did not write", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 1, 3, 5)
			tp.wrote("a", 1, 1.2, 5, 0)
			tp.held("b", 4, 6, 5)
			tp.tried(recording.Unknown, "b", 4, 4.2, 5)
		}, checker.Undecided},
		{"one fence of one holder", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 1, 3, 5)
			tp.wrote("a", 1, 1.2, 5, 0)
			tp.wrote("a", 1, 1.4, 5, 0)
		}, checker.Held},
		{"a stale write applied, as versions tell", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 0, 1, 1)
			tp.held("b", 0, 1, 2)
			tp.wrote("b", 0, 0.5, 2, 1)
			tp.wrote("a", 0, 0.5, 1, 2)
		}, checker.Violated},
		{"writes in order, as versions tell", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 0, 1, 1)
			tp.held("b", 0, 1, 2)
			tp.wrote("b", 0, 0.5, 2, 2)
			tp.wrote("a", 0, 0.5, 1, 1)
		}, checker.Held},
		{"writes too close to tell", checker.FenceEnforcement, func(tp *tape) {
			tp.held("a", 0, 1, 1)
			tp.held("b", 0, 1, 2)
			tp.wrote("b", 0, 0.5, 2, 0)
			tp.wrote("a", 0, 0.5, 1, 0)
		}, checker.Undecided},
		{"no writes", checker.Effects, func(tp *tape) { tp.held("a", 0, 1, 1) }, checker.Undecided},
	} {
		var tp tape
		law.tape(&tp)
		tp.ends("a", "b")
		if v := judge(t, &tp, 10*ms)[law.property]; v.Status != law.want {
			t.Errorf("%s: %v %s", law.name, v.Status, v.Reason)
		}
	}
}

// TestAWriteOfUnknownOutcomeLeavesHeldOpen where it may matter: it may have been applied, when it was made or later.
func TestAWriteOfUnknownOutcomeLeavesHeldOpen(t *testing.T) {
	for _, law := range []struct {
		name           string
		tape           func(*tape)
		effects, fence checker.Status
	}{
		{"before another's section", func(tp *tape) {
			tp.held("a", 1, 3, 1)
			tp.tried(recording.Unknown, "a", 1, 1.2, 1)
			tp.held("b", 4, 10, 2)
			tp.wrote("b", 4, 5, 2, 1)
			tp.wrote("b", 4, 9, 2, 2)
		}, checker.Undecided, checker.Undecided},
		{"after another's section", func(tp *tape) {
			tp.held("a", 1, 3, 1)
			tp.held("b", 4, 6, 2)
			tp.wrote("b", 4, 5, 2, 0)
			tp.tried(recording.Unknown, "a", 1, 9, 1)
		}, checker.Undecided, checker.Undecided},
		{"granted after the others had written, the greatest fence", func(tp *tape) {
			tp.held("a", 1, 3, 1)
			tp.wrote("a", 1, 2, 1, 0)
			tp.held("b", 4, 6, 2)
			tp.tried(recording.Unknown, "b", 4, 5, 2)
		}, checker.Held, checker.Held},
		{"one that may have been before a lower fence", func(tp *tape) {
			tp.held("b", 1, 3, 2)
			tp.tried(recording.Unknown, "b", 1, 2, 2)
			tp.held("a", 4, 6, 1)
			tp.wrote("a", 4, 5, 1, 0)
		}, checker.Undecided, checker.Undecided},
		{"among one's own", func(tp *tape) {
			tp.held("a", 1, 5, 1)
			tp.wrote("a", 1, 2, 1, 0)
			tp.tried(recording.Unknown, "a", 1, 3, 1)
			tp.wrote("a", 1, 4, 1, 0)
		}, checker.Held, checker.Held},
		{"of data that nobody certainly wrote", func(tp *tape) {
			tp.held("a", 1, 3, 1)
			tp.wrote("a", 1, 2, 1, 0)
			tp.tried(recording.Unknown, "a", 1, 1.2, 1)
			tp.lines[len(tp.lines)-1].Resource = "item"
			tp.held("b", 4, 10, 2)
			tp.tried(recording.Unknown, "b", 4, 5, 2)
			tp.lines[len(tp.lines)-1].Resource = "item"
		}, checker.Undecided, checker.Undecided},
		{"one that certainly failed", func(tp *tape) {
			tp.held("a", 1, 3, 1)
			tp.tried(recording.Fail, "a", 1, 1.2, 1)
			tp.held("b", 4, 10, 2)
			tp.wrote("b", 4, 5, 2, 0)
		}, checker.Held, checker.Held},
	} {
		var tp tape
		law.tape(&tp)
		tp.ends("a", "b")
		verdicts := judge(t, &tp, ms)
		for property, want := range map[string]checker.Status{checker.Effects: law.effects, checker.FenceEnforcement: law.fence} {
			v := verdicts[property]
			if v.Status != want || want == checker.Undecided && !strings.Contains(v.Reason, "nobody knows whether") {
				t.Errorf("%s: %s: %v %s", law.name, property, v.Status, v.Reason)
			}
		}
	}
}

// TestAFenceGrantedAgainToItsHolderIsInOrder: a reentrant lock does so.
func TestAFenceGrantedAgainToItsHolderIsInOrder(t *testing.T) {
	for _, law := range []struct {
		name string
		tape func(*tape)
		want checker.Status
	}{
		{"while it held", func(tp *tape) { tp.held("a", 1, 3, 5); tp.held("a", 1.5, 2, 5); tp.held("b", 4, 6, 6) }, checker.Held},
		{"while it held that one", func(tp *tape) {
			tp.held("a", 1, 3, 5)
			tp.held("a", 2, 5, 5)
			tp.held("a", 4, 7, 5)
			tp.held("b", 8, 9, 6)
		}, checker.Held},
		{"perhaps while it held", func(tp *tape) { tp.held("a", 1, 3, 5); tp.held("a", 3.005, 4, 5); tp.held("b", 5, 6, 6) }, checker.Undecided},
		{"perhaps after it held, with no release on record", func(tp *tape) {
			tp.add(recording.Line{Host: "a", Client: "a", Op: recording.Acquire, Lease: "a@1", Fence: 5}, second(1), second(1))
			tp.held("a", 10, 11, 5)
			tp.held("b", 12, 13, 6)
		}, checker.Undecided},
		{"after it held", func(tp *tape) { tp.held("a", 1, 3, 5); tp.held("a", 4, 5, 5) }, checker.Violated},
		{"to another", func(tp *tape) { tp.held("a", 1, 3, 5); tp.held("b", 2, 5, 5) }, checker.Violated},
		{"while another was granted a greater one", func(tp *tape) {
			tp.held("a", 1, 9, 5)
			tp.held("b", 2, 3, 6)
			tp.held("a", 4, 5, 5)
		}, checker.Held},
		{"again, after a greater one", func(tp *tape) {
			tp.held("b", 1, 2, 6)
			tp.held("a", 3, 6, 5)
			tp.held("a", 4, 5, 5)
		}, checker.Violated},
		{"and to nobody else", func(tp *tape) { tp.held("a", 1, 3, 5); tp.held("a", 2, 2.5, 5) }, checker.Undecided},
	} {
		var tp tape
		law.tape(&tp)
		tp.ends("a", "b")
		if v := judge(t, &tp, 10*ms)[checker.FenceOrder]; v.Status != law.want {
			t.Errorf("%s: %v %s", law.name, v.Status, v.Reason)
		}
	}
}

// TestAHoleInTheVersionsLeavesHeldOpen: a write is not on record, and it may have been anybody's.
func TestAHoleInTheVersionsLeavesHeldOpen(t *testing.T) {
	for _, law := range []struct {
		name string
		tape func(*tape)
		want checker.Status
	}{
		{"no hole", func(tp *tape) { tp.wrote("a", 1, 2, 5, 1); tp.wrote("a", 1, 3, 5, 2) }, checker.Held},
		{"a log that begins late", func(tp *tape) { tp.wrote("a", 1, 2, 5, 7); tp.wrote("a", 1, 3, 5, 8) }, checker.Held},
		{"a hole", func(tp *tape) { tp.wrote("a", 1, 2, 5, 1); tp.wrote("a", 1, 3, 5, 3) }, checker.Undecided},
		{"a write without a version fills it", func(tp *tape) {
			tp.wrote("a", 1, 2, 5, 1)
			tp.wrote("a", 1, 2.5, 5, 0)
			tp.wrote("a", 1, 3, 5, 3)
		}, checker.Held},
		{"one of unknown outcome fills it", func(tp *tape) {
			tp.wrote("a", 1, 2, 5, 1)
			tp.tried(recording.Unknown, "a", 1, 1.5, 5)
			tp.wrote("a", 1, 3, 5, 3)
		}, checker.Held},
		{"one that was refused does not", func(tp *tape) {
			tp.wrote("a", 1, 2, 5, 1)
			tp.tried(recording.Fail, "a", 1, 2.5, 5)
			tp.wrote("a", 1, 3, 5, 3)
		}, checker.Undecided},
		{"one for two", func(tp *tape) {
			tp.wrote("a", 1, 2, 5, 1)
			tp.wrote("a", 1, 2.5, 5, 0)
			tp.wrote("a", 1, 3, 5, 4)
		}, checker.Undecided},
		{"one that came before", func(tp *tape) {
			tp.wrote("a", 1, 1.5, 5, 0)
			tp.wrote("a", 1, 2, 5, 2)
			tp.wrote("a", 1, 3, 5, 4)
		}, checker.Undecided},
		{"one that came after", func(tp *tape) {
			tp.wrote("a", 1, 2, 5, 2)
			tp.wrote("a", 1, 3, 5, 4)
			tp.wrote("a", 1, 4, 5, 0)
		}, checker.Undecided},
	} {
		var tp tape
		tp.held("a", 1, 5, 5)
		law.tape(&tp)
		tp.ends("a")
		verdicts := judge(t, &tp, ms)
		for _, property := range []string{checker.Effects, checker.FenceEnforcement} {
			v := verdicts[property]
			if v.Status != law.want || law.want == checker.Undecided && !strings.Contains(v.Reason, "the log is not whole") {
				t.Errorf("%s: %s: %v %s", law.name, property, v.Status, v.Reason)
			}
		}
	}
}

// TestVersionsThatContradictSayNothing: they count something else, or the data went back.
func TestVersionsThatContradictSayNothing(t *testing.T) {
	for _, law := range []struct {
		name string
		tape func(*tape)
		says string
	}{
		{"one version twice", func(tp *tape) {
			tp.wrote("a", 0, 1, 1, 1)
			tp.wrote("a", 0, 2, 1, 2)
			tp.wrote("b", 4, 5, 2, 2)
			tp.wrote("b", 4, 6, 2, 3)
		}, `the versions of "stock" contradict each other: two writes made version 2 (`},
		{"one version twice, in between", func(tp *tape) {
			tp.wrote("b", 4, 5, 2, 1)
			tp.wrote("a", 0, 1, 1, 1)
			tp.wrote("b", 4, 6, 2, 2)
		}, "two writes made version 1 ("},
		{"a version after a higher one", func(tp *tape) {
			tp.wrote("a", 0, 1, 1, 2)
			tp.wrote("b", 4, 5, 2, 1)
			tp.wrote("b", 4, 6, 2, 3)
		}, "version 1 was made after a higher one ("},
	} {
		var tp tape
		tp.held("a", 0, 3, 1)
		tp.held("b", 4, 8, 2)
		law.tape(&tp)
		tp.ends("a", "b")
		verdicts := judge(t, &tp, ms)
		for _, property := range []string{checker.Effects, checker.FenceEnforcement} {
			if v := verdicts[property]; v.Status != checker.Undecided || !strings.Contains(v.Reason, law.says) {
				t.Errorf("%s: %s: %v %s", law.name, property, v.Status, v.Reason)
			}
		}
	}
}

// TestASectionWithoutAGrantOnRecordIsJudged by its writes, and may have begun at any time.
func TestASectionWithoutAGrantOnRecordIsJudged(t *testing.T) {
	for _, law := range []struct {
		name   string
		writes []float64
		want   checker.Status
	}{
		{"around another's write", []float64{4, 6}, checker.Violated},
		{"after it", []float64{6}, checker.Undecided},
		{"before it", []float64{3, 4}, checker.Held},
	} {
		var tp tape
		for _, at := range law.writes {
			tp.wrote("a", 0, at, 0, 0)
		}
		tp.held("b", 4.5, 8, 0)
		tp.wrote("b", 4.5, 5, 0, 0)
		tp.ends("a", "b")
		v := judge(t, &tp, ms)[checker.Effects]
		if v.Status != law.want || law.want == checker.Undecided && !strings.Contains(v.Reason, "not on record") {
			t.Errorf("%s: %v %s", law.name, v.Status, v.Reason)
		}
	}
}

func TestMissingLinesLeaveHeldOpen(t *testing.T) {
	var tp tape
	tp.held("a", 0, 1, 0)
	tp.held("b", 2, 3, 0)
	tp.ends("a")
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Undecided || !strings.Contains(v.Reason, "b has no end line") {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
	tp.ends("b")
	tp.lines[len(tp.lines)-2].Op = recording.Dropped
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Undecided || !strings.Contains(v.Reason, "b has no start line") {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
	tp.ends("b")
	tp.lines[len(tp.lines)-1].Dropped = 7
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Undecided || !strings.Contains(v.Reason, "b did not write 7 lines") {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

// TestAClockThatJumpedIsTrustedLess: the recording itself refutes the bound.
func TestAClockThatJumpedIsTrustedLess(t *testing.T) {
	for _, jump := range []time.Duration{0, 3 * time.Second} {
		var tp tape
		tp.held("a", 0, 5, 0)
		tp.shift = func(host string) time.Duration {
			if host == "a" {
				return 0
			}
			return -jump
		}
		tp.held("b", 4.9+jump.Seconds(), 6+jump.Seconds(), 0) // with the jump: truly after a's
		tp.ends("a", "b")
		for i := range tp.lines {
			l := &tp.lines[i]
			l.Mono = time.Duration(l.Ended.Add(-tp.shift(l.Host)).UnixNano()) - time.Duration(epoch.UnixNano()) + time.Second
		}
		tp.lines = append(tp.lines, recording.Line{Host: "b", Process: "b", Op: recording.Start, Ended: second(-1), Mono: 1}) // before the jump
		j, err := Judge(tp.lines, bounds(ms))
		if err != nil {
			t.Fatal(err)
		}
		v := j.Verdicts[checker.Exclusion]
		if jump == 0 && v.Status != checker.Violated {
			t.Errorf("no jump: %v %s", v.Status, v.Reason)
		}
		if jump > 0 && (v.Status != checker.Undecided || len(j.Warnings) != 1) {
			t.Errorf("jump: %v %s %s", v.Status, v.Reason, j.Warnings)
		}
	}
}

// TestClientsOfOneNameInTwoProcessesAreTwo: a name that was given twice must not hide a violation.
func TestClientsOfOneNameInTwoProcessesAreTwo(t *testing.T) {
	var tp tape
	tp.held("a", 0, 2, 0)
	tp.held("b", 1, 3, 0)
	tp.ends("a", "b")
	for i := range tp.lines {
		tp.lines[i].Client = "worker"
	}
	if v := judge(t, &tp, ms)[checker.Exclusion]; v.Status != checker.Violated {
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

// valid draws a recording that is right in true time: holds one after the other, fences and versions that grow, each host's
// clock off by another amount each time it is read, within the bound.
func valid(t *rapid.T, bound time.Duration) *tape {
	tp := &tape{}
	tp.shift = func(string) time.Duration {
		if rapid.IntRange(0, 3).Draw(t, "extreme") > 0 {
			return rapid.SampledFrom([]time.Duration{-bound, bound}).Draw(t, "clock")
		}
		return time.Duration(rapid.Int64Range(-int64(bound), int64(bound)).Draw(t, "clock"))
	}
	now, version := 0.0, int64(0)
	gap := rapid.Float64Range(0.000001, 0.1)
	for fence := int64(1); fence <= rapid.Int64Range(2, 20).Draw(t, "holds"); fence++ {
		host := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "host")
		lease := fmt.Sprint(fence)
		line := func(op recording.Op) recording.Line {
			return recording.Line{Host: host, Client: host, Op: op, Lease: lease, Fence: fence}
		}
		asked := now - gap.Draw(t, "waited")
		now += gap.Draw(t, "wait")
		l := tp.add(line(recording.Acquire), second(asked), second(now))
		if rapid.Bool().Draw(t, "until") {
			l.Until = l.Ended.Add(time.Hour)
		}
		for range rapid.IntRange(0, 3).Draw(t, "writes") {
			began := now
			now += gap.Draw(t, "write")
			version++
			w := tp.add(line(recording.Write), second(began), second(now))
			if rapid.Bool().Draw(t, "versioned") {
				w.Version = version
			}
		}
		now += gap.Draw(t, "work")
		if rapid.IntRange(0, 4).Draw(t, "releases") > 0 {
			tp.add(line(recording.Release), second(now), second(now+gap.Draw(t, "release")))
		}
		now += 1e-9
	}
	tp.ends("a", "b", "c")
	return tp
}

// TestClocksWithinTheirBoundsNeverMakeAViolation of a recording that is right in true time.
func TestClocksWithinTheirBoundsNeverMakeAViolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := time.Duration(rapid.Int64Range(0, int64(200*ms)).Draw(t, "bound"))
		for name, v := range judge(t, valid(t, bound), bound) {
			if v.Status == checker.Violated {
				t.Errorf("%s: %s", name, v.Witness.Sentence)
			}
		}
	})
}

// TestTheSweepAgreesWithTheDefinition of an overlap, pair by pair.
func TestTheSweepAgreesWithTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "bound"))
		var tp tape
		type span struct {
			host     string
			from, to int
		}
		var spans []span
		for range rapid.IntRange(2, 7).Draw(t, "holds") {
			from := rapid.IntRange(0, 12).Draw(t, "from")
			s := span{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "host"), from, from + rapid.IntRange(1, 8).Draw(t, "length")}
			spans = append(spans, s)
			lease := fmt.Sprint(len(spans))
			tp.add(recording.Line{Host: s.host, Client: s.host, Op: recording.Acquire, Lease: lease}, second(float64(s.from)), second(float64(s.from)))
			tp.add(recording.Line{Host: s.host, Client: s.host, Op: recording.Release, Lease: lease}, second(float64(s.to)), second(float64(s.to)))
		}
		tp.ends("a", "b", "c")
		certainly, perhaps := false, false
		for _, x := range spans {
			for _, y := range spans {
				if x.host == y.host {
					continue
				}
				slack := time.Duration(y.to-x.from) * time.Second // y ended after x began by this
				other := time.Duration(x.to-y.from) * time.Second
				certainly = certainly || slack > 2*bound && other > 2*bound
				perhaps = perhaps || slack >= -2*bound && other >= -2*bound
			}
		}
		want := checker.Held
		switch {
		case certainly:
			want = checker.Violated
		case perhaps:
			want = checker.Undecided
		}
		if v := judge(t, &tp, bound)[checker.Exclusion]; v.Status != want {
			t.Errorf("%v, want %v: %s (bound %v, %v)", v.Status, want, v.Reason, bound, spans)
		}
	})
}
