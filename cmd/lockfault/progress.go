package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress tells how far long work has come: a bar on a terminal, now and then a line elsewhere, nothing at all for what
// takes less than two seconds. Safe for concurrent use; a nil progress is silent.
type progress struct {
	w        io.Writer
	terminal bool
	total    int

	mu    sync.Mutex
	done  int
	began time.Time
	shown time.Time
}

func newProgress(w io.Writer, total int) *progress {
	return &progress{w: w, terminal: isTerminal(w), total: total, began: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (p *progress) step() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	every := 10 * time.Second
	if p.terminal {
		every = 100 * time.Millisecond
	}
	now := time.Now()
	if now.Sub(p.began) < 2*time.Second || now.Sub(p.shown) < every {
		return
	}
	p.shown = now
	if !p.terminal {
		fmt.Fprintf(p.w, "%d of %d runs judged\n", p.done, p.total)
		return
	}
	const width = 30
	full := width * p.done / p.total
	left := time.Duration(float64(now.Sub(p.began)) / float64(p.done) * float64(p.total-p.done)).Round(time.Second)
	fmt.Fprintf(p.w, "\r[%s%s] %d of %d runs, %v left \x1b[K", strings.Repeat("#", full), strings.Repeat(".", width-full), p.done, p.total, left)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
