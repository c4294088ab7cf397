package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file: far above any scenario, and low enough that the YAML library, whose time grows with the square of the
// nesting and of the keys in a mapping, is soon done.
const (
	maxBytes  = 1 << 20
	maxNested = 32
	maxItems  = 10_000 // keys and items of lists
)

// readFile reads a file, or so much of a larger one that document refuses it.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// document returns the root of a file with one YAML document.
func (r *reader) document(data []byte) ast.Node {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as some editors on Windows begin a file
	if len(data) > maxBytes {
		r.failFile("larger than %d KiB: this is no %s", maxBytes>>10, r.what)
		return nil
	}
	r.encoding(data)
	if r.err != nil {
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	r.plain(tokens)
	if r.err != nil {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // fields says more about a duplicate
	if err != nil {
		r.err = syntaxError(r.file, err)
		return nil
	}
	return r.only(file.Docs)
}

// only returns the body of the only document.
func (r *reader) only(docs []*ast.DocumentNode) ast.Node {
	if len(docs) > 1 && docs[1].Start != nil {
		r.failAt(docs[1].Start.Position, "a second document begins here: write one %s per file", r.what)
		return nil
	}
	if len(docs) == 1 && docs[0].Body != nil {
		if _, comments := docs[0].Body.(*ast.CommentGroupNode); !comments {
			return docs[0].Body
		}
	}
	r.failFile("there is no %s in the file: begin with %s", r.what, r.begin)
	return nil
}

// encoding checks that the file is text that a terminal can show.
func (r *reader) encoding(data []byte) {
	line, column := 1, 1
	for len(data) > 0 {
		c, size := utf8.DecodeRune(data)
		at := &token.Position{Line: line, Column: column}
		switch {
		case c == utf8.RuneError && size == 1:
			r.failAt(at, "this is not UTF-8: save the file as UTF-8")
			return
		case c < ' ' && c != '\n' && c != '\r' && c != '\t', c == 0x7f:
			r.failAt(at, "control character %U: leave it out", c)
			return
		}
		data, column = data[size:], column+1
		if c == '\n' {
			line, column = line+1, 1
		}
	}
}

// plain checks that the file keeps to the part of YAML that scenarios need.
func (r *reader) plain(tokens token.Tokens) {
	depth, items := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.failAt(t.Position, "anchors, aliases and merge keys (& * <<) are not read: write the value out, or put it in quotes")
		case token.TagType, token.DirectiveType:
			r.failAt(t.Position, "tags and directives (! %%) are not read: leave them out, or put the value in quotes")
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.MappingValueType, token.SequenceEntryType, token.CollectEntryType:
			items++
		}
		block := t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType
		if depth > maxNested || block && t.Position.Column > 4*maxNested {
			r.failAt(t.Position, "nested too deeply: this is no %s", r.what)
		}
		if items > maxItems {
			r.failAt(t.Position, "more than %d keys and items: this is no %s", maxItems, r.what)
		}
		if r.err != nil {
			return
		}
	}
}

// syntaxError gives the YAML library's complaint the form of the other mistakes.
func syntaxError(file string, err error) error {
	var at *token.Token
	message := err.Error()
	if e, ok := err.(interface {
		GetToken() *token.Token
		GetMessage() string
	}); ok {
		at, message = e.GetToken(), e.GetMessage()
	}
	if strings.Contains(message, "character '\t'") {
		message = "a tab cannot stand here: indent with spaces"
	}
	e := &FileError{File: file, Message: message}
	if at != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

// failFile keeps a mistake of the file as a whole.
func (r *reader) failFile(format string, args ...any) {
	if r.err == nil {
		r.err = &FileError{File: r.file, Message: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) failAt(at *token.Position, format string, args ...any) {
	if r.err == nil {
		r.err = &FileError{File: r.file, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)}
	}
}
