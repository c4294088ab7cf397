package program

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

// tail keeps the end of what a program says on standard error, and drops what came before. Safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailLimit is how much is kept, in bytes.
const tailLimit = 4096

// listen takes in all that there is.
func (t *tail) listen(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailLimit; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
}

// String is the last lines, in one.
func (t *tail) String() string {
	const most = 4
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, line := range strings.Split(string(t.text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "it said nothing on standard error"
	}
	shown := lines[max(0, len(lines)-most):]
	for i, line := range shown {
		shown[i] = strings.Map(printable, line[max(0, len(line)-300):])
	}
	return "it said on standard error: " + strings.Join(shown, " | ")
}

// printable keeps a terminal's own sequences out of what is shown.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}
