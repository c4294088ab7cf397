package results

import (
	"fmt"
	"io"

	"github.com/lockfault/lockfault/checker"
)

// WriteRun writes one run for a terminal: each property with its verdict and the sentence behind it.
func WriteRun(w io.Writer, r Run, l Layout) error {
	p := newPrinter(l)
	p.heading("", indent, r.Key()+" on "+r.Testbed)
	if r.Title != "" {
		p.title(r.Code, r.Title)
	}
	p.line()
	for _, property := range r.Properties() {
		p.verdict(property, r)
	}
	p.outcome(r)
	return p.flush(w)
}

const (
	propertyWidth = len("fence-enforcement") + 2
	statusWidth   = len("undecided!") + 2
)

// verdict writes one property, with "!" and what was expected if that differs.
func (p *printer) verdict(property string, r Run) {
	verdict := r.Verdicts[property]
	status := verdict.Status.String()
	text := Evidence(verdict)
	if r.Differs(property) {
		status += "!"
		text = fmt.Sprintf("(expected %v) %s", r.Expected[property], text)
	}
	const margin = len(indent) + propertyWidth + statusWidth
	name := pad(shorten(printable(property), propertyWidth-1), propertyWidth)
	for i, line := range wrap(text, p.width-margin) {
		if i == 0 {
			p.line(indent, name, p.paintStatus(status, verdict.Status), line)
		} else {
			p.line(pad("", margin), line)
		}
	}
}

func (p *printer) paintStatus(text string, s checker.Status) string {
	attribute := yellow
	switch s {
	case checker.Held:
		attribute = green
	case checker.Violated:
		attribute = red
	}
	return p.style(attribute, text) + pad("", statusWidth-len(text))
}

// outcome writes how the run ended, and what is not told by the verdicts.
func (p *printer) outcome(r Run) {
	outcome := r.Outcome()
	attribute := red
	switch outcome {
	case AsExpected:
		attribute = green
	case Undecided, Unsupported:
		attribute = yellow
	}
	if len(r.Properties()) > 0 {
		p.line()
	}
	text := p.style(attribute+";"+bold, outcome.String())
	if r.Events > 0 {
		text += fmt.Sprintf("; %d events", r.Events)
	}
	p.line(text)
	if r.Because != "" {
		p.paragraph(indent, indent+indent, "expected because "+printable(r.Because))
	}
	if outcome == Unsupported {
		p.paragraph(indent, indent, reason(r))
	}
	if outcome == Failed || outcome == NotAsExpected && len(r.surprises()) == 0 {
		for _, s := range explain(r) {
			p.paragraph(indent, indent, s.what)
		}
	}
	if r.Dir != "" {
		p.line(indent, "history: ", printable(r.history())) // never folded: it is there to be copied
	}
}
