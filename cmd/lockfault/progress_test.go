package main

import (
	"strings"
	"testing"
	"time"
)

func TestProgressIsSilentForTwoSecondsAndThenSeldom(t *testing.T) {
	for name, of := range map[string]struct {
		terminal bool
		running  time.Duration
		want     string
	}{
		"short, piped":      {false, 0, ""},
		"short, terminal":   {true, 0, ""},
		"long, piped":       {false, time.Minute, "1 of 4 runs judged\n"},
		"long, on terminal": {true, time.Minute, "\r[#######.......................] 1 of 4 runs, 3m0s left \x1b[K\r\x1b[K"},
	} {
		var out strings.Builder
		p := newProgress(&out, 4)
		p.terminal, p.began = of.terminal, time.Now().Add(-of.running)
		p.step()
		p.step() // too soon to show
		p.clear()
		if out.String() != of.want {
			t.Errorf("%s: %q, want %q", name, out.String(), of.want)
		}
	}
}

func TestNoProgressIsSilent(t *testing.T) {
	var p *progress
	p.step()
	p.clear()
}
