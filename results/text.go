package results

import (
	"strings"
	"unicode"
)

// printable replaces what would move the cursor, change the colour or reorder the text of a terminal. Names and messages
// come from histories and locks that lockfault did not write.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// columns is how many columns of a terminal the text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		0x3000 <= r && r <= 0x303f, 0xff01 <= r && r <= 0xff60, 0x1f300 <= r && r <= 0x1faff:
		return 2
	}
	return 1
}

// pad fills the text up with spaces to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// wrap folds the text at spaces into lines of at most width columns; a longer word is cut. There is always a line.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(printable(s)) {
		if line != "" && columns(line)+1+columns(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for columns(line) > width {
			head := cut(line, width)
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// cut returns the longest beginning that fits the width, of one rune at least.
func cut(s string, width int) string {
	used := 0
	for i, r := range s {
		used += runeColumns(r)
		if used > width && i > 0 {
			return s[:i]
		}
	}
	return s
}

// shorten cuts text that is too long for the width.
func shorten(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	return cut(s, width-1) + "…"
}
