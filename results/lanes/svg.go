package lanes

import (
	"fmt"
	"io"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results/internal/svg"
)

// Picture says what to draw as SVG.
type Picture struct {
	Title      string
	Properties []string // of whose violations to tell; all if none are named
	Bare       bool     // to stand in a page that has StyleSheet: without it, tooltips, data attributes and the legend
}

// WriteSVG draws the neighbourhood of the violations, small enough for a ticket: all leases, faults and operations that
// take part in it, as many others as there is room for, and the sentences below. Its elements carry the lease, the fence
// and the times in nanoseconds as data attributes, and those of a witness the class "witness". Time is stretched where
// much happens; the axis says so. The picture follows a dark colour scheme and needs nothing else.
func (d *Drawing) WriteSVG(w io.Writer, p Picture) error {
	s := &sheet{view: newView(d, p.Properties), tops: map[int]float64{}, bare: p.Bare}
	s.layOut(p)
	s.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", fmt.Sprintf("0 0 %d %s", sheetWidth, svg.Length(s.height)),
		"width", sheetWidth, "height", s.height, "class", "lanes", "role", "img", "aria-label", s.alt(p))
	if !p.Bare {
		s.Style(StyleSheet)
	}
	s.patterns()
	s.Leaf("rect", "class", "paper", "width", sheetWidth, "height", s.height, "rx", 6)
	s.Text("text", p.Title, "x", margin, "y", 20, "class", "title")
	s.grid()
	for _, lane := range s.lanes {
		s.lane(lane)
	}
	names := s.bands()
	s.overlap()
	s.leases()
	for _, name := range names {
		name()
	}
	s.links()
	s.marks()
	s.axis()
	s.caption()
	s.Close()
	_, err := w.Write(s.Bytes())
	return err
}

// Measures of a picture, in pixels.
const (
	sheetWidth  = 880
	margin      = 12
	gutter      = 92 // names of the lanes
	clientLane  = 76
	nodeLane    = 20
	servantLane = 54
	topRoom     = 46
	captionLine = 17
)

// sheet is a picture in the making.
type sheet struct {
	svg.Writer
	*view
	tops      map[int]float64 // of the lanes
	bottom    float64         // of the last lane
	height    float64
	sentences []sentence
	taken     shelf // for labels
	bare      bool
}

// sentence is a line of the caption.
type sentence struct{ class, text string }

func laneHeight(k Kind) float64 {
	switch k {
	case Client:
		return clientLane
	case Node:
		return nodeLane
	}
	return servantLane
}

func (s *sheet) layOut(p Picture) {
	y := float64(topRoom)
	for _, lane := range s.lanes {
		s.tops[lane] = y
		y += laneHeight(s.Lanes[lane].Kind)
	}
	s.bottom = y
	for _, story := range s.stories {
		s.sentences = append(s.sentences, wrapped("bad", story.Property+" violated: "+story.Sentence)...)
	}
	if len(s.stories) == 0 {
		s.sentences = append(s.sentences, sentence{"", "no property was violated"})
	}
	for _, left := range []struct {
		count int
		what  string
	}{{s.hidden, "more lanes are not drawn"}, {s.left, "more operations in this stretch are not drawn"}, {s.leftBars, "more leases are not drawn"}} {
		if left.count > 0 {
			s.sentences = append(s.sentences, sentence{"dim", fmt.Sprintf("%d %s", left.count, left.what)})
		}
	}
	if !p.Bare {
		s.sentences = append(s.sentences, wrapped("dim", legend)...)
	}
	s.height = y + 34 + captionLine*float64(len(s.sentences)) + 6
}

const legend = "Thick: the client believes that it holds the lock. Thin: the lock servers have its lease; red beside it: they have not. " +
	"#n is a fence, vn the data's version. Time is stretched where much happens."

// wrapped breaks a sentence into lines.
func wrapped(class, text string) []sentence {
	var lines []sentence
	for _, line := range fold(text, 126) {
		lines = append(lines, sentence{class, line})
	}
	return lines
}

func (s *sheet) alt(p Picture) string {
	text := p.Title
	for _, story := range s.stories {
		text += ". " + story.Property + " violated: " + story.Sentence
	}
	return text
}

// rect writes one with a tooltip and data attributes, which a bare picture does without.
func (s *sheet) rect(tooltip string, data []any, attributes ...any) {
	if s.bare {
		s.Leaf("rect", attributes...)
		return
	}
	s.Titled("rect", tooltip, append(attributes, data...)...)
}

func (s *sheet) x(t time.Duration) float64 {
	return margin + gutter + (sheetWidth-2*margin-gutter)*s.scale.at(t)
}

func (s *sheet) patterns() {
	s.Open("defs")
	for _, of := range []string{"gap", "band"} {
		s.Open("pattern", "id", of, "width", 6, "height", 6, "patternUnits", "userSpaceOnUse", "patternTransform", "rotate(45)")
		s.Leaf("rect", "class", of+"-back", "width", 6, "height", 6)
		s.Leaf("rect", "class", of+"-line", "width", 2, "height", 6)
		s.Close()
	}
	s.Close()
}

func (s *sheet) lane(lane int) {
	top, height := s.tops[lane], laneHeight(s.Lanes[lane].Kind)
	s.Leaf("line", "class", "rule", "x1", margin, "x2", sheetWidth-margin, "y1", top, "y2", top)
	name := shorten(s.Lanes[lane].Name, 12)
	switch s.Lanes[lane].Kind {
	case Client:
		s.Text("text", name, "x", margin, "y", top+20, "class", "name")
		s.Text("text", "believes", "x", margin+gutter-8, "y", top+41, "class", "dim end small")
		s.Text("text", "servers", "x", margin+gutter-8, "y", top+57, "class", "dim end small")
	case Node:
		s.Text("text", name, "x", margin, "y", top+14, "class", "node")
	default:
		s.Text("text", name, "x", margin, "y", top+height/2+4, "class", "name")
	}
}

// grid has a line for each labelled time; axis writes them.
func (s *sheet) grid() {
	for _, t := range s.labelled() {
		s.Leaf("line", "class", "grid", "x1", s.x(t), "x2", s.x(t), "y1", topRoom-6, "y2", s.bottom+4)
	}
}

func (s *sheet) axis() {
	s.Leaf("line", "class", "rule", "x1", margin, "x2", sheetWidth-margin, "y1", s.bottom, "y2", s.bottom)
	times := s.labelled()
	seconds := history.SecondsFor(times...)
	for _, t := range times {
		s.Text("text", seconds.Of(t), "x", s.x(t), "y", s.bottom+17, "class", "dim middle small")
	}
}

// labelled are the times for which the axis has room: those of the witness first.
func (s *sheet) labelled() []time.Duration {
	const room = 58.0
	var chosen []time.Duration
	take := func(t time.Duration) {
		x := s.x(t)
		if !s.inWindow(t, t) || x > sheetWidth-margin-room/2 {
			return
		}
		for _, other := range chosen {
			if d := s.x(other) - x; -room < d && d < room {
				return
			}
		}
		chosen = append(chosen, t)
	}
	for _, b := range s.Bars {
		if b.Witness && b.Sort == Believed {
			take(b.From)
		}
	}
	for _, i := range s.ticks {
		if t := &s.Ticks[i]; t.Witness || t.Mark != Plain {
			take(t.To)
		}
	}
	for _, i := range s.ticks {
		if t := &s.Ticks[i]; t.Op == history.Acquire || t.Op == history.Release || t.Op == history.Write {
			take(t.To)
		}
	}
	return chosen
}

func (s *sheet) caption() {
	y := s.bottom + 42
	for _, line := range s.sentences {
		s.Text("text", line.text, "x", margin, "y", y, "class", line.class)
		y += captionLine
	}
}
