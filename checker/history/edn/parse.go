package edn

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value reads the value that starts with c.
func (r *Reader) value(c byte) (Value, error) {
	v := Value{Line: int32(r.line), Column: int32(r.offset()-r.newline) + 1}
	if r.depth++; r.depth > MaxDepth {
		return v, r.failf("brackets and tags nested more than %d deep", MaxDepth)
	}
	var err error
	switch c {
	case '{':
		v.Kind = Map
		err = r.collection(&v, c)
	case '[':
		v.Kind = Vector
		err = r.collection(&v, c)
	case '(':
		v.Kind = List
		err = r.collection(&v, c)
	case '"':
		v.Kind = String
		err = r.string(&v)
	case '\\':
		v.Kind = Char
		err = r.char(&v)
	case '#':
		err = r.dispatch(&v)
	case ']', ')', '}':
		err = r.failf("%q closes nothing", c)
	default:
		err = r.atom(&v, c)
	}
	r.depth--
	return v, err
}

// collection reads from an opening bracket to its closing one.
func (r *Reader) collection(v *Value, open byte) error {
	r.pos++
	from := len(r.scratch)
	shut := closer(open)
	for {
		c, err := r.inner()
		if err != nil {
			return err
		}
		if c == shut {
			r.pos++
			break
		}
		if c == ']' || c == ')' || c == '}' {
			return r.failf("%q closes the %q of line %d", c, open, v.Line)
		}
		item, err := r.value(c)
		if err == errDiscarded {
			continue
		}
		if err != nil {
			return err
		}
		r.scratch = append(r.scratch, item)
	}
	if v.Kind == Map && (len(r.scratch)-from)%2 != 0 {
		return r.failf("the map of line %d has a key without a value", v.Line)
	}
	v.Items = r.keep(from)
	return nil
}

// inner is skipSpace within a value.
func (r *Reader) inner() (byte, error) {
	c, err := r.skipSpace()
	if err == io.EOF {
		return 0, r.fail(io.ErrUnexpectedEOF)
	}
	return c, err
}

// keep moves the items from scratch to where they stay until the next value is read.
func (r *Reader) keep(from int) []Value {
	start := len(r.slab)
	r.slab = append(r.slab, r.scratch[from:]...)
	r.scratch = r.scratch[:from]
	return r.slab[start:len(r.slab):len(r.slab)]
}

// errDiscarded stands for what #_ removed.
var errDiscarded = errors.New("discarded")

// dispatch reads what starts with #.
func (r *Reader) dispatch(v *Value) error {
	r.pos++
	c, err := r.need()
	if err != nil {
		return err
	}
	switch {
	case c == '{':
		v.Kind = Set
		return r.collection(v, c)
	case c == '_':
		r.pos++
		if err := r.wrapped(nil); err != nil {
			return err
		}
		return errDiscarded
	case c == '#': // ##Inf, ##-Inf, ##NaN
		r.pos++
		v.Kind = Number
		word, err := r.word()
		v.Text = "##" + word
		return err
	case c == '<':
		return r.failf("#< starts an object that Clojure could not write down")
	case c != ':' && !isLetter(c):
		return r.failf("#%c is not EDN", c)
	}
	v.Kind = Tagged
	if v.Text, err = r.word(); err != nil {
		return err
	}
	if err := r.wrapped(v); err != nil {
		return err
	}
	if namespace, ok := strings.CutPrefix(v.Text, ":"); ok {
		return r.qualify(v, namespace)
	}
	return nil
}

// wrapped reads the value behind a tag, or one to discard if v is nil.
func (r *Reader) wrapped(v *Value) error {
	for {
		c, err := r.inner()
		if err != nil {
			return err
		}
		if v != nil && r.depth == 1 && r.enter(c) {
			return errEntered
		}
		item, err := r.value(c)
		if err == errDiscarded {
			continue
		}
		if err != nil {
			return err
		}
		if v != nil {
			from := len(r.scratch)
			r.scratch = append(r.scratch, item)
			v.Items = r.keep(from)
		}
		return nil
	}
}

// qualify turns #:ns{:key ...} into {:ns/key ...}.
func (r *Reader) qualify(v *Value, namespace string) error {
	inner := v.Items[0]
	if inner.Kind != Map {
		return r.failf("#:%s needs a map", namespace)
	}
	for i := 0; i < len(inner.Items); i += 2 {
		key := &inner.Items[i]
		if key.Kind != Keyword && key.Kind != Symbol {
			continue
		}
		if name, ok := strings.CutPrefix(key.Text, "_/"); ok {
			key.Text = name
		} else if !strings.Contains(key.Text, "/") {
			key.Text = namespace + "/" + key.Text
		}
	}
	*v = inner
	return nil
}

// word reads up to what ends a keyword, symbol or number.
func (r *Reader) word() (string, error) {
	b, err := r.wordBytes()
	return r.strings.Bytes(b), err
}

func (r *Reader) wordBytes() ([]byte, error) {
	r.text = r.text[:0]
	for {
		i := r.pos
		for i < len(r.buf) && !endsWord[r.buf[i]] {
			i++
		}
		r.text = append(r.text, r.buf[r.pos:i]...)
		r.pos = i
		if r.offset()-r.start > MaxBytes {
			return nil, r.failf("a value longer than %d bytes", MaxBytes)
		}
		if i < len(r.buf) {
			return r.text, nil
		}
		if _, err := r.peek(); err == io.EOF {
			return r.text, nil
		} else if err != nil {
			return nil, err
		}
	}
}

var endsWord = func() (ends [256]bool) {
	for _, c := range []byte(" ,\n\r\t\f\v()[]{}\";\\@^`~") {
		ends[c] = true
	}
	return ends
}()

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf }

// atom reads a keyword, number, symbol, nil or boolean.
func (r *Reader) atom(v *Value, c byte) error {
	word, err := r.wordBytes()
	switch {
	case err != nil:
		return err
	case len(word) == 0:
		return r.failf("%q is not EDN", c)
	case !plain(word):
		return r.failf("%q is not EDN", word)
	case c == ':':
		v.Kind = Keyword
		if v.Text = r.strings.Bytes(bytes.TrimLeft(word, ":")); v.Text == "" {
			return r.failf("a keyword without a name; is this JSON among EDN?")
		}
	case isDigit(c) || (c == '-' || c == '+') && len(word) > 1 && isDigit(word[1]):
		return r.number(v, word)
	case string(word) == "nil":
	case string(word) == "true":
		v.Kind, v.Int = Bool, 1
	case string(word) == "false":
		v.Kind = Bool
	default:
		v.Kind, v.Text = Symbol, r.strings.Bytes(word)
	}
	return nil
}

// plain tells whether a word can be shown.
func plain(word []byte) bool {
	for _, c := range word {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(word)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads an integer of 64 bits into Int; whatever else starts like a number is kept as it stands.
func (r *Reader) number(v *Value, word []byte) error {
	digits := bytes.TrimSuffix(word, []byte("N"))
	if n, ok := short(digits); ok {
		v.Kind, v.Int = Int, n
		return nil
	}
	if n, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		v.Kind, v.Int = Int, n
		return nil
	}
	for _, c := range word {
		if !isDigit(c) && !isLetter(c) && !bytes.ContainsRune([]byte("+-./"), rune(c)) {
			return r.failf("%q is no number", word)
		}
	}
	v.Kind, v.Text = Number, string(word)
	return nil
}

// short reads what is most frequent: up to 18 digits.
func short(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
