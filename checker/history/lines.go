package history

import (
	"bufio"
	"errors"
	"io"
)

// MaxLine is the longest line of a history in bytes, without its newline, and the longest operation of an EDN history.
const MaxLine = 1 << 20

var errLongLine = errors.New("too long a line")

// lines splits an input into lines of at most MaxLine bytes.
type lines struct {
	in   *bufio.Reader
	long []byte // a line that does not fit the buffer of in
}

// next returns the next line without its newline, valid until the next call, and tells whether it had one. An error comes
// with what could be read of the line; io.EOF comes alone.
func (l *lines) next() (line []byte, whole bool, err error) {
	line, err = l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull && len(l.long) <= MaxLine {
			line, err = l.in.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	if n := len(line) - 1; n >= 0 && line[n] == '\n' {
		line, whole = line[:n], true
	}
	switch {
	case len(line) > MaxLine:
		return nil, false, errLongLine
	case err == io.EOF && len(line) > 0:
		err = nil
	}
	return line, whole, err
}
