package recorder

import "io"

// lineWriter gathers whole lines and writes them at once.
type lineWriter struct {
	out     io.Writer
	buf     []byte
	lines   int64 // in buf
	dirty   bool  // the file may end within a line: what comes begins with a newline
	failing bool  // the last attempt failed
}

// full is when lines are written though more are to come: less than what systems append to a file in one go.
const full = 32 << 10

func (w *lineWriter) add(text []byte) {
	if len(w.buf) == 0 && w.dirty {
		w.buf = append(w.buf, '\n')
	}
	w.buf = append(append(w.buf, text...), '\n')
	w.lines++
}

// flush writes what there is. With an error it tells how many lines are lost; part of them may be in the file.
func (w *lineWriter) flush() (lost int64, err error) {
	if len(w.buf) == 0 {
		return 0, nil
	}
	if _, err = w.out.Write(w.buf); err != nil {
		lost = w.lines
	}
	w.buf, w.lines, w.dirty = w.buf[:0], 0, err != nil
	return lost, err
}
