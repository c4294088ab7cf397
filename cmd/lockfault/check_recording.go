package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
)

// recording is a history that was recorded elsewhere. Either all its events are in memory, for judging needs most of them,
// or it was judged as a stream.
type recording struct {
	name   string
	reader *history.Reader
	first  history.Event
	count  int  // events
	fenced bool // some event has a fence

	events []history.Event
	origin []int // indexes in the file, if some events were left out
	digest *checker.Case

	stream *checker.Stream
}

// tell takes note of an event.
func (r *recording) tell(e *history.Event) {
	if r.count == 0 {
		r.first = *e
	}
	r.count++
	r.fenced = r.fenced || e.Fence != 0
}

func (c *call) readRecording(name string) (*recording, error) {
	in, err := c.files.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := &recording{name: shown(name), reader: history.NewReader(in.Reader, shown(name))}
	r.events, err = r.reader.ReadAll()
	c.warn(r.reader)
	if err == nil && len(r.events) == 0 {
		err = fmt.Errorf("%s: no events", r.name)
	}
	return r, err
}

// shown is how messages call a file.
func shown(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func (c *call) warn(r *history.Reader) {
	for _, w := range r.Warnings() {
		fmt.Fprintf(c.stderr, "warning: %s\n", w)
	}
}

// judge gives the verdict of each chosen property. A ttl that is not 0 is for a history that does not tell its own.
func (r *recording) judge(chosen []checker.Property, ttl time.Duration) (map[string]checker.Verdict, error) {
	for i := range r.events {
		r.tell(&r.events[i])
	}
	digest, err := checker.NewCase(r.events)
	if err != nil {
		return nil, r.placed(err)
	}
	if ttl > 0 {
		switch told := digest.Plan.TTL; {
		case told > 0 && told != ttl:
			return nil, usagef("--ttl %v: the history tells its own, %v", ttl, told)
		case r.reader.Untimed():
			return nil, usagef("--ttl %v: the history has no times that it could be compared with", ttl)
		}
		digest.Plan.TTL = ttl
	}
	verdicts := map[string]checker.Verdict{}
	for _, p := range chosen {
		verdicts[p.Name] = p.Judge(digest)
	}
	r.digest = digest
	return verdicts, nil
}

// placed names the file and, where an error of the checker tells of an event, its line.
func (r *recording) placed(err error) error {
	var wrong *checker.EventError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return fmt.Errorf("%s:%d: event %d: %w", r.name, r.lineOf(wrong.Event), r.originOf(wrong.Event), wrong.Err)
}

func (r *recording) lineOf(event int) int {
	if r.stream != nil {
		return r.stream.LineOf(event)
	}
	return r.reader.LineOf(r.originOf(event))
}

func (r *recording) originOf(event int) int {
	if r.origin != nil && event < len(r.origin) {
		return r.origin[event]
	}
	return event
}

// places says in which lines of the file the witnesses of the violations are.
func (r *recording) places(chosen []checker.Property, verdicts map[string]checker.Verdict) string {
	var b strings.Builder
	for _, p := range chosen {
		v := verdicts[p.Name]
		if v.Status != checker.Violated || v.Witness == nil {
			continue
		}
		var lines []string
		for i, event := range v.Witness.Events {
			if i == 12 {
				lines = append(lines, "...")
				break
			}
			if line := fmt.Sprint(r.lineOf(event)); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		fmt.Fprintf(&b, "%s: see %s:%s\n", p.Name, r.name, strings.Join(lines, ", "))
	}
	return b.String()
}

// asRun is the history as a run. Its witnesses name events by their index in the file; in an EDN history, by that which
// check --to jsonl gives them.
func (r *recording) asRun(chosen []checker.Property, verdicts map[string]checker.Verdict, asked []string) (results.Run, error) {
	run := results.Run{Verdicts: map[string]checker.Verdict{}, Events: r.count}
	if r.first.Op == history.Begin && r.first.Role == history.Harness {
		plan, err := history.ParsePlan(r.first.Detail)
		if err != nil {
			return run, r.placed(err)
		}
		run.Lock, run.Scenario, run.Fencing = plan.Lock, plan.Scenario, plan.Fencing
		run.Testbed, run.Seed = plan.Testbed, plan.Seed
	}
	if run.Lock == "" {
		run.Fencing = r.fenced
	}
	if run.Lock == "" {
		run.Lock = filepath.Base(r.name)
	}
	if run.Scenario == "" {
		run.Scenario = "recorded"
	}
	if run.Testbed == "" {
		run.Testbed = "elsewhere"
	}
	for _, p := range chosen {
		v := verdicts[p.Name]
		if v.Witness != nil && r.origin != nil {
			w := *v.Witness
			w.Events = slices.Clone(w.Events)
			for i, event := range w.Events {
				w.Events[i] = r.originOf(event)
			}
			v.Witness = &w
		}
		run.Verdicts[p.Name] = v
	}
	expectAsked(&run, asked)
	return run, nil
}
