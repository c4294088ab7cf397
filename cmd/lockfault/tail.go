package main

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// tail keeps the end of what a process prints, where a dying one names the reason. Safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 64 << 10 // bytes; a trace of one goroutine fits

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-tailSize):]...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(b), nil
}

var (
	deathCry = regexp.MustCompile(`(?:panic|fatal error): .*`)
	// frame is the first function of a trace that is not the runtime's, with its file and line.
	frame = regexp.MustCompile(`(?m)^((?:[^\s(]+/)?[^\s(/]+\.\S*)\(.*\)\n\t\S*?([^/\s]+:\d+)`)
)

// String says why the process died, as the Go runtime tells it, with the place; else the last line that it printed.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	cries := deathCry.FindAllIndex(t.text, -1)
	if len(cries) == 0 {
		return lastLine(t.text)
	}
	cry := cries[len(cries)-1]
	text := string(t.text[cry[0]:cry[1]])
	for _, f := range frame.FindAllSubmatch(t.text[cry[1]:], -1) {
		if name := string(f[1]); !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "panic") {
			return text + " (in " + name + ", " + string(f[2]) + ")"
		}
	}
	return text
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "it said nothing"
	}
	const most = 200 // bytes
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return "its last words were " + string(line[:min(len(line), most)])
}
