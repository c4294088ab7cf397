// Package edn reads the extensible data notation, in which Clojure programs such as Jepsen write data down: a stream of
// values with the line and column of each. It reads what clojure.edn reads, and #:ns{...} and #some.Record{...} besides.
//
// There is olympos.io/encoding/edn. It was passed over because it tells no line, because it follows nested brackets
// with the goroutine's stack (a file of brackets ends the process, which no recover stops), and because it has no bound
// for the size of a value: all three matter where the files are other people's.
package edn

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says what a Value is.
type Kind uint8

// Kinds of values.
const (
	Nil     Kind = iota
	Bool         // Int is 0 or 1
	Int          // Int
	Number       // any other: Text as written, such as 1.5, 3/4 or an integer beyond 64 bits
	String       // Text
	Char         // Text
	Keyword      // Text without the colon
	Symbol       // Text
	List         // Items
	Vector       // Items
	Map          // Items: keys and values in turn
	Set          // Items
	Tagged       // Text is the tag without #, Items the one value
)

var kindNames = [...]string{"nil", "boolean", "integer", "number", "string", "character", "keyword", "symbol", "list",
	"vector", "map", "set", "tagged value"}

func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "Kind(" + strconv.Itoa(int(k)) + ")"
	}
	return kindNames[k]
}

// Value is one value. The zero value is nil.
type Value struct {
	Kind   Kind
	Line   int32 // where it starts, from 1
	Column int32 // in bytes, from 1
	Int    int64
	Text   string
	Items  []Value
}

// Get returns the value of a keyword in a map, and whether it is there.
func (v Value) Get(keyword string) (Value, bool) {
	if v.Kind == Map {
		for i := 0; i+1 < len(v.Items); i += 2 {
			if key := &v.Items[i]; key.Kind == Keyword && key.Text == keyword {
				return v.Items[i+1], true
			}
		}
	}
	return Value{}, false
}

// Untagged is the value without its tags.
func (v Value) Untagged() Value {
	for v.Kind == Tagged {
		v = v.Items[0]
	}
	return v
}

// String writes the value as EDN.
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends the value as EDN, in one line.
func (v Value) Append(b []byte) []byte {
	switch v.Kind {
	case Nil:
		return append(b, "nil"...)
	case Bool:
		return strconv.AppendBool(b, v.Int != 0)
	case Int:
		return strconv.AppendInt(b, v.Int, 10)
	case String:
		return AppendString(b, v.Text)
	case Char:
		return append(append(b, '\\'), charName(v.Text)...)
	case Keyword:
		return append(append(b, ':'), v.Text...)
	case Tagged:
		b = append(append(append(b, '#'), v.Text...), ' ')
		return v.Items[0].Append(b)
	case List:
		return v.appendItems(b, "(", ")")
	case Vector:
		return v.appendItems(b, "[", "]")
	case Map:
		return v.appendItems(b, "{", "}")
	case Set:
		return v.appendItems(b, "#{", "}")
	}
	return append(b, v.Text...)
}

func (v Value) appendItems(b []byte, open, shut string) []byte {
	b = append(b, open...)
	for i, item := range v.Items {
		if i > 0 {
			b = append(b, ' ')
		}
		b = item.Append(b)
	}
	return append(b, shut...)
}

// AppendString appends s as a string of EDN, in one line. Bytes that are no UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029:
			b = append(b, `\u`...)
			b = append(b, strings.ToLower(strconv.FormatInt(0x10000+int64(r), 16)[1:])...)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

var charNames = map[string]string{"\n": "newline", "\r": "return", " ": "space", "\t": "tab", "\b": "backspace", "\f": "formfeed"}

func charName(text string) string {
	if name, ok := charNames[text]; ok {
		return name
	}
	return text
}
