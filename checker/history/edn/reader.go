package edn

import (
	"errors"
	"fmt"
	"io"

	"github.com/lockfault/lockfault/checker/history/internal/intern"
)

// Bounds of one value, so that no input makes the reader use more than some 50 MB.
const (
	MaxBytes = 1 << 20
	MaxDepth = 64
)

// Error is a mistake in the text, or a failure to read on; Err is io.ErrUnexpectedEOF where the text ends within a value.
type Error struct {
	Line, Column int
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %v", e.Line, e.Column, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Reader reads values one after the other. Not safe for concurrent use.
type Reader struct {
	in      io.Reader
	buf     []byte // read and not yet dropped
	pos     int    // in buf
	base    int64  // offset of buf in the text
	err     error  // of in
	line    int
	first   int   // line of the value being read
	newline int64 // offset of the first byte of the line
	start   int64 // offset of the value being read
	depth   int
	enters  bool // a collection that comes first is to be stepped into
	inside  byte // what closes the one that was, or 0

	scratch []Value // items of the collections being read
	slab    []Value // items of those that were
	text    []byte
	strings intern.Table
}

// NewReader returns a Reader of a text in UTF-8.
func NewReader(in io.Reader) *Reader { return &Reader{in: in, line: 1} }

// Enter has Next step into a vector or list if one comes first, with or without a tag, and return its items instead.
func (r *Reader) Enter() { r.enters = true }

// errEntered stands for a collection that was stepped into.
var errEntered = errors.New("entered")

// enter steps into the collection that c opens, if it is to be.
func (r *Reader) enter(c byte) bool {
	if !r.enters || c != '[' && c != '(' {
		return false
	}
	r.pos++
	r.enters, r.inside = false, closer(c)
	return true
}

// Next returns the next value. It is valid until the call after. The end is io.EOF; where a collection was stepped into
// (see Enter), that is where it closes. Other errors are of type *Error, and nothing can be read after them.
func (r *Reader) Next() (Value, error) {
	for {
		r.start, r.depth = r.offset(), 0
		r.scratch, r.slab = r.scratch[:0], r.slab[:0]
		c, err := r.skipSpace()
		r.first = r.line
		switch {
		case err == io.EOF && r.inside != 0:
			return Value{}, r.fail(io.ErrUnexpectedEOF)
		case err != nil:
			return Value{}, err
		case r.inside != 0 && c == r.inside:
			r.pos++
			return Value{}, r.finish()
		case r.enter(c):
			continue
		}
		if v, err := r.value(c); err != errDiscarded && err != errEntered {
			r.enters = false
			return v, err
		}
	}
}

// FirstLine is the line on which the latest value starts, or the broken one.
func (r *Reader) FirstLine() int { return r.first }

// Offset is how many bytes of the text were read.
func (r *Reader) Offset() int64 { return r.offset() }

// finish is the end of the collection that was stepped into: nothing may come after.
func (r *Reader) finish() error {
	r.inside = 0
	c, err := r.skipSpace()
	if err == nil {
		return r.failf("%q after the end of the history", c)
	}
	return err
}

func (r *Reader) offset() int64 { return r.base + int64(r.pos) }

func (r *Reader) fail(err error) error {
	return &Error{Line: r.line, Column: int(r.offset()-r.newline) + 1, Err: err}
}

func (r *Reader) failf(format string, args ...any) error { return r.fail(fmt.Errorf(format, args...)) }

// peek returns the byte at the position; more must be called before if there may be none. It is what makes reading
// fast: most calls are one comparison.
func (r *Reader) peek() (byte, error) {
	if r.pos < len(r.buf) {
		return r.buf[r.pos], nil
	}
	return r.fill()
}

// fill reads on. The end of the text is io.EOF, which only the caller can judge.
func (r *Reader) fill() (byte, error) {
	if r.buf == nil {
		r.buf = make([]byte, 0, 64<<10)
	}
	r.base += int64(len(r.buf))
	r.buf, r.pos = r.buf[:0], 0
	for tries := 0; r.err == nil && len(r.buf) == 0; tries++ {
		n, err := r.in.Read(r.buf[:cap(r.buf)])
		r.buf, r.err = r.buf[:n], err
		if n == 0 && err == nil && tries == 100 {
			r.err = io.ErrNoProgress
		}
	}
	if len(r.buf) == 0 {
		if r.err == io.EOF {
			return 0, io.EOF
		}
		return 0, r.fail(r.err)
	}
	return r.buf[0], nil
}

// need is peek within a value, where the text must not end.
func (r *Reader) need() (byte, error) {
	c, err := r.peek()
	if err == io.EOF {
		return 0, r.fail(io.ErrUnexpectedEOF)
	}
	if err == nil && r.offset()-r.start > MaxBytes {
		return 0, r.failf("a value longer than %d bytes", MaxBytes)
	}
	return c, err
}

// step passes over the byte at the position.
func (r *Reader) step(c byte) {
	r.pos++
	if c == '\n' {
		r.line++
		r.newline = r.offset()
	}
}

// skipSpace passes over blanks, commas and comments, and returns what comes then. Outside of a value there may be any
// amount of them.
func (r *Reader) skipSpace() (byte, error) {
	for {
		c, err := r.peek()
		if err != nil {
			return 0, err
		}
		switch {
		case isSpace(c):
			r.step(c)
		case c == ';':
			if err := r.skipComment(); err != nil {
				return 0, err
			}
		default:
			return c, nil
		}
		if r.depth == 0 {
			r.start = r.offset()
		} else if r.offset()-r.start > MaxBytes {
			return 0, r.failf("a value longer than %d bytes", MaxBytes)
		}
	}
}

func (r *Reader) skipComment() error {
	for {
		c, err := r.peek()
		if err != nil {
			return err
		}
		if c == '\n' {
			return nil
		}
		r.step(c)
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == ',' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v'
}

func closer(open byte) byte {
	switch open {
	case '[':
		return ']'
	case '(':
		return ')'
	}
	return '}'
}
