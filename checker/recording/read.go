package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// byteOrderMark is what some editors and languages put before UTF-8.
const byteOrderMark = "\ufeff"

// MaxLine is the longest line in bytes.
const MaxLine = 1 << 20

// Read reads a file of a recording. Lines of several processes may be mixed. A line that is cut off, as by a crash or a full
// disk, is left out with a warning; anything else that is wrong is an error that names the line.
func Read(r io.Reader, name string) (lines []Line, warnings []string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		whole := err == nil
		if err != nil && err != io.EOF {
			return lines, warnings, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			line, err := decode(text)
			switch {
			case errors.Is(err, io.ErrUnexpectedEOF):
				warnings = append(warnings, fmt.Sprintf("%s:%d: the line is cut off and was left out", name, number))
				if !whole {
					return lines, warnings, nil
				}
				continue
			case err != nil:
				return lines, warnings, fmt.Errorf("%s:%d: %w", name, number, err)
			}
			line.File, line.Number = name, number
			lines = append(lines, line)
		}
		if !whole {
			return lines, warnings, nil
		}
	}
}

func decode(text []byte) (line Line, err error) {
	if len(text) > MaxLine {
		return line, fmt.Errorf("a line of more than %d bytes", MaxLine)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		return line, cmp.Or(wrongTime(text), err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return line, errors.New("more than one value on the line")
	}
	return line, line.check()
}

// wrongTime says what to do about the first time of a line that is none; nil if all are or cannot be told. The decoder says
// neither which it is nor what is missing.
func wrongTime(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil
	}
	for _, name := range []string{"began", "ended", "until"} {
		value, there := fields[name]
		var at time.Time
		if !there || json.Unmarshal(value, &at) == nil {
			continue
		}
		var written string
		if json.Unmarshal(value, &written) != nil {
			return fmt.Errorf("%s: a time is text, such as %q", name, exampleTime)
		}
		if _, err := time.Parse("2006-01-02T15:04:05", written); err == nil {
			return fmt.Errorf("%s: %q has no zone: write the time with its zone, such as %s", name, written, exampleTime)
		}
		return fmt.Errorf("%s: %q is not a time as RFC 3339 has it: write it with its zone, such as %s", name, written, exampleTime)
	}
	return nil
}

// exampleTime is how a time is written.
const exampleTime = "2026-11-30T21:00:00.102Z"

// Is tells whether a file begins as a recording does: a JSON object with a host, which no line of a history has.
func Is(start []byte) bool {
	start = bytes.TrimLeft(start, byteOrderMark+" \t\r\n")
	if i := bytes.IndexByte(start, '\n'); i >= 0 {
		start = start[:i]
	}
	return bytes.HasPrefix(start, []byte("{")) && bytes.Contains(start, []byte(`"host"`)) && !bytes.Contains(start, []byte(`"index"`))
}
