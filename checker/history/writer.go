package history

import (
	"fmt"
	"io"
)

// Writer writes a history as JSON lines. Each event reaches the underlying writer at once and whole, in one call of its
// Write, so that a run killed midway leaves readable lines. Equal events give equal bytes. Bytes that are no UTF-8 become
// U+FFFD. Not safe for concurrent use.
type Writer struct {
	w     io.Writer
	order order
	line  []byte
	err   error
}

// NewWriter returns a Writer for one history, from its first event on.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes the next event. It refuses one that a Reader would refuse. The first error is kept: every later call
// returns it and writes nothing, because a line may have been left incomplete.
func (w *Writer) Write(e Event) error {
	if w.err == nil {
		w.err = w.write(e)
	}
	return w.err
}

// Err returns the first error of Write.
func (w *Writer) Err() error { return w.err }

func (w *Writer) write(e Event) error {
	if err := w.order.accept(&e); err != nil {
		return fmt.Errorf("write event %d: %w", e.Index, err)
	}
	line := appendJSON(w.line[:0], e)
	if len(line) > MaxLine {
		return fmt.Errorf("write event %d: %d bytes, more than the %d that a line may have", e.Index, len(line), MaxLine)
	}
	w.line = append(line, '\n')
	n, err := w.w.Write(w.line)
	if err == nil && n < len(w.line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write event %d: %w", e.Index, err)
	}
	return nil
}
