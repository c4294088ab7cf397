package lanes

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lockfault/lockfault/checker/history"
)

// WriteText draws the neighbourhood of the violations of some properties, of all if none are named, in plain characters
// and at most so many columns, at least 40:
//
//	=  the client believes that it holds the lock; ~ while paused; # at once with another
//	-  the lock servers have its lease; ? they may have forgotten it
//	r, w at a resource a read and a write, X one that is stale or rejected
//
// Time is stretched where much happens. Names are made harmless for a terminal.
func (d *Drawing) WriteText(w io.Writer, columns int, properties ...string) error {
	p := &plain{view: newView(d, properties)}
	for _, lane := range p.lanes {
		p.margin = max(p.margin, min(len([]rune(harmless(p.Lanes[lane].Name))), 14))
	}
	p.margin += 2
	p.room = max(columns, 40) - p.margin - len(indent)
	for _, lane := range p.lanes {
		switch p.Lanes[lane].Kind {
		case Client:
			p.client(lane)
		case Resource:
			p.resource(lane)
		}
	}
	p.times()
	p.faults()
	p.line("", "= believes  ~ paused  # two at once  - servers have the lease")
	p.line("", "r read  w write  X stale or rejected write")
	_, err := w.Write(p.out.Bytes())
	return err
}

const indent = "  "

// plain is a drawing in text in the making.
type plain struct {
	*view
	out          bytes.Buffer
	margin, room int // columns of names, and of time
}

func (p *plain) line(name, text string) {
	name = shorten(harmless(name), p.margin-2)
	line := indent + name + strings.Repeat(" ", p.margin-len([]rune(name))) + text
	p.out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// harmless replaces what would do something to a terminal.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

func (p *plain) column(t time.Duration) int {
	return min(int(p.scale.at(t)*float64(p.room)), p.room-1)
}

// paint writes a character over a stretch of time.
func (p *plain) paint(row []byte, from, to time.Duration, with byte) {
	if !p.inWindow(from, to) {
		return
	}
	for i := p.column(max(from, p.from)); i <= p.column(min(to, p.to)); i++ {
		row[i] = with
	}
}

func (p *plain) client(lane int) {
	believes, servers := blank(p.room), blank(p.room)
	for _, i := range p.bars {
		b := &p.Bars[i]
		switch {
		case b.Lane != lane:
		case b.Sort == Believed:
			p.paint(believes, b.From, b.To, '=')
		case b.Doubtful:
			p.paint(servers, b.From, b.To, '?')
		default:
			p.paint(servers, b.From, b.To, '-')
		}
	}
	held := slices.Clone(believes)
	for _, f := range p.Bands {
		if f.Kind == "pause" && slices.Contains(f.Lanes, lane) {
			p.paint(believes, f.From, f.To, '~')
		}
	}
	for _, story := range p.stories {
		if from, to, ok := p.Overlap(story); ok {
			p.paint(believes, from, to, '#')
		}
	}
	for i := range held { // faults and overlaps are shown where the client believes
		if held[i] == ' ' {
			believes[i] = ' '
		}
	}
	p.line(p.Lanes[lane].Name, string(believes))
	if strings.TrimSpace(string(servers)) != "" {
		p.line("", string(servers))
	}
}

func (p *plain) resource(lane int) {
	row := blank(p.room)
	for _, i := range p.ticks {
		t := &p.Ticks[i]
		if t.Lane != lane || !p.inWindow(t.From, t.To) {
			continue
		}
		at := p.column(t.To)
		mark := byte('r')
		if t.Op == history.Write {
			mark = 'w'
		}
		if t.Mark != Plain {
			mark = 'X'
		}
		if row[at] != 'X' {
			row[at] = mark
		}
	}
	p.line(p.Lanes[lane].Name, string(row))
}

func blank(n int) []byte { return bytes.Repeat([]byte{' '}, n) }

// times writes those of the witness under the lanes, as far as there is room.
func (p *plain) times() {
	var times []time.Duration
	for _, i := range p.bars {
		if b := &p.Bars[i]; b.Witness && b.Sort == Believed {
			times = append(times, b.From)
		}
	}
	for _, i := range p.ticks {
		if t := &p.Ticks[i]; t.Witness || t.Mark != Plain {
			times = append(times, t.To)
		}
	}
	_, shown := p.timesIn(history.SecondsFor(), times)
	row, _ := p.timesIn(history.SecondsFor(shown...), shown)
	p.line("", string(row))
}

// timesIn writes the times for which there is room, and tells which.
func (p *plain) timesIn(seconds history.Seconds, times []time.Duration) (row []byte, shown []time.Duration) {
	row = blank(p.room)
	for _, t := range times {
		text := seconds.Of(t)
		at := min(p.column(max(t, p.from)), p.room-len(text))
		if !p.inWindow(t, t) || at < 0 || strings.TrimSpace(string(row[max(0, at-1):min(p.room, at+len(text)+1)])) != "" {
			continue
		}
		copy(row[at:], text)
		shown = append(shown, t)
	}
	return row, shown
}

// faults names those in sight.
func (p *plain) faults() {
	const most = 4
	n := 0
	for _, b := range p.Bands {
		if !p.inWindow(b.From, b.To) {
			continue
		}
		if n++; n > most {
			continue
		}
		when := stretch(b.From, b.To)
		if b.Open {
			when = fmt.Sprintf("from %s on, never healed", history.SecondsFor(b.From).Of(b.From))
		}
		p.line("", shorten(harmless(fmt.Sprintf("%s of %s %s", b.Kind, cmp.Or(b.Subject, "unknown"), when)), p.room))
	}
	if n > most {
		p.line("", fmt.Sprintf("and %d more faults", n-most))
	}
}
