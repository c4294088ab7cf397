package lanes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
)

// view is what of a drawing a small picture shows: the neighbourhood of its stories, the lanes that take part, and a
// scale of time.
type view struct {
	*Drawing
	stories  []Story
	from, to time.Duration
	lanes    []int // to draw
	ticks    []int // to draw
	bars     []int // to draw
	hidden   int   // lanes that take part and are not drawn
	left     int   // operations in the window that are not drawn
	leftBars int   // leases in the window that are not drawn
	scale    scale
}

// Bounds of a small picture.
const (
	viewClients = 6
	viewNodes   = 7
	viewTicks   = 44
	viewBars    = 300
)

// newView looks at the stories of some properties, or at all if none are named.
func newView(d *Drawing, properties []string) *view {
	v := &view{Drawing: d}
	for _, s := range d.Stories {
		if len(properties) == 0 || slices.Contains(properties, s.Property) {
			v.stories = append(v.stories, s)
		}
	}
	v.window()
	v.chooseTicks()
	v.chooseLanes()
	v.chooseBars()
	v.ticks = slices.DeleteFunc(v.ticks, func(i int) bool { return !slices.Contains(v.lanes, v.Ticks[i].Lane) })
	v.measure()
	return v
}

// window spans the stories, with some room beside; without a story the whole history.
func (v *view) window() {
	v.from, v.to = 0, v.End
	if len(v.stories) > 0 {
		v.from, v.to = v.stories[0].From, v.stories[0].To
		for _, s := range v.stories {
			v.from, v.to = min(v.from, s.From), max(v.to, s.To)
		}
		for _, t := range v.Ticks { // a call that a witness names is shown from its beginning
			if t.Witness && t.From < v.from && t.To >= v.from {
				v.from = t.From
			}
		}
		room := max((v.to-v.from)/12, time.Millisecond)
		v.from, v.to = max(0, v.from-room), min(v.End, v.to+room)
	}
	if v.to <= v.from {
		v.to = v.from + time.Millisecond
	}
}

func (v *view) inWindow(from, to time.Duration) bool { return from <= v.to && v.from <= to }

// chooseTicks takes all in the window or, if they are too many, those that matter most.
func (v *view) chooseTicks() {
	for i := range v.Ticks {
		if t := &v.Ticks[i]; v.inWindow(t.From, t.To) {
			v.ticks = append(v.ticks, i)
		}
	}
	if len(v.ticks) <= viewTicks {
		return
	}
	leases := map[string]bool{}
	for _, i := range v.ticks {
		if v.Ticks[i].Witness {
			leases[v.Ticks[i].Lease] = true
		}
	}
	rank := func(i int) int {
		switch t := &v.Ticks[i]; {
		case t.Witness:
			return 0
		case leases[t.Lease] && t.Lease != "":
			return 1
		case t.Mark != Plain:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(v.ticks, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	v.left = len(v.ticks) - viewTicks
	v.ticks = v.ticks[:viewTicks]
	slices.Sort(v.ticks)
}

// chooseLanes takes those that something happens on, those of the witness before others.
func (v *view) chooseLanes() {
	busy, telling := make([]bool, len(v.Lanes)), make([]bool, len(v.Lanes))
	note := func(lane int, witness bool) {
		busy[lane] = true
		telling[lane] = telling[lane] || witness
	}
	for _, b := range v.Bars {
		if v.inWindow(b.From, b.To) {
			note(b.Lane, b.Witness)
		}
	}
	for _, i := range v.ticks {
		note(v.Ticks[i].Lane, v.Ticks[i].Witness)
	}
	for _, b := range v.Bands {
		for _, lane := range b.Lanes {
			if v.inWindow(b.From, b.To) {
				note(lane, b.Witness)
			}
		}
	}
	room := map[Kind]int{Client: viewClients, Node: viewNodes, Resource: viewNodes, Faults: 1}
	for _, want := range []bool{true, false} {
		for i, lane := range v.Lanes {
			switch {
			case !busy[i] || telling[i] != want:
			case lane.Kind == Client && lane.Name == checker.Probe && !want: // the harness asks when all is over
			case room[lane.Kind] == 0:
				v.hidden++
			default:
				room[lane.Kind]--
				v.lanes = append(v.lanes, i)
			}
		}
	}
	slices.Sort(v.lanes)
}

// chooseBars takes those of the lanes that are drawn or, if they are too many, those of the witness and the first others.
func (v *view) chooseBars() {
	var others []int
	for i := range v.Bars {
		b := &v.Bars[i]
		switch {
		case !v.inWindow(b.From, b.To) || !slices.Contains(v.lanes, b.Lane):
		case b.Witness:
			v.bars = append(v.bars, i)
		default:
			others = append(others, i)
		}
	}
	if room := max(0, viewBars-len(v.bars)); len(others) > room {
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(v.Bars[a].From, v.Bars[b].From) })
		v.leftBars = len(others) - room
		others = others[:room]
	}
	v.bars = append(v.bars, others...)
	slices.Sort(v.bars)
}

// measure makes the scale: half of the width is shared out by time, half by what happens, so that the milliseconds in
// which a lock is handed over can be told apart in a picture of half a minute.
func (v *view) measure() {
	var knots []time.Duration
	add := func(times ...time.Duration) {
		for _, t := range times {
			if v.from < t && t < v.to {
				knots = append(knots, t)
			}
		}
	}
	for _, i := range v.ticks {
		add(v.Ticks[i].From, v.Ticks[i].To)
	}
	for _, b := range v.Bands {
		add(b.From, b.To)
	}
	for _, i := range v.bars {
		if b := &v.Bars[i]; b.Sort != Stay {
			add(b.From, b.To)
		}
	}
	knots = append(knots, v.from, v.to)
	slices.Sort(knots)
	v.scale = scale{slices.Compact(knots)}
}

// scale maps time to [0, 1].
type scale struct{ knots []time.Duration }

func (s scale) at(t time.Duration) float64 {
	first, last := s.knots[0], s.knots[len(s.knots)-1]
	t = min(max(t, first), last)
	i, _ := slices.BinarySearch(s.knots, t)
	rank := float64(i)
	if i > 0 && s.knots[i] != t {
		rank = float64(i-1) + float64(t-s.knots[i-1])/float64(s.knots[i]-s.knots[i-1])
	}
	return 0.5*float64(t-first)/float64(last-first) + 0.5*rank/float64(len(s.knots)-1)
}

// label is a tick in words: "A write v2 #34".
func (t *Tick) label() string {
	text := string(t.Op)
	if t.By != "" {
		text = t.By + " " + text
	}
	if (t.Op == history.Write || t.Op == history.Read) && t.By != "" && t.Outcome == history.Ok && t.Version > 0 {
		text += fmt.Sprintf(" v%d", t.Version)
	}
	if t.Fence != 0 && t.Op == history.Write {
		text += fmt.Sprintf(" #%d", t.Fence)
	}
	return text
}
