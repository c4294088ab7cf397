package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Reader reads a history of JSON lines as a stream; memory is bounded by MaxLine. It accepts what a Writer writes and
// the same JSON in any other order and spacing. A last line that was cut off is left out, with a warning; anything else
// that is wrong is an error that names the file and the line.
type Reader struct {
	name     string
	lines    *bufio.Scanner
	line     int // number of the current one
	order    order
	warnings []string
}

// NewReader returns a Reader of one history. The name stands in messages for the file.
func NewReader(r io.Reader, name string) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine+len("\n"))
	lines.Split(wholeLines)
	return &Reader{name: name, lines: lines}
}

// ReadAll reads a whole history. With an error it returns the events before the broken line.
func ReadAll(r io.Reader, name string) (events []Event, warnings []string, err error) {
	reader := NewReader(r, name)
	for event, err := range reader.Events() {
		if err != nil {
			return events, reader.Warnings(), err
		}
		events = append(events, event)
	}
	return events, reader.Warnings(), nil
}

// Events yields the events in order, to be ranged over once. An error comes last, with a zero event.
func (r *Reader) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			event, err := r.next()
			if err == io.EOF {
				return
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Warnings says what was left out of the events read so far.
func (r *Reader) Warnings() []string { return r.warnings }

// next returns the next event, or io.EOF after the last.
func (r *Reader) next() (Event, error) {
	r.line++
	if !r.lines.Scan() {
		return Event{}, r.end()
	}
	line, whole := bytes.CutSuffix(r.lines.Bytes(), []byte("\n"))
	if !whole && !json.Valid(line) {
		if err := r.lines.Err(); err != nil { // cut off by the failure to read on, not in the file
			return Event{}, r.end()
		}
		r.warnings = append(r.warnings, fmt.Sprintf("%s:%d: the last line is cut off after %d bytes and was left out",
			r.name, r.line, len(line)))
		return Event{}, io.EOF
	}
	event, err := decode(line)
	if err == nil {
		err = r.order.accept(event)
	}
	if err != nil {
		return Event{}, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
	return event, nil
}

// end says why there is no further line.
func (r *Reader) end() error {
	switch err := r.lines.Err(); {
	case err == nil:
		return io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: line longer than %d bytes", r.name, r.line, MaxLine)
	default:
		return fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
}

// wholeLines splits after each newline and keeps it, to tell a last line that was cut off.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
