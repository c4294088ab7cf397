package main

import (
	"cmp"
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

// historyFile is a history that was recorded elsewhere. Either all its events are in memory, for judging needs most of them,
// or it was judged as a stream.
type historyFile struct {
	name   string
	reader *history.Reader
	first  history.Event
	count  int  // events
	fenced bool // some grant has a fence
	bare   bool // some grant has none
	odd    []odd

	events []history.Event
	origin []int // indexes in the file, if some events were left out
	digest *checker.Case

	stream *checker.Stream
}

// odd is an operation that checkers do not know, and where it stands first.
type odd struct {
	role history.Role
	op   history.Op
	line int
}

// tell takes note of an event, and of the line on which it stands.
func (h *historyFile) tell(e *history.Event, line int) {
	if h.count == 0 {
		h.first = *e
	}
	if !e.Known() && !slices.ContainsFunc(h.odd, func(o odd) bool { return o.role == e.Role && o.op == e.Op }) {
		h.odd = append(h.odd, odd{e.Role, e.Op, line})
	}
	h.count++
	if e.Role == history.Client && e.Op == history.Acquire && e.Type == history.Ok {
		h.fenced = h.fenced || e.Fence != 0
		h.bare = h.bare || e.Fence == 0
	}
}

// readHistory reads a whole history. A resource that is not empty chooses a lock or data.
func (c *call) readHistory(name, resource string) (*historyFile, error) {
	in, err := c.files.open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	h := &historyFile{name: shown(name), reader: history.NewReader(in.from(), shown(name))}
	h.events, err = h.reader.ReadAll()
	c.warn(h.reader)
	if err == nil && len(h.events) == 0 {
		err = fmt.Errorf("%s: no events", h.name)
	}
	if err == nil && resource != "" {
		err = h.keepOnly(resource)
	}
	return h, err
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
func (h *historyFile) judge(chosen []checker.Property, ttl time.Duration) (map[string]checker.Verdict, error) {
	for i := range h.events {
		h.tell(&h.events[i], h.lineOf(i))
	}
	digest, err := checker.NewCase(h.events)
	if err != nil {
		return nil, h.placed(err)
	}
	if ttl > 0 {
		switch told := digest.Plan.TTL; {
		case told > 0 && told != ttl:
			return nil, usagef("--ttl %v: the history tells its own, %v", ttl, told)
		case h.reader.Untimed():
			return nil, usagef("--ttl %v: the history has no times that it could be compared with", ttl)
		}
		digest.Plan.TTL = ttl
	}
	verdicts := map[string]checker.Verdict{}
	for _, p := range chosen {
		verdicts[p.Name] = p.Judge(digest)
	}
	h.digest = digest
	return verdicts, nil
}

// placed names the file and, where an error of the checker tells of an event, its line.
func (h *historyFile) placed(err error) error {
	var wrong *checker.EventError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", h.name, err)
	}
	return fmt.Errorf("%s:%d: event %d: %w", h.name, h.lineOf(wrong.Event), h.originOf(wrong.Event), wrong.Err)
}

func (h *historyFile) lineOf(event int) int {
	if h.stream != nil {
		return h.stream.LineOf(event)
	}
	return h.reader.LineOf(h.originOf(event))
}

func (h *historyFile) originOf(event int) int {
	if h.origin != nil && event < len(h.origin) {
		return h.origin[event]
	}
	return event
}

// places says in which lines of the file the witnesses of the violations are.
func (h *historyFile) places(chosen []checker.Property, verdicts map[string]checker.Verdict) string {
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
			if line := fmt.Sprint(h.lineOf(event)); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		fmt.Fprintf(&b, "%s: see %s:%s\n", p.Name, h.name, strings.Join(lines, ", "))
	}
	return b.String()
}

// asRun is the history as a run. Its witnesses name events by their index in the file; in an EDN history, by that which
// check --to jsonl gives them.
func (h *historyFile) asRun(chosen []checker.Property, verdicts map[string]checker.Verdict, asked []string) (results.Run, error) {
	run := results.Run{Verdicts: map[string]checker.Verdict{}, Events: h.count}
	if h.first.Op == history.Begin && h.first.Role == history.Harness {
		plan, err := history.ParsePlan(h.first.Detail)
		if err != nil {
			return run, h.placed(err)
		}
		run.Lock, run.Scenario, run.Fencing = plan.Lock, plan.Scenario, plan.Fencing
		run.Testbed, run.Seed = plan.Testbed, plan.Seed
	}
	if run.Lock == "" {
		run.Lock, run.Fencing = filepath.Base(h.name), h.fenced && !h.bare
	}
	run.Scenario, run.Testbed = cmp.Or(run.Scenario, "recorded"), cmp.Or(run.Testbed, "elsewhere")
	for _, p := range chosen {
		v := verdicts[p.Name]
		if v.Witness != nil && h.origin != nil {
			w := *v.Witness
			w.Events = slices.Clone(w.Events)
			for i, event := range w.Events {
				w.Events[i] = h.originOf(event)
			}
			v.Witness = &w
		}
		run.Verdicts[p.Name] = v
	}
	expectAsked(&run, asked)
	return run, nil
}
