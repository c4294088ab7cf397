package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/locks/program"
)

// TestHelloHintsFitTheError: what to do depends on how the program failed to say hello.
func TestHelloHintsFitTheError(t *testing.T) {
	const flush, byHand = "flush standard output after each line", "run the command by hand"
	for _, c := range []struct {
		err           error
		flush, byHand bool
	}{
		{fmt.Errorf("lock.py: %w hello within 10s", program.ErrNoAnswer), true, false},
		{fmt.Errorf("lock.py: %w (exit status 1)", program.ErrEnded), false, true},
		{errors.New(`hello: name "": want at most 40 of a-z`), false, false},
	} {
		hint := helloHint(c.err)
		if strings.Contains(hint, flush) != c.flush || strings.Contains(hint, byHand) != c.byHand ||
			!strings.Contains(hint, "answer hello with name and servers") {
			t.Errorf("%v: %s", c.err, hint)
		}
	}
}
