package lanes

import (
	"cmp"
	"slices"
	"time"
)

// sort puts bars and ticks in order, and keeps the causes.
func (m *maker) sort() {
	slices.SortStableFunc(m.Bars, func(a, b Bar) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.From, b.From), cmp.Compare(a.Sort, b.Sort))
	})
	order := make([]int, len(m.Ticks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &m.Ticks[a], &m.Ticks[b]
		return cmp.Or(cmp.Compare(x.Lane, y.Lane), cmp.Compare(x.From, y.From), cmp.Compare(x.Event, y.Event))
	})
	place := make([]int, len(order))
	for i, from := range order {
		place[from] = i
	}
	sorted := make([]Tick, len(order))
	for i, from := range order {
		sorted[i] = m.Ticks[from]
		if cause := sorted[i].Cause; cause >= 0 {
			sorted[i].Cause = place[cause]
		}
	}
	m.Ticks = sorted
}

// addWindows finds for each story the stretch of time that shows it: its events, and what the beliefs in it have in
// common.
func (m *maker) addWindows() {
	for i := range m.Stories {
		s := &m.Stories[i]
		s.From, s.To = m.End, 0
		for _, event := range s.Events {
			at := m.c.Events[event].Time
			s.From, s.To = min(s.From, at), max(s.To, at)
		}
		if from, to, ok := m.Overlap(*s); ok {
			s.From, s.To = min(s.From, from), max(s.To, to)
		}
		s.From = min(s.From, s.To)
	}
}

// Overlap is the stretch of time in which two clients' beliefs of which a story tells last at once.
func (d *Drawing) Overlap(s Story) (from, to time.Duration, ok bool) {
	var told []*Bar
	for i := range d.Bars {
		if b := &d.Bars[i]; b.Sort == Believed && slices.Contains(s.Events, b.Event) {
			told = append(told, b)
		}
	}
	for i, a := range told {
		for _, b := range told[:i] {
			from, to = max(a.From, b.From), min(a.To, b.To)
			if a.Client != b.Client && from < to {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}
