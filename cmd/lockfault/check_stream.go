package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
)

// streams tells whether all that is asked for can be judged event by event, without the whole history in memory. Should it
// turn out that this one cannot, the file is read again; so it must be one.
func (f *checkFlags) streams(c *call, chosen []checker.Property) bool {
	whole := f.resource != "" || f.ttl != 0 || f.extras.metrics || f.extras.picture != ""
	if whole || slices.ContainsFunc(chosen, func(p checker.Property) bool { return !p.Streams() }) {
		return false
	}
	info, err := os.Stat(c.args[0])
	return err == nil && info.Mode().IsRegular()
}

// judgeStream judges the history while it is read.
func (c *call) judgeStream(chosen []checker.Property) (*historyFile, map[string]checker.Verdict, error) {
	in, err := c.files.open(c.args[0])
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	h := &historyFile{name: shown(c.args[0]), reader: history.NewReader(in.Reader, shown(c.args[0]))}
	if h.stream, err = checker.NewStream(chosen); err != nil {
		return nil, nil, err
	}
	err = h.judgeAhead()
	if !errors.Is(err, checker.ErrWhole) {
		c.warn(h.reader)
	}
	if err != nil {
		return nil, nil, err
	}
	if h.count == 0 {
		return nil, nil, fmt.Errorf("%s: no events", h.name)
	}
	verdicts, err := h.stream.Verdicts()
	if err != nil {
		return nil, nil, h.placed(err)
	}
	return h, verdicts, nil
}

// batch is what is read while the one before is judged.
type batch struct {
	events []history.Event
	lines  []int
	err    error // that came after them
}

const batchSize = 512

// judgeAhead adds all events to the stream. It does not return before the reading has ended.
func (h *historyFile) judgeAhead() (err error) {
	full, empty, done := make(chan *batch), make(chan *batch, 2), make(chan struct{})
	empty <- &batch{}
	empty <- &batch{}
	go h.readAhead(full, empty, done)
	for b := range full {
		for i := 0; i < len(b.events) && err == nil; i++ {
			h.tell(&b.events[i], b.lines[i])
			if err = h.stream.Add(b.events[i], b.lines[i]); err != nil {
				err = h.placed(err)
				close(done)
			}
		}
		if err == nil {
			err = b.err
			empty <- b
		}
	}
	return err
}

// readAhead fills batches until the history ends or the judge has had enough.
func (h *historyFile) readAhead(full chan<- *batch, empty <-chan *batch, done <-chan struct{}) {
	defer close(full)
	next := func() *batch {
		select {
		case b := <-empty:
			b.events, b.lines = b.events[:0], b.lines[:0]
			return b
		case <-done:
			return nil
		}
	}
	b := next()
	for event, err := range h.reader.Events() {
		if err != nil {
			b.err = err
			break
		}
		b.events, b.lines = append(b.events, event), append(b.lines, h.reader.Line())
		if len(b.events) < batchSize {
			continue
		}
		full <- b
		if b = next(); b == nil {
			return
		}
	}
	full <- b
}
