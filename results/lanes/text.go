package lanes

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// describe says all that is known of a bar.
func (b *Bar) describe() string {
	var text string
	switch b.Sort {
	case Believed:
		text = fmt.Sprintf("%s believes that it holds %s", b.Client, b.Lock)
	case Served:
		text = fmt.Sprintf("the servers have the lease of %s on %s", b.Client, b.Lock)
	case Stay:
		text = fmt.Sprintf("the server has %s's value under %s", cmp.Or(b.Client, "an unknown client"), b.Lock)
	}
	text += fmt.Sprintf(" %s (%s)", stretch(b.From, b.To), duration(b.To-b.From))
	if b.Open {
		text += ", the end of the history"
	} else if b.Why != "" {
		text += ", when " + b.Why
	}
	if b.Doubtful {
		text += "; it may have ended before: the server crashed or failed over, and does not tell"
	}
	if b.Lease != "" {
		text += "; lease " + b.Lease
	}
	if b.Fence != 0 {
		text += fmt.Sprintf(", fence %d", b.Fence)
	}
	return text
}

// describe says all that is known of a tick.
func (t *Tick) describe(lane string) string {
	text := fmt.Sprintf("%s: %s, %s", lane, t.label(), outcome(t.Outcome))
	if t.From == t.To {
		text += ", at " + history.SecondsFor(t.To).Of(t.To)
	} else {
		text += ", " + stretch(t.From, t.To)
	}
	if t.Lease != "" {
		text += "; lease " + t.Lease
	}
	if t.Mark != Plain {
		text += "; " + t.Mark.String()
	}
	if t.Error != "" {
		text += "; " + t.Error
	}
	return text
}

// stretch reads like "from 10.021 s to 14.904 s".
func stretch(from, to time.Duration) string {
	seconds := history.SecondsFor(from, to)
	return fmt.Sprintf("from %s to %s", seconds.Of(from), seconds.Of(to))
}

// outcome is the word for how an operation ended.
func outcome(t history.Type) string {
	if t == 0 {
		return "open"
	}
	return t.String()
}

// duration reads like "4.88 s", "341 µs".
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.4g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

// fold breaks a text at spaces into lines of at most width runes; a longer word keeps a line to itself.
func fold(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, line)
}

func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

func words(text string) []string { return strings.Fields(text) }

// textWidth guesses the width of small text in pixels.
func textWidth(text string) float64 { return 5.9 * float64(len([]rune(text))) }

// shelf knows where labels are.
type shelf [][3]float64 // left, right, baseline

// place takes a stretch if it is free.
func (s *shelf) place(left, y, width float64) bool {
	right := left + width + 4
	for _, other := range *s {
		if left < other[1] && other[0] < right && -11 < y-other[2] && y-other[2] < 11 {
			return false
		}
	}
	*s = append(*s, [3]float64{left, right, y})
	return true
}
