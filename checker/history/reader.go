package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/lockfault/lockfault/checker/history/internal/intern"
)

// Reader reads a history as a stream, and finds out by itself how it is written: as JSON lines, as Jepsen's EDN, either
// of them compressed with gzip. What it holds in memory does not grow with the history: one line or operation of at most
// MaxLine bytes, some names, and for EDN the open operations and standing faults.
//
// Of JSON lines it accepts what a Writer writes and the same JSON in any other order and spacing, the former fifteen
// times as fast. A last line that was cut off, or the rest of gzip data that was, is left out with a warning; anything
// else that is wrong is an error that names the file and the line.
type Reader struct {
	name     string
	in       io.Reader
	codec    codec // nil before the first event
	format   Format
	order    order
	warnings []string
	line     int
	lines    []int32 // of the events of ReadAll, if they are not simply one after the other
	untimed  bool
}

// codec knows one format.
type codec interface {
	// next fills e, which is zero, with the next event, or returns io.EOF. Any other error is whole, with its place.
	next(e *Event) error
	// at is the line that the latest event was read from.
	at() int
	// read is how many bytes the events so far take, decompressed.
	read() int64
}

// NewReader returns a Reader of one history. The name stands in messages for the file.
func NewReader(r io.Reader, name string) *Reader { return &Reader{name: name, in: r} }

// ReadAll reads a whole history. With an error it returns the events before the broken line.
//
// A history that was cut off while its events stood in the order in which they were heard is put in the order of their
// times; of its last tenth of a second something may be missing, so that is left out, with a warning.
//
// An event takes 184 bytes, and a regular file's history is given room for at the start, by its first thousand lines.
func ReadAll(r io.Reader, name string) (events []Event, warnings []string, err error) {
	reader := NewReader(r, name)
	events, err = reader.ReadAll()
	return events, reader.Warnings(), err
}

// ReadAll reads what remains, as the function of this name does. JSON lines are parsed on all processors.
func (r *Reader) ReadAll() ([]Event, error) {
	events, err := r.readRest()
	if r.order.heard && len(events) > 0 {
		events = r.sort(events)
	}
	return events, err
}

func (r *Reader) readRest() ([]Event, error) { return r.readAll(blockSize, workers()) }

func (r *Reader) readAll(size, workers int) (events []Event, err error) {
	if r.codec == nil {
		err = r.open()
	}
	if j, ok := r.codec.(*jsonLines); ok && err == nil && workers > 0 {
		events = r.readBlocks(j, size, workers)
	}
	for err == nil {
		n := len(events)
		events = append(events, Event{})
		if err = r.next(&events[n]); err != nil {
			events = events[:n]
			break
		}
		if r.format == EDN {
			r.lines = append(r.lines, int32(min(r.line, math.MaxInt32)))
		}
		if all := sizeOf(r.in); n+1 == sample && all > 0 {
			// Growing by appending would for a moment hold the history twice. Later lines have longer numbers, so this
			// is rather too much.
			total := float64(sample) * float64(all) / float64(r.codec.read())
			events = slices.Grow(events, max(0, int(min(total, roomMax))-sample))
		}
	}
	if len(events) == 0 {
		events = nil
	}
	if err == io.EOF {
		err = nil
	}
	return events, err
}

// sample is how many events tell how many there will be.
const sample = 1000

// roomMax bounds the number of events for which room is made before they have been seen: a file may be larger than what
// is in it.
const roomMax = 1 << 24

// sizeOf is the size of a regular file, or 0. Compressed ones say nothing.
func sizeOf(r io.Reader) int64 {
	f, ok := r.(*os.File)
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Events yields the events in order, to be ranged over once. An error comes last, with a zero event. One that was cut off
// while its events stood as they were heard is read into memory first.
func (r *Reader) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			var event Event
			err := r.next(&event)
			if err == io.EOF {
				return
			}
			if r.order.heard && err == nil {
				r.yieldSorted(event, yield)
				return
			}
			if err != nil {
				event = Event{}
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Warnings says what was left out of the events read so far, or taken with a grain of salt.
func (r *Reader) Warnings() []string { return r.warnings }

// Line is the number of the line on which the latest event stands, from 1. Events that an EDN history implies (see the
// package comment) have the line of what implies them.
func (r *Reader) Line() int { return r.line }

// LineOf is the line of one of the events that ReadAll returned, by its index, as Line is of the latest.
func (r *Reader) LineOf(event int) int {
	if event < len(r.lines) {
		return int(r.lines[event])
	}
	return event + 1
}

// Format is how the history is written; "" before the first event.
func (r *Reader) Format() Format { return r.format }

// Untimed tells of a history that has no times: its events are taken to be a millisecond apart.
func (r *Reader) Untimed() bool { return r.untimed }

func (r *Reader) warn(line int, format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

// next reads the next event into e, or returns io.EOF after the last.
func (r *Reader) next(e *Event) error {
	if r.codec == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	err := r.codec.next(e)
	r.line = r.codec.at()
	if err != nil {
		return err
	}
	if err := r.order.accept(e); err != nil {
		return fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
	return nil
}

func (r *Reader) open() error {
	in, format, err := openInput(r.in)
	switch {
	case errors.Is(err, errCutOff):
		r.warn(1, "%v before anything could be read", err)
		return io.EOF
	case err != nil:
		return fmt.Errorf("%s:1: %w", r.name, err)
	}
	r.format = format
	if format == EDN {
		r.codec = newJepsen(r, in)
	} else {
		r.codec = &jsonLines{reader: r, lines: lines{in: in}}
	}
	return nil
}

// jsonLines is the format that a Writer writes.
type jsonLines struct {
	reader *Reader
	lines  lines
	number int // of the current line
	bytes  int64
	parser
}

// parser reads lines. Not safe for concurrent use.
type parser struct {
	scanner
	seen intern.Table // strings that encoding/json made
}

func (j *jsonLines) at() int     { return j.number }
func (j *jsonLines) read() int64 { return j.bytes }

func (j *jsonLines) next(e *Event) error {
	j.number++
	line, whole, err := j.lines.next()
	switch {
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, errCutOff):
		j.reader.warn(j.number, "%v here; the rest was left out", errCutOff)
		return io.EOF
	case err == errLongLine:
		return fmt.Errorf("%s:%d: line longer than %d bytes", j.reader.name, j.number, MaxLine)
	case err != nil: // what was read of the line is cut off by the failure, not in the file
		return fmt.Errorf("%s:%d: %w", j.reader.name, j.number, err)
	}
	if whole {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	j.bytes += int64(len(line)) + 1
	if j.scan(line, e) {
		return nil
	}
	if !whole && !json.Valid(line) {
		j.reader.warn(j.number, "the last line is cut off after %d bytes and was left out", len(line))
		return io.EOF
	}
	if err = j.decode(line, e); err != nil {
		return fmt.Errorf("%s:%d: %w", j.reader.name, j.number, err)
	}
	return nil
}

// decode reads a line that scan does not know. Equal strings share their memory.
func (p *parser) decode(line []byte, e *Event) (err error) {
	*e = Event{} // scan may have left something
	if *e, err = decode(line); err != nil {
		return err
	}
	for _, s := range []*string{&e.Process, &e.Resource, &e.Lease, &e.By, &e.Error} {
		*s = p.seen.String(*s)
	}
	e.Op = Op(p.seen.String(string(e.Op)))
	return nil
}
