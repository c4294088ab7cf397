package checker

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/history"
)

// drawLocking draws what a few clients do with a lock that may be broken in any way, in a few instants, so that many
// events fall on one.
func drawLocking(t *rapid.T) []history.Event {
	var events []history.Event
	for _, client := range []string{"A", "B", "C"} {
		now := time.Duration(0)
		next := func() time.Duration {
			now += time.Duration(rapid.IntRange(0, 4).Draw(t, "wait"))
			return now
		}
		leases := 0
		for range rapid.IntRange(0, 5).Draw(t, "calls of "+client) {
			op := rapid.SampledFrom([]history.Op{
				history.Acquire, history.Acquire, history.Release, history.Extend, history.Check, history.Write,
			}).Draw(t, "operation")
			if op == history.Acquire {
				leases++
			}
			e := history.Event{
				Process: client, Op: op, Type: history.Invoke, Time: next(),
				Lease: fmt.Sprint(client, max(1, leases-rapid.IntRange(0, 1).Draw(t, "older"))),
			}
			if op == history.Acquire {
				e.Lease = fmt.Sprint(client, leases)
			}
			events = append(events, e)
			e.Type = rapid.SampledFrom([]history.Type{history.Ok, history.Ok, history.Fail, history.Info}).Draw(t, "outcome")
			e.Time = next()
			e.Until = e.Time + time.Duration(rapid.IntRange(-2, 6).Draw(t, "until"))
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.Time - b.Time) })
	for i := range events {
		events[i].Index = i
	}
	return events
}

// checkMany judges a hundred random histories, or as many as the environment asks for (make check-slow).
func checkMany(t *testing.T, compare func(*rapid.T)) {
	t.Helper()
	for range histories(t, 100) / 100 {
		rapid.Check(t, compare)
	}
}

// histories is how many a test judges: a few, or as many as the environment asks for.
func histories(t *testing.T, few int) int {
	t.Helper()
	asked := os.Getenv("LOCKFAULT_HISTORIES")
	if asked == "" {
		return few
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSweepAndPorcupineAgreeOnExclusion(t *testing.T) {
	seen := map[bool]int{}
	checkMany(t, func(t *rapid.T) {
		c, err := NewCase(drawLocking(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, holds := range holdsByLock(c) {
			first, second := firstOverlap(holds)
			overlap := second != nil
			seen[overlap]++
			if legal := porcupine.CheckOperations(Mutex(), c.mutexOperations(holds)); legal == overlap {
				t.Errorf("the sweep says overlap %v, porcupine says legal %v", overlap, legal)
			}
			earliest := forever
			for _, a := range holds {
				for _, b := range holds {
					if a.Client != b.Client && max(a.From, b.From) < min(a.To, b.To) {
						earliest = min(earliest, max(a.From, b.From))
					}
				}
			}
			if overlap != (earliest < forever) || overlap && second.From != earliest {
				t.Errorf("the sweep finds %v and %v, but the first overlap is at %v", first, second, earliest)
			}
			if overlap && porcupine.CheckOperations(Mutex(), c.mutexOperations([]*hold{first, second})) {
				t.Errorf("the witness alone, %v and %v, does not show it", first, second)
			}
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("of the histories drawn, %d broke exclusion and %d did not: nothing was compared", seen[true], seen[false])
	}
}

// drawAccesses draws grants and the log of a register, in any order. A client may be granted the lock again if it names no
// leases.
func drawAccesses(t *rapid.T) []history.Event {
	var events []history.Event
	version := int64(rapid.IntRange(0, 2).Draw(t, "initial"))
	granted := map[string]bool{}
	named := rapid.Bool().Draw(t, "leases are named")
	for i := range rapid.IntRange(1, 12).Draw(t, "accesses") {
		client := rapid.SampledFrom([]string{"A", "B", "C", "D"}).Draw(t, "client")
		lease := ""
		if named {
			lease = client
		}
		if !granted[client] && rapid.Bool().Draw(t, "granted first") {
			granted[client] = named
			events = append(events,
				history.Event{Process: client, Op: history.Acquire, Type: history.Invoke, Lease: lease},
				history.Event{Process: client, Op: history.Acquire, Type: history.Ok, Lease: lease})
			continue
		}
		e := history.Event{Process: "R", Role: history.Resource, By: client, Lease: lease, Time: time.Duration(i)}
		e.Op = rapid.SampledFrom([]history.Op{history.Read, history.Write}).Draw(t, "operation")
		e.Type = rapid.SampledFrom([]history.Type{history.Ok, history.Ok, history.Ok, history.Fail}).Draw(t, "outcome")
		if e.Op == history.Write && e.Type == history.Ok {
			version++
		}
		e.Version = version
		events = append(events, e)
	}
	for i := range events {
		events[i].Index, events[i].Time = i, time.Duration(i)
	}
	return events
}

func TestRulesPorcupineAndConflictGraphAgreeOnEffects(t *testing.T) {
	seen := map[bool]int{}
	checkMany(t, func(t *rapid.T) {
		c, err := NewCase(drawAccesses(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range registers(c) {
			if log.gap != "" {
				t.Fatal(log.gap)
			}
			atomic := len(log.breaches) == 0
			seen[atomic]++
			if legal := porcupine.CheckOperations(SectionRegister(log.initial), log.operations()); legal != atomic {
				t.Errorf("the rules say atomic %v, porcupine says %v", atomic, legal)
			}
			if serial := !cyclic(log); serial != atomic {
				t.Errorf("the rules say atomic %v, the conflict graph says %v", atomic, serial)
			}
		}
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("of the logs drawn, %d were atomic and %d not: nothing was compared", seen[true], seen[false])
	}
}

// cyclic tells whether the conflict graph of the sections has a cycle, by transitive closure.
func cyclic(r *register) bool {
	sections := eventsOf(r)
	n := len(sections)
	before := make([][]bool, n)
	for i := range n {
		before[i] = make([]bool, n)
		for j := range n {
			before[i][j] = i != j && conflicts(sections[i], sections[j])
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				before[i][j] = before[i][j] || before[i][k] && before[k][j]
			}
		}
	}
	for i := range n {
		if before[i][i] {
			return true
		}
	}
	return false
}

// eventsOf tells the steps of each section that did not abort, its grant first if it began with a write.
func eventsOf(r *register) (sections [][]history.Event) {
	all := make([][]history.Event, len(r.sections))
	for i := range r.Accesses {
		a := &r.Accesses[i]
		if a.kind != readOk && a.kind != writeOk {
			continue
		}
		of := &all[r.places.of(a.section())-1]
		if g := r.grantOf(a.lease); len(*of) == 0 && a.kind == writeOk && g != nil && g.Done < a.event {
			*of = append(*of, r.Events[g.Done])
		}
		*of = append(*of, *r.at(a))
	}
	for i, events := range all {
		if !r.sections[i].aborted {
			sections = append(sections, events)
		}
	}
	return sections
}

// conflicts tells whether an access of a comes before one of b with which it does not commute.
func conflicts(a, b []history.Event) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Index < y.Index && (x.Op == history.Write || y.Op == history.Write) {
				return true
			}
		}
	}
	return false
}

func TestDisagreementDecidesNothing(t *testing.T) {
	c, err := NewCase(script(t, guilty))
	if err != nil {
		t.Fatal(err)
	}
	operations := c.mutexOperations(holdsByLock(c)[0])
	for _, v := range []Verdict{held("it seems"), undecided("who knows"), violated("it seems")} {
		got := confirm(v, Mutex(), operations) // which are illegal
		if wants := v.Status == Held; wants != (got.Reason == "lockfault's two checkers disagree: please report this history") {
			t.Errorf("%v against porcupine's illegal gives %v (%s)", v.Status, got.Status, got.Reason)
		}
		got = confirm(v, Mutex(), operations[:2]) // which are legal
		if wants := v.Status == Violated; wants != (got.Status == Undecided && v.Status != Undecided) {
			t.Errorf("%v against porcupine's legal gives %v (%s)", v.Status, got.Status, got.Reason)
		}
	}
}
