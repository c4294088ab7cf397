package main

import (
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
func (c *call) judgeStream(chosen []checker.Property) (*recording, map[string]checker.Verdict, error) {
	in, err := openHistory(c.args[0])
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	r := &recording{name: shown(c.args[0]), reader: history.NewReader(in, shown(c.args[0]))}
	if r.stream, err = checker.NewStream(chosen); err != nil {
		return nil, nil, err
	}
	for event, err := range r.reader.Events() {
		if err != nil {
			c.warn(r.reader)
			return nil, nil, err
		}
		r.tell(&event)
		if err := r.stream.Add(event, r.reader.Line()); err != nil {
			return nil, nil, r.placed(err)
		}
	}
	c.warn(r.reader)
	if r.count == 0 {
		return nil, nil, fmt.Errorf("%s: no events", r.name)
	}
	verdicts, err := r.stream.Verdicts()
	if err != nil {
		return nil, nil, r.placed(err)
	}
	return r, verdicts, nil
}
