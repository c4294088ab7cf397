package results

import (
	"io"
	"slices"
	"strings"
)

// WriteMatrix writes a report for a terminal in one line per scenario and one column per lock: the short form of
// WriteTable, for many scenarios. What was not as expected is explained as there.
func WriteMatrix(w io.Writer, r Report, l Layout) error {
	p := newPrinter(l)
	all := blocks(r.Runs)
	labels := labelWidth(all)
	locks := group(r.Runs, lockOf)
	for perPage := (p.width - labels) / markWidth; len(locks) > 0; {
		page := locks[:min(perPage, len(locks))]
		locks = locks[len(page):]
		var names []string
		for _, runs := range page {
			names = append(names, runs[0].Lock)
		}
		p.staircase(names, labels)
		for _, b := range all {
			p.marks(b, names, labels)
		}
		p.line()
	}
	if len(all) > 0 {
		p.legend(
			"left without fences, right with them:",
			"2 two holders at once; h protected data harmed; X both; . neither",
			"? undecided; - not supported here; E failed; blank not run; ! not as expected",
			"+ another property is violated too: --format table names it",
		)
	}
	p.tail(r)
	return p.flush(w)
}

const (
	markWidth = len("X2! ")
	labelMax  = 36
)

// labelWidth is the room for the names of the scenarios, and for the names of the locks above them.
func labelWidth(all []block) int {
	width := 0
	for _, b := range all {
		width = max(width, columns(b.label())+2)
	}
	return min(max(width, 20), labelMax)
}

func (b block) label() string {
	text := printable(pad(b.code, 3) + " " + b.scenario)
	if b.testbed != "" {
		text += " (" + printable(b.testbed) + ")"
	}
	return text
}

// staircase writes the names of the columns, each ending above its column.
func (p *printer) staircase(names []string, labels int) {
	for i := len(names) - 1; i >= 0; i-- {
		room := labels + i*markWidth + 1
		name := shorten(printable(names[i]), room)
		p.line(strings.Repeat(" ", room-columns(name)), name, strings.Repeat("   |", len(names)-1-i))
	}
}

func (p *printer) marks(b block, names []string, labels int) {
	line := pad(shorten(b.label(), labels-2), labels)
	for _, name := range names {
		line += p.mark(b.rowOf(name)) + " "
	}
	p.line(line)
}

// rowOf finds the row of a lock; one that was not run has an empty row.
func (b block) rowOf(lock string) row {
	for _, r := range b.rows {
		if slices.Contains(r.locks, lock) {
			return r
		}
	}
	return row{unfenced: cell{notRun, notRun}, fenced: cell{notRun, notRun}}
}

// mark is three columns: without fences, with them, and "!" if anything in the row is not as expected, or "+" if a property
// is violated of which the letters do not tell.
func (p *printer) mark(r row) string {
	text := r.unfenced.letter() + r.fenced.letter()
	all := r.unfenced.holders + r.unfenced.harmed + r.fenced.holders + r.fenced.harmed + r.notes
	if strings.Contains(all, "!") || strings.Contains(all, failed) {
		return p.style(red+";"+bold, text+"!")
	}
	if r.notes != "" {
		return text + "+"
	}
	return text + " "
}

// letter sums the cell up; one violation in any seed counts.
func (c cell) letter() string {
	switch c.holders {
	case notRun:
		return " "
	case notSupported:
		return "-"
	case failed:
		return "E"
	}
	holders, harmed := violated(c.holders), violated(c.harmed)
	switch {
	case holders && harmed:
		return "X"
	case holders:
		return "2"
	case harmed:
		return "h"
	case strings.HasPrefix(c.holders, "?"), strings.HasPrefix(c.harmed, "?"):
		return "?"
	}
	return "."
}
