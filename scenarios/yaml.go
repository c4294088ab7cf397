package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// FileError is a mistake in a scenario file.
type FileError struct {
	File         string
	Line, Column int // from 1; 0 if the mistake is the file's as a whole
	Message      string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// reader walks a YAML document and keeps the first mistake, with its place. After a mistake every method returns zero
// values, so that callers need not look at each step.
type reader struct {
	file string
	err  error
}

// parseYAML returns the root of a file with one document.
func (r *reader) parse(data []byte) ast.Node {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		r.err = syntaxError(r.file, err)
		return nil
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.err = &FileError{File: r.file, Message: "want one YAML document with keys such as title, clients, expect"}
		return nil
	}
	return file.Docs[0].Body
}

// syntaxError gives the parser's complaint the form of the other mistakes.
func syntaxError(file string, err error) error {
	var at *token.Token
	message := err.Error()
	if e, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	}); ok {
		at, message = e.GetToken(), e.GetMessage()
	}
	e := &FileError{File: file, Message: message}
	if at != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

func (r *reader) fail(n ast.Node, format string, args ...any) {
	if r.err == nil {
		at := start(n)
		r.err = &FileError{File: r.file, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)}
	}
}

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
func (r *reader) fields(n ast.Node, what string, known ...string) []field {
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
		r.fail(n, "%s: want keys with values, such as %q", what, strings.Join(known, ": ..., ")+": ...")
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

func (r *reader) list(n ast.Node, what string) []ast.Node {
	if r.err != nil {
		return nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(n, "%s: want a list", what)
		return nil
	}
	return s.Values
}

// text is the value of a scalar.
func (r *reader) text(n ast.Node, what string) string {
	if r.err != nil {
		return ""
	}
	switch n := n.(type) {
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value)
	case *ast.StringNode:
		return n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	r.fail(n, "%s: want a plain value", what)
	return ""
}

func (r *reader) texts(n ast.Node, what string) []string {
	var texts []string
	for _, item := range r.list(n, what) {
		texts = append(texts, r.text(item, what))
	}
	return texts
}

// oneOf is a text that must be among the choices.
func (r *reader) oneOf(n ast.Node, what string, choices ...string) string {
	text := r.text(n, what)
	if r.err == nil && !slices.Contains(choices, text) {
		r.fail(n, "%s: %q is none of %s", what, text, strings.Join(choices, ", "))
	}
	return text
}

// allOf is a list of texts that must each be among the choices.
func (r *reader) allOf(n ast.Node, what string, choices []string) []string {
	var texts []string
	for _, item := range r.list(n, what) {
		texts = append(texts, r.oneOf(item, what, choices...))
	}
	return texts
}

// duration is a text such as 1.5s; the sign is part of it.
func (r *reader) duration(n ast.Node, what string, least time.Duration) time.Duration {
	text := r.text(n, what)
	if r.err != nil {
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.fail(n, "%s: %q is no duration; write it like 250ms, 1.5s or 2m", what, text)
	case d < least:
		r.fail(n, "%s: %v is too short, the least is %v", what, d, least)
	}
	return d
}

func (r *reader) number(n ast.Node, what string, least, most int64) int64 {
	text := r.text(n, what)
	if r.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < least || v > most {
		r.fail(n, "%s: want a whole number from %d to %d, not %q", what, least, most, text)
	}
	return v
}
