package results

import (
	"fmt"
	"io"
	"strings"
)

// Layout is how a terminal wants its text.
type Layout struct {
	Width int  // columns; 0 stands for 80; less than 64 is taken as 64
	Color bool // ANSI colours, beside the words and never instead of them
}

// WriteTable writes a report for a terminal: for each scenario what each lock did, without and with fences; then what the
// words mean and, for every run that is not as expected, why. Locks that did the same share a row.
func WriteTable(w io.Writer, r Report, l Layout) error {
	p := newPrinter(l)
	all := blocks(r.Runs)
	halves := sides(all)
	names := p.nameWidth(all, halves)
	for _, b := range all {
		p.block(b, halves, names)
	}
	if len(all) > 0 {
		p.legend(holdersMeans, harmedMeans, symbols(all))
	}
	p.tail(r)
	return p.flush(w)
}

// Widths of the columns of a table. The names of the locks may take the rest.
const (
	holdersWidth = len("2 holders") + 2
	harmedWidth  = len("harmed") + 2
	cellWidth    = holdersWidth + harmedWidth
	indent       = "  "
)

// nameWidth is the same for all blocks: what the longest row needs, if there is room.
func (p *printer) nameWidth(all []block, halves []side) int {
	width := len("unfenced")
	for _, b := range all {
		for _, r := range b.rows {
			width = max(width, columns(printable(r.names()))+2)
		}
	}
	return min(width, p.width-len(indent)-len(halves)*cellWidth)
}

func (p *printer) block(b block, halves []side, names int) {
	p.title(b.code, b.heading())
	top, header := pad("", len(indent)+names), pad(indent+"lock", len(indent)+names)
	for _, half := range halves {
		top += pad(half.name, cellWidth)
		header += pad("2 holders", holdersWidth) + pad("harmed", harmedWidth)
	}
	p.line(top)
	p.line(header)
	for _, r := range b.rows {
		cells := p.cells(r, halves)
		for _, line := range wrap(r.names(), names-2) {
			p.line(indent, pad(line, names), cells)
			cells = ""
		}
		p.notes(r.notes)
	}
	p.line()
}

func (p *printer) cells(r row, halves []side) string {
	var text string
	for _, half := range halves {
		c := half.of(r)
		text += p.paint(c.holders, holdersWidth) + p.paint(c.harmed, harmedWidth)
	}
	return text
}

// notes writes what a row has to say beside its cells.
func (p *printer) notes(text string) {
	if text == "" {
		return
	}
	for _, line := range wrap("also: "+text, p.width-6) {
		if strings.Contains(line, "!") {
			line = p.style(red+";"+bold, line)
		}
		p.line("      ", line)
	}
}

// tail ends a table: reasons for n/a, what was not as expected, and the count.
func (p *printer) tail(r Report) {
	p.reasons(r.Runs)
	for _, run := range r.Runs {
		switch run.Outcome() {
		case NotAsExpected, Undecided, Failed:
			p.complaint(run)
		}
	}
	p.heading("", "", r.summary())
}

// reasons says once why runs were not supported.
func (p *printer) reasons(runs []Run) {
	var impossible []Run
	for _, run := range runs {
		if run.Outcome() == Unsupported {
			impossible = append(impossible, run)
		}
	}
	if len(impossible) == 0 {
		return
	}
	p.line("not supported here:")
	for _, same := range group(impossible, reason) {
		count := fmt.Sprintf("%5d  ", len(same))
		p.paragraph(count, strings.Repeat(" ", len(count)), reason(same[0]))
	}
	p.line()
}

// reason is why the run was impossible, without the words that every such reason begins with.
func reason(r Run) string {
	return strings.TrimPrefix(r.Unsupported, "not supported here: ")
}

// complaint tells why a run is not as expected.
func (p *printer) complaint(r Run) {
	p.heading("! ", indent, r.Key())
	for _, s := range explain(r) {
		p.paragraph("    ", "    ", s.what)
		if s.evidence != "" {
			p.paragraph("      ", "      ", s.evidence)
		}
	}
	if r.Dir != "" {
		p.line("    history: ", printable(r.history()))
	}
	p.line()
}
