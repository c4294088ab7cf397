package edn

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads from one quote to the other. It may go over several lines.
func (r *Reader) string(v *Value) error {
	r.pos++
	r.text = r.text[:0]
	for {
		c, err := r.need()
		if err != nil {
			return err
		}
		r.step(c)
		switch c {
		case '"':
			if !utf8.Valid(r.text) { // what is none must not make one name of two
				return r.failf("a string that is not UTF-8")
			}
			v.Text = r.strings.Bytes(r.text)
			return nil
		case '\\':
			if err := r.escape(); err != nil {
				return err
			}
		default:
			r.text = append(r.text, c)
		}
	}
}

var escapes = map[byte]byte{'t': '\t', 'r': '\r', 'n': '\n', 'b': '\b', 'f': '\f', '"': '"', '\\': '\\', '\'': '\''}

// escape reads what follows a backslash in a string.
func (r *Reader) escape() error {
	c, err := r.need()
	if err != nil {
		return err
	}
	switch plain, known := escapes[c]; {
	case known:
		r.pos++
		r.text = append(r.text, plain)
		return nil
	case c == 'u':
		r.pos++
		return r.unicode()
	case '0' <= c && c <= '7':
		return r.octal()
	}
	return r.failf(`\%c is no escape`, c)
}

// unicode reads the four digits of one code unit; two surrogates make one character.
func (r *Reader) unicode() error {
	unit, err := r.hex4()
	if err != nil {
		return err
	}
	if !utf16.IsSurrogate(unit) {
		r.text = utf8.AppendRune(r.text, unit)
		return nil
	}
	c, err := r.need()
	if err != nil || c != '\\' {
		r.text = utf8.AppendRune(r.text, utf8.RuneError)
		return err
	}
	r.pos++
	if c, err = r.need(); err != nil || c != 'u' {
		r.text = utf8.AppendRune(r.text, utf8.RuneError)
		if err != nil {
			return err
		}
		return r.escape()
	}
	r.pos++
	second, err := r.hex4()
	r.text = utf8.AppendRune(r.text, utf16.DecodeRune(unit, second))
	return err
}

func (r *Reader) hex4() (rune, error) {
	var digits [4]byte
	for i := range digits {
		c, err := r.need()
		if err != nil {
			return 0, err
		}
		digits[i] = c
		r.step(c)
	}
	unit, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, r.failf(`\u%s is no escape`, digits[:])
	}
	return rune(unit), nil
}

func (r *Reader) octal() error {
	n := rune(0)
	for range 3 {
		c, err := r.need()
		if err != nil {
			return err
		}
		if c < '0' || c > '7' {
			break
		}
		n = n*8 + rune(c-'0')
		r.pos++
	}
	r.text = utf8.AppendRune(r.text, n)
	return nil
}

// char reads a character such as \a, \newline or \u0041.
func (r *Reader) char(v *Value) error {
	r.pos++
	c, err := r.need()
	if err != nil {
		return err
	}
	r.step(c)
	rest, err := r.wordBytes()
	if err != nil {
		return err
	}
	name := string(append([]byte{c}, rest...))
	for text, known := range charNames {
		if known == name {
			v.Text = text
			return nil
		}
	}
	if len(name) == 5 && name[0] == 'u' {
		if unit, err := strconv.ParseUint(name[1:], 16, 16); err == nil {
			v.Text = string(rune(unit))
			return nil
		}
	}
	if utf8.RuneCountInString(name) != 1 || !utf8.ValidString(name) {
		return r.failf(`\%s is no character`, name)
	}
	v.Text = name
	return nil
}
