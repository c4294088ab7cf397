package lanes

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// span is a stretch of time as x and width, cut at the window; ok is false if nothing of it is in the window.
func (s *sheet) span(from, to time.Duration) (x, width float64, ok bool) {
	if !s.inWindow(from, to) {
		return 0, 0, false
	}
	x = s.x(max(from, s.from))
	return x, max(s.x(min(to, s.to))-x, 1.5), true
}

func (s *sheet) drawn(lane int) bool { _, ok := s.tops[lane]; return ok }

// bands returns what writes names on bars that are still to be drawn.
func (s *sheet) bands() (named []func()) {
	for _, b := range s.Bands {
		x, width, ok := s.span(b.From, b.To)
		if !ok {
			continue
		}
		text := b.Kind + " of " + cmp.Or(b.Subject, "unknown") + ", " + duration(b.To-b.From)
		if b.Open {
			text = b.Kind + " of " + cmp.Or(b.Subject, "unknown") + ", never healed"
		}
		for _, lane := range b.Lanes {
			if !s.drawn(lane) {
				continue
			}
			top, height := s.tops[lane], laneHeight(s.Lanes[lane].Kind)
			s.rect(text+"; "+b.Outcome,
				[]any{"data-fault", b.Name, "data-kind", b.Kind, "data-subject", b.Subject, "data-from-ns", b.From, "data-to-ns", b.To},
				"class", class("band", b.Witness), "x", x, "y", top+1, "width", width, "height", height-2)
			if s.Lanes[lane].Kind != Node {
				s.label(x+4, top+height-6, text, "dim small")
			} else if !s.onClients(&b) {
				named = append(named, func() { s.label(x+4, top+14, text, "halo small") })
			}
		}
	}
	return named
}

func (s *sheet) onClients(b *Band) bool {
	return slices.ContainsFunc(b.Lanes, func(lane int) bool { return s.Lanes[lane].Kind != Node && s.drawn(lane) })
}

// overlap shows where two clients believe at once.
func (s *sheet) overlap() {
	for _, story := range s.stories {
		from, to, ok := s.Overlap(story)
		if !ok {
			continue
		}
		x, width, shown := s.span(from, to)
		if !shown {
			continue
		}
		top, bottom := s.bottom, float64(topRoom)
		for _, b := range s.Bars {
			if b.Sort == Believed && s.drawn(b.Lane) && slices.Contains(story.Events, b.Event) {
				top, bottom = min(top, s.tops[b.Lane]), max(bottom, s.tops[b.Lane]+clientLane)
			}
		}
		s.rect("two holders", []any{"data-from-ns", from, "data-to-ns", to},
			"class", "overlap", "x", x, "y", top, "width", width, "height", max(bottom-top, 0))
		s.Leaf("path", "class", "brace", "d", fmt.Sprintf("M%.1f %.1fV%.1fH%.1fV%.1f", x, top, float64(topRoom-6), x+width, top))
		anchor, at := "bad small", x
		if x > sheetWidth/2 {
			anchor, at = "bad small end", x+width
		}
		s.Text("text", "two holders for "+duration(to-from), "x", at, "y", topRoom-10, "class", anchor)
		return
	}
}

func (s *sheet) leases() {
	served := map[string]*Bar{} // by lease
	for _, i := range s.bars {
		if b := &s.Bars[i]; b.Sort == Served {
			served[b.Lease] = b
		}
	}
	for _, i := range s.bars {
		b := &s.Bars[i]
		x, width, ok := s.span(b.From, b.To)
		if !ok {
			continue
		}
		top := s.tops[b.Lane]
		y, height := top+4, 12.0
		switch b.Sort {
		case Believed:
			y, height = top+28, 18
			s.gap(b, served[b.Lease], top+50)
		case Served:
			y, height = top+50, 7
		}
		kind := fmt.Sprintf("%v c%d", b.Sort, s.colour(b.Client))
		if b.Doubtful {
			kind += " doubtful"
		}
		s.rect(b.describe(),
			[]any{"data-lease", b.Lease, "data-client", b.Client, "data-fence", b.Fence, "data-from-ns", b.From, "data-to-ns", b.To},
			"class", class(kind, b.Witness), "x", x, "y", y, "width", width, "height", height, "rx", 2)
		if b.Sort != Served {
			s.barText(b, x, y, width, height)
		}
	}
}

func (s *sheet) barText(b *Bar, x, y, width, height float64) {
	text := b.Client
	if b.Sort == Believed {
		text += " holds"
		if s.Locks {
			text += " " + b.Lock
		}
		if b.Fence != 0 {
			text += fmt.Sprintf(" #%d", b.Fence)
		}
	}
	if textWidth(text)+8 <= width {
		s.Text("text", text, "x", x+5, "y", y+height/2+4, "class", "on small")
	}
}

// gap shows where the servers do not have what the client believes to hold, if they ever had it and tell.
func (s *sheet) gap(b, served *Bar, y float64) {
	if served == nil || served.Doubtful || served.Lane != b.Lane || served.To >= b.To {
		return
	}
	from := max(b.From, served.To)
	if x, width, ok := s.span(from, b.To); ok {
		s.rect(fmt.Sprintf("%s believes, and the servers have nothing: %s", b.Client, duration(b.To-from)),
			[]any{"data-gap-ns", b.To - from}, "class", "gap", "x", x, "y", y, "width", width, "height", 7)
	}
}

// links lead from a client's write to what the resource made of it.
func (s *sheet) links() {
	for _, i := range s.ticks {
		t := &s.Ticks[i]
		if t.Cause < 0 || t.Op != history.Write {
			continue
		}
		call := &s.Ticks[t.Cause]
		if !s.drawn(call.Lane) || !s.drawn(t.Lane) || !s.inWindow(call.From, t.From) {
			continue
		}
		s.Leaf("line", "class", class("link", t.Witness || t.Mark != Plain), "x1", s.x(call.From), "y1", s.tops[call.Lane]+47,
			"x2", s.x(t.From), "y2", s.tops[t.Lane]+24)
	}
}

// marks are the operations. Labels of the witness come first, so that there is room for them.
func (s *sheet) marks() {
	order := slices.Clone(s.ticks)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(s.Ticks[a].urgency(), s.Ticks[b].urgency())
	})
	for _, i := range order {
		t := &s.Ticks[i]
		x, y := s.x(t.To), s.tops[t.Lane]+20
		if s.Lanes[t.Lane].Kind == Resource {
			y += 6
		}
		kind := class("tick "+outcome(t.Outcome)+" "+t.Mark.String(), t.Witness)
		if s.bare {
			s.Open("g", "class", kind)
		} else {
			s.Open("g", "class", kind, "data-op", string(t.Op), "data-lease", t.Lease, "data-fence", t.Fence, "data-event", t.Event,
				"data-from-ns", t.From, "data-to-ns", t.To, "data-mark", t.Mark.String())
			s.Text("title", t.describe(s.Lanes[t.Lane].Name))
		}
		if width := x - s.x(t.From); width > 3 {
			s.Leaf("line", "x1", x-width, "x2", x, "y1", y, "y2", y)
		}
		s.glyph(t, x, y)
		s.Close()
		text := t.label()
		if t.Mark != Plain {
			text = t.Mark.String() + ": " + text
		}
		style := "small middle"
		if t.Mark != Plain || t.Outcome == history.Fail {
			style += " bad"
		}
		s.label(x, y-8, text, style)
	}
}

func (t *Tick) urgency() int {
	switch {
	case t.Mark != Plain:
		return 0
	case t.Witness:
		return 1
	case t.Op == history.Acquire && t.Outcome == history.Ok, t.Op == history.Write, t.Op == history.Lost, t.Op == history.Died:
		return 2
	}
	return 3
}

// glyph tells the outcome by its shape: a dot, a cross, an open square.
func (s *sheet) glyph(t *Tick, x, y float64) {
	switch {
	case t.Outcome == history.Fail || t.Mark != Plain:
		s.Leaf("path", "d", fmt.Sprintf("M%.1f %.1fl7 7m0 -7l-7 7", x-3.5, y-3.5))
	case t.Outcome == history.Ok:
		s.Leaf("circle", "cx", x, "cy", y, "r", 3)
	default:
		s.Leaf("rect", "x", x-3, "y", y-3, "width", 6, "height", 6, "fill", "none")
	}
}

// label writes a text if there is room for it.
func (s *sheet) label(x, y float64, text, style string) {
	text = shorten(text, 46)
	width := textWidth(text)
	left := x
	if slices.Contains(words(style), "middle") {
		left -= width / 2
		if over := left + width - (sheetWidth - margin); over > 0 {
			x, left = x-over, left-over
		}
	}
	if over := left + width - (sheetWidth - margin); over > 0 { // never over the edge
		text = shorten(text, max(1, int((width-over)/textWidth("x"))))
		if width = textWidth(text); len([]rune(text)) < 6 {
			return
		}
	}
	if left < margin+gutter-14 || !s.taken.place(left, y, width) {
		return
	}
	s.Text("text", text, "x", x, "y", y, "class", style)
}

// colour is a number for a client, by its lane.
func (s *sheet) colour(client string) int {
	for i, lane := range s.Lanes {
		if lane.Kind == Client && lane.Name == client {
			return i % 6
		}
	}
	return 5
}

func class(of string, witness bool) string {
	if witness {
		return of + " witness"
	}
	return of
}
