package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decode reads one line. Fields that an Event does not have are an error: they are misspelt, or meant for a reader that
// knows more.
func decode(line []byte) (Event, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return Event{}, errors.New("empty line")
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
	return event, nil
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
