package checker

import (
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
)

// judgeOne gives the verdict of one property on a script.
func judgeOne(t *testing.T, property, text string) Verdict {
	t.Helper()
	p, ok := Find(property)
	if !ok {
		t.Fatalf("no property %q", property)
	}
	c, err := NewCase(script(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Judge(c)
}

const (
	innocent = `
		0..1   A acquire ok lease=a
		2..3   A release ok lease=a
`
	guilty = `
		0..1   A acquire ok lease=a
		2..3   B acquire ok lease=b
`
)

func TestAHistorySaysNoMoreThanItProves(t *testing.T) {
	checkLaws(t, Exclusion, []law{
		{"innocent", innocent, Held, "", nil},
		{"a fault had no effect", innocent + "1..2 fault-7 pause fail subject=A", Undecided, "fault-7 (pause of A) had no effect", nil},
		{"a fault never struck", innocent + "3 fault-7 pause fail subject=A", Undecided, "fault-7 (pause of A) never struck", nil},
		{"a fault was never reported", innocent + "1 fault-7 pause invoke subject=A", Undecided, "fault-7 (pause of A) left no evidence of an effect", nil},
		{"a fault took effect", innocent + "1..2 fault-7 pause ok subject=A", Held, "", nil},
		{"cut off", innocent + "cut off", Undecided, "the history has no end event: it was cut off", nil},
		{"guilty", guilty, Violated, "", nil},
		{"guilty, though a fault had no effect", guilty + "1..2 fault-7 pause fail subject=A", Violated, "", nil},
		{"guilty, though cut off", guilty + "cut off", Violated, "", nil},
	})
}

func TestAFaultWithoutEffectIsNotInTheSentence(t *testing.T) {
	v := judgeOne(t, Exclusion, guilty+"1.5..4 fault-7 pause fail subject=A")
	if strings.Contains(v.Witness.Sentence, "paused") {
		t.Errorf("%q blames a pause that had no effect", v.Witness.Sentence)
	}
}

func TestAJudgeThatPanicsDecidesNothing(t *testing.T) {
	v := guard(func(*Case) Verdict { panic("lost my glasses") })(&Case{})
	if v.Status != Undecided || !strings.Contains(v.Reason, "lost my glasses") {
		t.Errorf("got %v (%s)", v.Status, v.Reason)
	}
}

func TestWithoutABeginEventTheRestIsJudged(t *testing.T) {
	events := script(t, guilty)[1:]
	for i := range events {
		events[i].Index = i
	}
	verdicts, err := Judge(events)
	if err != nil || verdicts[Exclusion].Status != Violated {
		t.Errorf("got %v, %v", verdicts[Exclusion], err)
	}
}

func TestAnEmptyHistoryIsUndecided(t *testing.T) {
	verdicts, err := Judge(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range verdicts {
		if v.Status != Undecided || v.Reason == "" {
			t.Errorf("%s is %v (%q)", name, v.Status, v.Reason)
		}
	}
	if len(verdicts) != len(All) {
		t.Errorf("%d verdicts for %d properties", len(verdicts), len(All))
	}
}

func TestMalformedHistoriesAreErrors(t *testing.T) {
	event := func(i int, typ history.Type, op history.Op) history.Event {
		return history.Event{Index: i, Process: "A", Type: typ, Op: op}
	}
	late, early := event(0, history.Invoke, history.Acquire), event(1, history.Ok, history.Acquire)
	late.Time = 1
	leased := func(i int, typ history.Type) history.Event {
		e := event(i, typ, history.Acquire)
		e.Lease = "a"
		return e
	}
	fault := func(i int, typ history.Type) history.Event {
		return history.Event{Index: i, Process: "fault-1", Role: history.Nemesis, Type: typ, Op: "pause"}
	}
	for name, l := range map[string]struct {
		events []history.Event
		want   string
	}{
		"completion without invocation": {[]history.Event{event(0, history.Ok, history.Acquire)}, "event 0: A completes acquire"},
		"completion of another operation": {[]history.Event{event(0, history.Invoke, history.Acquire),
			event(1, history.Ok, history.Release)}, "event 1: A completes release"},
		"two open operations": {[]history.Event{event(0, history.Invoke, history.Acquire),
			event(1, history.Invoke, history.Write)}, "event 1: A invokes write while its acquire of 0s is open"},
		"index out of order":         {[]history.Event{event(5, history.Invoke, history.Acquire)}, "event 0: its index is 5"},
		"time out of order":          {[]history.Event{late, early}, "event 1: its time, 0s, is before that of its predecessor, 1ns"},
		"a lease granted twice":      {[]history.Event{leased(0, history.Invoke), leased(1, history.Ok), leased(2, history.Invoke), leased(3, history.Ok)}, `event 3: lease "a" was granted before, at 0s`},
		"a fault healed, not struck": {[]history.Event{fault(0, history.Ok)}, "event 0: fault fault-1 completes"},
		"a fault struck twice":       {[]history.Event{fault(0, history.Invoke), fault(1, history.Invoke)}, "event 1: fault fault-1 is injected"},
		"an unknown role":            {[]history.Event{{Role: 9}}, "event 0: Role(9) is no role"},
		"a plan that cannot be read": {[]history.Event{{Role: history.Harness, Op: history.Begin, Detail: map[string]string{"ttl": "long"}}}, "event 0: begin event: ttl"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Judge(l.events)
			if err == nil || !strings.Contains(err.Error(), l.want) {
				t.Errorf("error %v, want %q", err, l.want)
			}
		})
	}
}

func TestPropertiesAreFoundByName(t *testing.T) {
	for _, p := range All {
		if found, ok := Find(p.Name); !ok || found.Name != p.Name || p.Claim == "" {
			t.Errorf("property %q is not whole", p.Name)
		}
	}
	if _, ok := Find("sanity"); ok {
		t.Error("found a property that does not exist")
	}
}
