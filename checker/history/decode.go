package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// decode reads one line. Fields that an Event does not have are an error: they are misspelt, or meant for a reader that
// knows more.
func decode(line []byte) (Event, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return Event{}, errors.New("empty line")
	}
	if !utf8.Valid(line) { // encoding/json would make one name of two that differ in what is none
		return Event{}, errors.New("not UTF-8; convert the file, as in: iconv -f LATIN1 -t UTF-8 FILE | lockfault check -")
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	var event Event
	if err := decoder.Decode(&event); err != nil {
		if bytes.HasPrefix(line, []byte("{:")) {
			return Event{}, errors.New("EDN in a history that began as JSON lines")
		}
		return Event{}, plain(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Event{}, fmt.Errorf("bad JSON: more after the event, at byte %d", decoder.InputOffset())
	}
	return event, fieldsOnce(line)
}

// fieldsOnce refuses a field that is there twice, of which encoding/json takes the last. The line is an event.
func fieldsOnce(line []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	seen := map[string]bool{}
	_, _ = decoder.Token() // {
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		name := strings.ToLower(fmt.Sprint(key)) // as encoding/json takes them
		if seen[name] {
			return fmt.Errorf("field %q twice in one event", key)
		}
		seen[name] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// plain puts an error of encoding/json into the words of the file.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("bad JSON at byte %d: %w", syntax.Offset, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("bad JSON: the line ends early")
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("an event is a JSON object, not %s", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("field %q cannot be %s", kind.Field, kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
