package results

import (
	"bytes"
	"io"
	"strings"
)

// printer collects text for a terminal, so that a failing terminal fails once.
type printer struct {
	out   bytes.Buffer
	width int
	color bool
}

func newPrinter(l Layout) *printer {
	if l.Width == 0 {
		l.Width = 80
	}
	return &printer{width: max(l.Width, 64), color: l.Color}
}

func (p *printer) flush(w io.Writer) error {
	_, err := w.Write(p.out.Bytes())
	return err
}

// line writes the parts as one line without trailing spaces.
func (p *printer) line(parts ...string) {
	p.out.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.out.WriteByte('\n')
}

// paragraph folds text to the width, its first line after one indent, the others after another.
func (p *printer) paragraph(first, others, text string) {
	for _, line := range wrap(text, p.width-columns(others)) {
		p.line(first, line)
		first = others
	}
}

// title writes a heading, with a short code before it.
func (p *printer) title(code, text string) {
	margin := pad("", 4)
	if code = printable(code); columns(code) < len(margin) {
		p.heading(pad(code, len(margin)), margin, text)
	} else {
		p.heading(margin, margin, code+" "+text)
	}
}

// heading is a bold paragraph.
func (p *printer) heading(first, others, text string) {
	for _, line := range wrap(text, p.width-columns(others)) {
		p.line(p.style(bold, first+line))
		first = others
	}
}

// legend explains words under a table.
func (p *printer) legend(lines ...string) {
	for _, line := range lines {
		if line != "" {
			p.paragraph("", indent, line)
		}
	}
	p.line()
}

// The ANSI attributes in use.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *printer) style(attribute, text string) string {
	if !p.color || text == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}

// paint pads the text of a cell and colours it by what it says.
func (p *printer) paint(text string, width int) string {
	attribute := red // yes, 3/5, ERR
	switch strings.TrimSuffix(text, "!") {
	case "no":
		attribute = green
	case "?":
		attribute = yellow
	case notSupported, notRun:
		attribute = dim
	}
	if strings.HasSuffix(text, "!") {
		attribute += ";" + bold
	}
	return p.style(attribute, text) + strings.Repeat(" ", max(1, width-len(text)))
}
