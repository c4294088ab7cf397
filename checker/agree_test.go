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

// checkMany judges a few random histories, or as many as the environment asks for (make check-slow).
func checkMany(t *testing.T, few int, compare func(*rapid.T)) {
	t.Helper()
	for range histories(t, few) / 100 {
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
	checkMany(t, 100, func(t *rapid.T) {
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

// drawAccesses draws grants and the logs of a few registers, in any order. A client may be granted the lock again if it names
// no leases.
func drawAccesses(t *rapid.T) []history.Event {
	var events []history.Event
	registers := []string{"x", "y", "z"}[:rapid.IntRange(1, 3).Draw(t, "registers")]
	version := map[string]int64{"x": int64(rapid.IntRange(0, 2).Draw(t, "initial"))}
	granted := map[string]bool{}
	named := rapid.Bool().Draw(t, "leases are named")
	for range rapid.IntRange(1, 16).Draw(t, "accesses") {
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
		e := history.Event{Process: "R", Role: history.Resource, By: client, Lease: lease}
		e.Resource = rapid.SampledFrom(registers).Draw(t, "register")
		e.Op = rapid.SampledFrom([]history.Op{history.Read, history.Write}).Draw(t, "operation")
		e.Type = rapid.SampledFrom([]history.Type{history.Ok, history.Ok, history.Ok, history.Fail}).Draw(t, "outcome")
		if e.Op == history.Write && e.Type == history.Ok {
			version[e.Resource]++
		}
		e.Version = version[e.Resource]
		events = append(events, e)
	}
	pace := rapid.IntRange(1, 3).Draw(t, "events at one time")
	for i := range events {
		events[i].Index, events[i].Time = i, time.Duration(i/pace)
	}
	return events
}

func TestRulesPorcupineAndConflictGraphAgreeOnEffects(t *testing.T) {
	seen := map[string]int{}
	checkMany(t, 4000, func(t *rapid.T) {
		c, err := NewCase(drawAccesses(t))
		if err != nil {
			t.Fatal(err)
		}
		logs := registers(c)
		if len(logs) == 0 {
			return
		}
		found := "atomic"
		for _, log := range logs {
			if log.gap != "" {
				t.Fatal(log.gap)
			}
			if len(log.breaches) > 0 {
				found = "broken in one register"
			}
		}
		whole := newSpans(c, logs)
		graph, cycle := whole.firstCycle()
		if cycle != nil && found == "atomic" {
			found = "broken over several registers"
			if shortest := shortestCycle(whole, cycle); shortest != sectionsOf(graph, cycle) {
				t.Errorf("%d sections make a cycle, and %v is longer", shortest, cycle)
			}
		}
		seen[found]++
		model, operations := whole.operations()
		if legal := porcupine.CheckOperations(model, operations); legal != (found == "atomic") {
			t.Errorf("it is %s, porcupine says %v", found, legal)
		}
		if serial := shortestCycle(whole, nil) == 0; serial != (found == "atomic") {
			t.Errorf("it is %s, the transitive closure says %v", found, serial)
		}
	})
	if len(seen) < 3 {
		t.Errorf("of the logs drawn some were %v: not all was compared", seen)
	}
}

// sectionsOf counts the sections of a cycle.
func sectionsOf(o *order, cycle []edge) int {
	n := 0
	for _, e := range cycle {
		if o.isSection(e.from) {
			n++
		}
	}
	return n
}

// shortestCycle is how many sections the shortest cycle has, by their distances from each other; 0 if there is none. If a
// cycle is given, it asks only what its latest event closes.
func shortestCycle(s *spans, cycle []edge) int {
	upTo := len(s.Events)
	if cycle != nil {
		upTo = 0
		for _, e := range cycle {
			upTo = max(upTo, int(e.event))
		}
	}
	sections := eventsOf(s)
	n := len(sections)
	const far = 1000
	distance := make([][]int, n)
	for i := range n {
		distance[i] = make([]int, n)
		for j := range n {
			if distance[i][j] = far; i != j && precedes(sections[i], sections[j], upTo) {
				distance[i][j] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				distance[i][j] = min(distance[i][j], distance[i][k]+distance[k][j])
			}
		}
	}
	shortest := far
	for i := range n {
		shortest = min(shortest, distance[i][i])
	}
	return shortest % far
}

// eventsOf tells the steps of each section that did not abort, its grant first if it began with a write.
func eventsOf(s *spans) [][]history.Event {
	sections := make([][]history.Event, len(s.sections))
	for section, a := range s.steps(s.whole()) {
		of := &sections[section]
		begun := slices.ContainsFunc(*of, func(e history.Event) bool { return e.Resource == s.at(a).Resource })
		if g := s.grantOf(a.lease); !begun && a.kind == writeOk && g != nil && g.Done < a.event {
			grant := s.Events[g.Done]
			grant.Resource = s.at(a).Resource
			*of = append(*of, grant)
		}
		*of = append(*of, *s.at(a))
	}
	return sections
}

// precedes tells whether events up to one show that a section comes before another: an access of it comes before one of
// the other with which it does not commute, or it is over before the other begins.
func precedes(a, b []history.Event, upTo int) bool {
	last := slices.MaxFunc(a, func(x, y history.Event) int { return x.Index - y.Index })
	first := slices.MinFunc(b, func(x, y history.Event) int { return x.Index - y.Index })
	if last.Time < first.Time && first.Index <= upTo {
		return true
	}
	for _, x := range a {
		for i, y := range b {
			known := y.Index
			if y.Op == history.Acquire {
				known = b[i+1].Index
			}
			if x.Resource == y.Resource && x.Index < y.Index && known <= upTo && (x.Op == history.Write || y.Op == history.Write) {
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
	for _, v := range []Verdict{held("it seems"), undecided("who knows"), violated(say("it seems"))} {
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
