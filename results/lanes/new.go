package lanes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
)

// maker is a drawing in the making.
type maker struct {
	*Drawing
	c       *checker.Case
	lanes   map[laneKey]int
	stale   map[int]bool // events
	witness map[int]bool // events
}

type laneKey struct {
	name string
	kind Kind
}

// New draws a history with the verdicts on it. Of a witness it marks the events that the verdict names, and the beliefs
// and faults that they began.
func New(c *checker.Case, verdicts map[string]checker.Verdict) *Drawing {
	m := &maker{
		Drawing: &Drawing{End: c.End, Events: len(c.Events)}, c: c,
		lanes: map[laneKey]int{}, stale: map[int]bool{}, witness: map[int]bool{},
	}
	for _, event := range checker.StaleWrites(c) {
		m.stale[event] = true
	}
	m.addStories(verdicts)
	m.addLanes()
	m.addBeliefs()
	m.addServers()
	m.addTicks()
	m.addBands()
	m.sort()
	m.addWindows()
	return m.Drawing
}

func (m *maker) addStories(verdicts map[string]checker.Verdict) {
	for _, property := range slices.SortedFunc(maps.Keys(verdicts), checker.CompareNames) {
		w := verdicts[property].Witness
		if w == nil {
			continue
		}
		s := Story{Property: property, Sentence: w.Sentence}
		for _, event := range w.Events {
			if event >= 0 && event < len(m.c.Events) {
				s.Events = append(s.Events, event)
				m.witness[event] = true
			}
		}
		m.Stories = append(m.Stories, s)
	}
}

// addLanes lists clients in the order of their first events, the harness's probe last, then nodes and resources by name.
func (m *maker) addLanes() {
	kinds := map[history.Role]Kind{history.Client: Client, history.Node: Node, history.Resource: Resource}
	seen := map[laneKey]bool{}
	last := laneKey{}
	for i := range m.c.Events {
		e := &m.c.Events[i]
		kind, drawn := kinds[e.Role]
		key := laneKey{e.Process, kind}
		if !drawn || key == last || seen[key] {
			continue
		}
		last, seen[key] = key, true
		m.Lanes = append(m.Lanes, Lane{e.Process, kind})
	}
	slices.SortStableFunc(m.Lanes, func(a, b Lane) int {
		order := cmp.Compare(a.Kind, b.Kind)
		if order == 0 && a.Kind == Client {
			return cmp.Compare(b2i(a.Name == checker.Probe), b2i(b.Name == checker.Probe))
		}
		return cmp.Or(order, cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name)) // n2 before n10
	})
	for i, lane := range m.Lanes {
		m.lanes[laneKey{lane.Name, lane.Kind}] = i
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// within is a stretch of time cut at the end of the history.
func (m *maker) within(to time.Duration) (time.Duration, bool) {
	if to > m.End {
		return m.End, true
	}
	return to, false
}

func (m *maker) addBeliefs() {
	locks := map[string]bool{}
	for i := range m.c.Grants {
		g := &m.c.Grants[i]
		e := &m.c.Events[g.Done]
		locks[e.Resource] = true
		first := true
		for b := range g.Beliefs() {
			to, open := m.within(b.To)
			m.Bars = append(m.Bars, Bar{
				Lane: m.lanes[laneKey{e.Process, Client}], Sort: Believed, From: b.From, To: to, Open: open,
				Client: e.Process, Lock: e.Resource, Lease: e.Lease, Fence: g.Fence, Why: endings[b.Why], Event: int(g.Done),
				Witness: m.witness[int(g.Done)] && first,
			})
			first = false
		}
	}
	m.Locks = len(locks) > 1
}

// endings says why a belief ended.
var endings = map[checker.EndOfBelief]string{
	checker.Never:    "it lasts to the end",
	checker.Released: "its holder called release",
	checker.Told:     "the lock told its holder that it was lost",
	checker.Killed:   "its holder died",
	checker.Lapsed:   "it reached the end that its holder knew",
	checker.Refuted:  "its holder's check failed",
	checker.LastUse:  "its holder acted on it for the last time",
}

func (m *maker) addServers() {
	stays, tenures := checker.Lifelines(m.c)
	for i, t := range tenures {
		if !t.Known {
			continue
		}
		g := &m.c.Grants[i]
		e := &m.c.Events[g.Done]
		to, open := m.within(t.To)
		m.Bars = append(m.Bars, Bar{
			Lane: m.lanes[laneKey{e.Process, Client}], Sort: Served, From: t.From, To: to, Open: open, Doubtful: t.Doubtful,
			Client: e.Process, Lock: e.Resource, Lease: e.Lease, Fence: g.Fence, Event: int(g.Done), Witness: m.witness[int(g.Done)],
		})
	}
	for _, s := range stays {
		to, open := m.within(s.To)
		m.Bars = append(m.Bars, Bar{
			Lane: m.lanes[laneKey{s.Node, Node}], Sort: Stay, From: min(s.From, to), To: to, Open: open,
			Doubtful: m.forgotten(s.Node, s.From, to), Client: s.Client, Lock: s.Key, Event: -1,
		})
	}
}

// forgotten tells whether a server may have lost what it had in a stretch of time.
func (m *maker) forgotten(node string, from, to time.Duration) bool {
	return slices.ContainsFunc(m.c.Faults, func(f *checker.Fault) bool {
		return f.Forgets(node) && f.Injected && from <= f.From && f.From < to
	})
}

func (m *maker) addTicks() {
	waiting := map[string][]int{} // ticks of calls, by lease and operation, that no resource has answered
	for i := range m.c.Calls {
		call := &m.c.Calls[i]
		asked := &m.c.Events[call.Invoke]
		t := Tick{
			Lane: m.lanes[laneKey{asked.Process, Client}], From: call.Asked, To: m.End, Op: asked.Op, Lease: asked.Lease,
			Fence: asked.Fence, Value: asked.Value, Event: int(call.Invoke), Invoke: int(call.Invoke), Cause: -1,
			Witness: m.witness[int(call.Invoke)],
		}
		if !call.Open() {
			m.complete(&t, &m.c.Events[call.Done], call.Outcome)
		}
		if t.Op == history.Read || t.Op == history.Write {
			key := t.Lease + "\x00" + string(t.Op)
			waiting[key] = append(waiting[key], len(m.Ticks))
		}
		m.Ticks = append(m.Ticks, t)
	}
	for i := range m.c.Events {
		e := &m.c.Events[i]
		switch {
		case e.Role == history.Resource:
			m.addAccess(e, waiting)
		case e.Role == history.Client && (e.Op == history.Lost || e.Op == history.Died || e.Op == history.Panic):
			m.Ticks = append(m.Ticks, Tick{
				Lane: m.lanes[laneKey{e.Process, Client}], From: e.Time, To: e.Time, Op: e.Op, Outcome: e.Type, Lease: e.Lease,
				Error: e.Error, Event: i, Invoke: -1, Cause: -1, Witness: m.witness[i],
			})
		}
	}
}

func (m *maker) complete(t *Tick, e *history.Event, outcome history.Type) {
	t.To, t.Outcome, t.Error, t.Event = e.Time, outcome, e.Error, e.Index
	t.Fence, t.Value, t.Version = cmp.Or(e.Fence, t.Fence), cmp.Or(e.Value, t.Value), e.Version
	t.Witness = t.Witness || m.witness[e.Index]
}

// addAccess finds the call behind what a resource did: the earliest of its lease that is not answered yet, invoked before.
func (m *maker) addAccess(e *history.Event, waiting map[string][]int) {
	t := Tick{
		Lane: m.lanes[laneKey{e.Process, Resource}], From: e.Time, To: e.Time, Op: e.Op, Outcome: e.Type, Lease: e.Lease, By: e.By,
		Fence: e.Fence, Value: e.Value, Version: e.Version, Error: e.Error, Event: e.Index, Invoke: -1, Cause: -1,
		Witness: m.witness[e.Index],
	}
	switch {
	case e.Op == history.Write && e.Type == history.Fail:
		t.Mark = Rejected
	case m.stale[e.Index]:
		t.Mark = Stale
	}
	key := e.Lease + "\x00" + string(e.Op)
	if calls := waiting[key]; e.Lease != "" && len(calls) > 0 && m.Ticks[calls[0]].From <= e.Time {
		t.Cause = calls[0]
		waiting[key] = calls[1:]
		call := &m.Ticks[t.Cause]
		call.Mark, call.Witness = max(call.Mark, t.Mark), call.Witness || t.Witness
	}
	m.Ticks = append(m.Ticks, t)
}

func (m *maker) addBands() {
	for _, f := range m.c.Faults {
		if !f.Injected {
			continue
		}
		to, open := m.within(f.To)
		outcome := "no evidence"
		switch f.Outcome {
		case history.Ok:
			outcome = "took effect"
		case history.Fail:
			outcome = "had no effect"
		}
		m.Bands = append(m.Bands, Band{
			Lanes: m.struck(f), From: f.From, To: to, Open: open, Name: f.Name, Kind: string(f.Kind), Subject: f.Subject,
			Outcome: outcome, Evidence: m.evidence(f), Event: f.Event, Witness: m.witness[f.Event],
		})
	}
}

// struck are the lanes that a fault names, at either end of a link; one of their own if it names none.
func (m *maker) struck(f *checker.Fault) []int {
	var found []int
	for i, lane := range m.Lanes {
		if slices.ContainsFunc(strings.Fields(f.Subject), lane.named) {
			found = append(found, i)
		}
	}
	if len(found) > 0 {
		return found
	}
	key := laneKey{"faults", Faults}
	i, known := m.lanes[key]
	if !known {
		i = len(m.Lanes)
		m.lanes[key] = i
		m.Lanes = append(m.Lanes, Lane{key.name, key.kind})
	}
	return []int{i}
}

// named tells whether a word of a fault's subject is about the lane: "A", "A-n4,n5" and "A-all" are about A, the last two
// about n4 as well.
func (l Lane) named(word string) bool {
	if strings.HasPrefix(word, l.Name+"-") {
		return true
	}
	return slices.ContainsFunc(strings.Split(word, ","), func(part string) bool {
		return part == l.Name || strings.HasSuffix(part, "-"+l.Name) || l.Kind == Node && (part == "all" || strings.HasSuffix(part, "-all"))
	})
}

// evidence of a fault stands in the event that completed it.
func (m *maker) evidence(f *checker.Fault) string {
	for i := f.Event + 1; i < len(m.c.Events) && m.c.Events[i].Time <= f.To; i++ {
		e := &m.c.Events[i]
		if e.Role != history.Nemesis || e.Process != f.Name || e.Type == history.Invoke {
			continue
		}
		var words []string
		for _, key := range slices.Sorted(maps.Keys(e.Detail)) {
			words = append(words, fmt.Sprintf("%s %s", strings.ReplaceAll(key, "_", " "), e.Detail[key]))
		}
		if e.Error != "" {
			words = append(words, e.Error)
		}
		return strings.Join(words, ", ")
	}
	return ""
}
