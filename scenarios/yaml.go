package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/lockfault/lockfault/nemesis"
)

// FileError is a mistake in a scenario file, a baseline or a stored plan.
type FileError struct {
	File         string
	Line, Column int    // from 1; 0 if the mistake is the file's as a whole
	Message      string // what is wrong, and what to write instead
}

// Error reads like "file.yaml:3:5: message".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// reader walks a YAML document and keeps the first mistake, with its place. After a mistake every method returns zero
// values, so that callers need not look at each step.
type reader struct {
	file    string
	what    string // the file is: "scenario"
	begin   string // how such a file begins
	err     error
	moments []placedMoment // to be checked once every client is known
}

// placedMoment is a moment with the place that names it.
type placedMoment struct {
	at     ast.Node
	key    string
	moment nemesis.Moment
}

func (r *reader) fail(n ast.Node, format string, args ...any) { r.failAt(start(n), format, args...) }

// start is where a node begins; a mapping's own token is its first colon.
func start(n ast.Node) *token.Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken().Position
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken().Position
	}
	return n.GetToken().Position
}

// field is one key of a mapping with its value.
type field struct {
	key   string
	at    ast.Node
	value ast.Node
}

// fields returns what a mapping holds, in order; known are the keys that may occur, none for any.
func (r *reader) fields(n ast.Node, what, example string, known ...string) []field {
	if r.err != nil {
		return nil
	}
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		r.fail(n, "%s: want keys with values, such as %q", what, example)
		return nil
	}
	var fields []field
	for _, v := range values {
		key := v.Key.GetToken().Value
		if len(known) > 0 && !slices.Contains(known, key) {
			r.fail(v.Key, "%s: unknown key %q; known are %s", what, key, strings.Join(known, ", "))
			return nil
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			r.fail(v.Key, "%s: key %q occurs twice", what, key)
			return nil
		}
		fields = append(fields, field{key, v.Key, v.Value})
	}
	return fields
}

func (r *reader) list(n ast.Node, what, example string) []ast.Node {
	if r.err != nil {
		return nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(n, "%s: want a list, such as %q", what, example)
		return nil
	}
	return s.Values
}

// text is the value of a scalar.
func (r *reader) text(n ast.Node, what string) string {
	if r.err != nil {
		return ""
	}
	var text string
	switch n := n.(type) {
	case *ast.NullNode:
		r.fail(n, "%s: the value is missing", what)
	case *ast.LiteralNode:
		text = strings.TrimSpace(n.Value.Value)
	case ast.ScalarNode:
		text = n.GetToken().Value
	default:
		r.fail(n, "%s: want one value, not a list or keys", what)
	}
	return text
}

// line is a text for people; line breaks count as spaces.
func (r *reader) line(f field) string {
	text := strings.Join(strings.Fields(r.text(f.value, f.key)), " ")
	if strings.ContainsFunc(text, unicode.IsControl) {
		r.fail(f.value, "%s: control characters cannot stand here", f.key)
	}
	return text
}

// oneOf is a text that must be among the choices.
func (r *reader) oneOf(n ast.Node, what string, choices ...string) string {
	text := r.text(n, what)
	switch {
	case r.err != nil || slices.Contains(choices, text):
	case len(choices) == 1:
		r.fail(n, "%s: want %q, not %q", what, choices[0], text)
	default:
		r.fail(n, "%s: %q is none of %s", what, text, strings.Join(choices, ", "))
	}
	return text
}

// flag is on or off.
func (r *reader) flag(f field) bool {
	text := r.oneOf(f.value, f.key, "on", "off", "true", "false")
	return text == "on" || text == "true"
}

// allOf is a list of texts that must each be among the choices, once.
func (r *reader) allOf(f field, choices []string) []string {
	var texts []string
	for _, item := range r.list(f.value, f.key, "["+choices[0]+"]") {
		text := r.oneOf(item, f.key, choices...)
		if slices.Contains(texts, text) {
			r.fail(item, "%s: %s occurs twice", f.key, text)
		}
		texts = append(texts, text)
	}
	return texts
}

// someOf is allOf with at least one.
func (r *reader) someOf(f field, choices []string) []string {
	texts := r.allOf(f, choices)
	if len(texts) == 0 && r.err == nil {
		r.fail(f.value, "%s: the list is empty; name at least one, or leave %s out", f.key, f.key)
	}
	return texts
}

// longest is the greatest duration that a file can have: sums and multiples of it stay far from overflow.
const longest = 100_000 * time.Hour

// duration is a text such as 1.5s; the sign is part of it.
func (r *reader) duration(f field, least time.Duration) time.Duration {
	text := r.text(f.value, f.key)
	if r.err != nil {
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.fail(f.value, "%s: %q is no duration; write it like 250ms, 1.5s or 2m", f.key, text)
	case d < least:
		r.fail(f.value, "%s: %v is too short, the least is %v", f.key, d, least)
	case d > longest:
		r.fail(f.value, "%s: %v is too long, the most is %v", f.key, d, longest)
	}
	return d
}

func (r *reader) number(f field, least, most int64) int64 {
	text := r.text(f.value, f.key)
	if r.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < least || v > most {
		r.fail(f.value, "%s: want a whole number from %d to %d, not %q", f.key, least, most, text)
	}
	return v
}
