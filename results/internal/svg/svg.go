// Package svg writes SVG in which every text and attribute is escaped.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"time"
)

// Writer collects a picture. The zero value is ready.
type Writer struct {
	out  bytes.Buffer
	open []string
}

// Open begins an element. Attributes come as name and value in turn; a float64 is a length, rounded to a tenth, and a
// time.Duration is written as nanoseconds.
func (w *Writer) Open(name string, attributes ...any) {
	w.tag(name, attributes, ">")
	w.open = append(w.open, name)
	w.out.WriteByte('\n')
}

// Close ends the element that was opened last.
func (w *Writer) Close() {
	name := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	fmt.Fprintf(&w.out, "</%s>\n", name)
}

// Leaf writes an element with nothing in it.
func (w *Writer) Leaf(name string, attributes ...any) {
	w.tag(name, attributes, "/>\n")
}

// Text writes an element with a text in it.
func (w *Writer) Text(name, text string, attributes ...any) {
	w.tag(name, attributes, ">")
	escape(&w.out, text)
	fmt.Fprintf(&w.out, "</%s>\n", name)
}

// Titled writes an element with a tooltip.
func (w *Writer) Titled(name, title string, attributes ...any) {
	w.tag(name, attributes, "><title>")
	escape(&w.out, title)
	fmt.Fprintf(&w.out, "</title></%s>\n", name)
}

// Style writes a style sheet of ours, which is not escaped.
func (w *Writer) Style(sheet string) { fmt.Fprintf(&w.out, "<style>%s</style>\n", sheet) }

// Bytes is the picture so far.
func (w *Writer) Bytes() []byte { return w.out.Bytes() }

func (w *Writer) tag(name string, attributes []any, end string) {
	w.out.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		fmt.Fprintf(&w.out, ` %s="`, attributes[i])
		escape(&w.out, value(attributes[i+1]))
		w.out.WriteByte('"')
	}
	w.out.WriteString(end)
}

func value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return Length(v)
	case time.Duration:
		return strconv.FormatInt(int64(v), 10)
	}
	return fmt.Sprint(v)
}

// Length rounds to a tenth.
func Length(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if n := len(text) - 2; text[n:] == ".0" {
		return text[:n]
	}
	return text
}

// escape also replaces what XML cannot carry.
func escape(out *bytes.Buffer, text string) { _ = xml.EscapeText(out, []byte(text)) } // a Buffer does not fail
