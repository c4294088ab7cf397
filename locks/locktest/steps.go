package locktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker/history"
)

// stepsMax is how many steps of a run a failure shows.
const stepsMax = 40

// steps are those of a run around the events that matter, which are marked; all of it if it is short.
func (r *run) steps(marked []int) string {
	type step struct {
		index int
		text  string
	}
	var all []step
	for _, e := range r.outcome.Events {
		if text := describe(e); text != "" {
			all = append(all, step{e.Index, text})
		}
	}
	first, last := 0, len(all)
	if len(all) > stepsMax && len(marked) > 0 {
		first = max(0, slices.IndexFunc(all, func(s step) bool { return s.index >= marked[0] })-5)
		last = min(len(all), first+stepsMax)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the run, with a lease of %v (the probe asks for the lock when all faults are healed):\n", r.outcome.Plan.Scenario.TTL)
	if first > 0 {
		fmt.Fprintf(&b, "  ... %d steps before\n", first)
	}
	for _, s := range all[first:last] {
		mark := " "
		if slices.Contains(marked, s.index) {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %s\n", mark, s.text)
	}
	if last < len(all) {
		fmt.Fprintf(&b, "  ... %d steps after\n", len(all)-last)
	}
	return b.String()
}

// milliseconds are enough for steps, which stand in order.
const milliseconds = history.Seconds(3)

// describe puts an event into words; empty if it says nothing that others do not.
func describe(e history.Event) string {
	line := func(format string, args ...any) string {
		return fmt.Sprintf("%10s  %-9s %s", milliseconds.Of(e.Time), e.Process, fmt.Sprintf(format, args...))
	}
	switch e.Role {
	case history.Nemesis:
		return line("%s", fault(e))
	case history.Node:
		return line("%s%s", keyChange(e), by(e))
	case history.Resource:
		if e.Op == history.Read {
			return ""
		}
		if e.Type != history.Ok {
			return line("write of %s refused: %s", e.By, e.Error)
		}
		return line("write of %s applied%s", e.By, fence(e))
	case history.Harness:
		return ""
	}
	switch {
	case e.Op == history.Lost:
		return line("is told that its lease is over")
	case e.Op == history.Died, e.Op == history.Panic:
		return line("%s", strings.TrimSpace(string(e.Op)+" "+e.Error))
	case e.Type == history.Invoke:
		return line("%s ...", e.Op)
	case e.Type == history.Ok:
		return line("%s: ok%s", e.Op, fence(e))
	case e.Type == history.Fail:
		return line("%s: no: %s", e.Op, oneLine(e.Error))
	}
	return line("%s: unknown: %s", e.Op, oneLine(e.Error))
}

func fence(e history.Event) string {
	if e.Fence == 0 {
		return ""
	}
	return fmt.Sprintf(", fence %d", e.Fence)
}

func by(e history.Event) string {
	switch owner := e.Detail["owner"]; {
	case e.By == "":
		return ""
	case e.Op == history.KeyDeleted && owner != "" && owner != e.By:
		return fmt.Sprintf(" by %s, set by %s", e.By, owner)
	}
	return " by " + e.By
}

func keyChange(e history.Event) string {
	switch e.Op {
	case history.KeySet:
		return "key " + e.Resource + " set"
	case history.KeyTTL:
		return "key " + e.Resource + " prolonged"
	case history.KeyDeleted:
		return "key " + e.Resource + " deleted"
	}
	return "key " + e.Resource + " expired"
}

func fault(e history.Event) string {
	subject := e.Detail["subject"]
	switch e.Type {
	case history.Invoke:
		return strings.TrimSpace(string(e.Op)+" of "+subject) + " begins"
	case history.Ok:
		return string(e.Op) + " is over"
	}
	return string(e.Op) + ": " + e.Error
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }
