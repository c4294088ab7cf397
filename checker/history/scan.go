package history

import (
	"time"
	"unicode/utf8"

	"github.com/lockfault/lockfault/checker/history/internal/intern"
)

// scanner reads the lines that a Writer writes and nothing else: fields in its order, no spaces, no escapes. What it does
// not know it leaves to decode, which takes some fifteen times as long. A fuzz target holds the two together.
//
// It allocates for a detail and for strings not seen shortly before.
type scanner struct {
	strings intern.Table
	last    Event  // its texts: a field often says what it said in the line before
	rest    []byte // of the line
	failed  bool
}

// scan fills e, which must be zero, or tells that decode must; then e is of no use.
func (s *scanner) scan(line []byte, e *Event) bool {
	s.rest, s.failed = line, false
	s.expect(`{"index":`)
	e.Index = int(s.number())
	s.expect(`,"time_ns":`)
	e.Time = time.Duration(s.number())
	s.expect(`,"process":"`)
	e.Process = s.text(&s.last.Process)
	if s.field(`,"role":"`) {
		e.Role = Role(s.oneOf(roleNames[:], int(Node)))
	}
	s.expect(`,"type":"`)
	e.Type = Type(s.oneOf(typeNames[:], int(Invoke)))
	s.expect(`,"op":"`)
	e.Op = Op(s.text((*string)(&s.last.Op)))
	if s.failed {
		return false
	}
	s.optional(e)
	return !s.failed && string(s.rest) == "}"
}

// optional reads the fields that may be absent, in the order of Event.
func (s *scanner) optional(e *Event) {
	if s.field(`,"resource":"`) {
		e.Resource = s.text(&s.last.Resource)
	}
	if s.field(`,"lease":"`) {
		e.Lease = s.text(&s.last.Lease)
	}
	if s.field(`,"by":"`) {
		e.By = s.text(&s.last.By)
	}
	if s.field(`,"value":`) {
		e.Value = s.number()
	}
	if s.field(`,"version":`) {
		e.Version = s.number()
	}
	if s.field(`,"fence":`) {
		e.Fence = s.number()
	}
	if s.field(`,"until_ns":`) {
		e.Until = time.Duration(s.number())
	}
	if s.field(`,"error":"`) {
		e.Error = s.text(&s.last.Error)
	}
	if s.field(`,"detail":{"`) {
		e.Detail = s.detail()
	}
}

// field is skip for the beginning of a field: most are not there, and the first letter of the name tells.
func (s *scanner) field(literal string) bool {
	return len(s.rest) > 2 && s.rest[2] == literal[2] && s.skip(literal)
}

func (s *scanner) skip(literal string) bool {
	if len(s.rest) < len(literal) || string(s.rest[:len(literal)]) != literal {
		return false
	}
	s.rest = s.rest[len(literal):]
	return true
}

func (s *scanner) expect(literal string) {
	if !s.skip(literal) {
		s.failed = true
	}
}

// number reads a decimal that fits whatever it says: up to 18 digits. "-0" and leading zeros are left to decode.
func (s *scanner) number() int64 {
	negative := s.skip("-")
	n, digits := int64(0), 0
	for digits < len(s.rest) && '0' <= s.rest[digits] && s.rest[digits] <= '9' && digits < 19 {
		n = n*10 + int64(s.rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits > 18 || s.rest[0] == '0' && (digits > 1 || negative) {
		s.failed = true
		return 0
	}
	s.rest = s.rest[digits:]
	if negative {
		return -n
	}
	return n
}

// text reads up to the closing quote and over it.
func (s *scanner) text(last *string) string {
	if n := len(*last); n < len(s.rest) && s.rest[n] == '"' && string(s.rest[:n]) == *last {
		s.rest = s.rest[n+1:]
		return *last
	}
	*last = s.newText()
	return *last
}

func (s *scanner) newText() string {
	var high byte
	for i, c := range s.rest {
		if c == '"' {
			text := s.rest[:i]
			if high >= utf8.RuneSelf && !utf8.Valid(text) {
				break
			}
			s.rest = s.rest[i+1:]
			return s.strings.Bytes(text)
		}
		if c == '\\' || c < ' ' {
			break
		}
		high |= c
	}
	s.failed = true
	return ""
}

// oneOf reads one of the names, from the first on, up to the closing quote and over it.
func (s *scanner) oneOf(names []string, first int) int {
	for i, name := range names[first:] {
		if s.skip(name) {
			s.expect(`"`)
			return first + i
		}
	}
	s.failed = true
	return 0
}

// detail reads from behind the first quote up to the closing brace and over it.
func (s *scanner) detail() map[string]string {
	detail := map[string]string{}
	for {
		key := s.newText()
		s.expect(`:"`)
		value := s.newText()
		if s.failed {
			return nil
		}
		detail[key] = value
		if s.skip("}") {
			return detail
		}
		s.expect(`,"`)
	}
}
