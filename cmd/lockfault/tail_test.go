package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestDyingProcessIsQuotedWithTheReason(t *testing.T) {
	trace := "\n\ngoroutine 9 [running]:\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:7 +0x1\n" +
		"example.com/a/b.(*lock).Acquire.func1({0x1?, 0x2}, ...)\n\t/home/x/b/lock.go:34 +0x25\ncreated by example.com/a/b.(*lock).Acquire in goroutine 8\n\t/home/x/b/lock.go:30 +0x1\n"
	for name, of := range map[string]struct{ said, want string }{
		"nothing":            {"", "it said nothing"},
		"blank lines":        {"\n \n", "it said nothing"},
		"last words":         {"one\ntwo\n", "its last words were two"},
		"long last words":    {strings.Repeat("x", 500), "its last words were " + strings.Repeat("x", 200)},
		"a panic":            {"panic: no" + trace, "panic: no (in example.com/a/b.(*lock).Acquire.func1, lock.go:34)"},
		"behind a half line": {"hello panic: no" + trace, "panic: no (in example.com/a/b.(*lock).Acquire.func1, lock.go:34)"},
		"of two the last":    {"panic: first\nfatal error: second\n", "fatal error: second"},
		"without a trace":    {"panic: no\n", "panic: no"},
	} {
		var all, bytewise tail
		fmt.Fprint(&all, of.said)
		for i := range len(of.said) {
			fmt.Fprint(&bytewise, of.said[i:i+1])
		}
		for _, got := range []string{all.String(), bytewise.String()} {
			if got != of.want {
				t.Errorf("%s: got %q, want %q", name, got, of.want)
			}
		}
	}
}

func TestTailIsBoundedAndKeepsTheEnd(t *testing.T) {
	var small, large tail
	for range 100 {
		fmt.Fprint(&small, strings.Repeat("x", 10_000))
	}
	fmt.Fprint(&large, strings.Repeat("x", 1_000_000)+"\npanic: at last")
	fmt.Fprint(&small, "\npanic: at last")
	for _, s := range []*tail{&small, &large} {
		if len(s.text) > 2*tailSize || s.String() != "panic: at last" {
			t.Errorf("keeps %d bytes, says %q", len(s.text), s)
		}
	}
}
