package checker

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// script reads a history written for people. Each line is
//
//	TIME PROCESS OP TYPE key=value ...      one event
//	FROM..TO PROCESS OP TYPE key=value ...  an invocation and its completion of that type
//
// with times in seconds. Lines may come in any order; events of one time keep the order of their lines. The process tells
// the role: n1 is a node, R the resource, fault-1 a fault. A begin event (TTL 10 s, 5 nodes) and an end event are added;
// the line "cut off" leaves the end out, and "plan key=value ..." changes the plan.
func script(t testing.TB, text string) []history.Event {
	t.Helper()
	plan := map[string]string{"ttl": "10s", "nodes": "5"}
	complete := true
	var events []history.Event
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.TrimSpace(line) == "cut off":
			complete = false
		case fields[0] == "plan":
			maps.Copy(plan, pairs(t, fields[1:]))
		case len(fields) < 4:
			t.Fatalf("script line %q has fewer than four fields", line)
		default:
			events = append(events, scriptEvents(t, fields)...)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return int(a.Time - b.Time) })
	begin := history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.Begin, Detail: plan}
	events = append([]history.Event{begin}, events...)
	if complete {
		end := history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.End}
		end.Time = events[len(events)-1].Time
		events = append(events, end)
	}
	for i := range events {
		events[i].Index = i
	}
	return events
}

func scriptEvents(t testing.TB, fields []string) []history.Event {
	t.Helper()
	e := history.Event{Process: fields[1], Role: scriptRole(fields[1]), Op: history.Op(fields[2])}
	if err := e.Type.UnmarshalText([]byte(fields[3])); err != nil {
		t.Fatal(err)
	}
	e.Detail = pairs(t, fields[4:])
	take := func(key string) string { v := e.Detail[key]; delete(e.Detail, key); return v }
	e.Lease, e.By, e.Resource, e.Error = take("lease"), take("by"), take("on"), take("error")
	e.Fence, e.Version = int64(number(t, take("fence"))), int64(number(t, take("version")))
	e.Value = int64(number(t, take("value")))
	e.Until = seconds(t, take("until"))
	from, to, both := strings.Cut(fields[0], "..")
	e.Time = seconds(t, from)
	if !both {
		return []history.Event{e}
	}
	invoke := e
	invoke.Type, invoke.Fence, invoke.Until = history.Invoke, 0, 0
	e.Time = seconds(t, to)
	return []history.Event{invoke, e}
}

func scriptRole(process string) history.Role {
	switch {
	case process == "R":
		return history.Resource
	case strings.HasPrefix(process, "fault-"):
		return history.Nemesis
	case strings.HasPrefix(process, "n"):
		return history.Node
	}
	return history.Client
}

// pairs reads key=value fields; an underscore stands for a space.
func pairs(t testing.TB, fields []string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, f := range fields {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			t.Fatalf("%q is not key=value", f)
		}
		m[k] = strings.ReplaceAll(v, "_", " ")
	}
	return m
}

func seconds(t testing.TB, text string) time.Duration {
	t.Helper()
	return time.Duration(number(t, text) * float64(time.Second)).Round(time.Microsecond)
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		t.Fatal(err)
	}
	return d.Seconds()
}

// law is one small history and what a property must say of it.
type law struct {
	name    string
	history string
	want    Status
	says    string // the sentence of the witness, or the reason; "" if it does not matter
	events  []int  // of the witness; nil if they do not matter
}

func checkLaws(t *testing.T, property string, laws []law) {
	t.Helper()
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			verdicts, err := Judge(script(t, l.history))
			if err != nil {
				t.Fatal(err)
			}
			v := verdicts[property]
			says := v.Reason
			if v.Witness != nil {
				says = v.Witness.Sentence
			}
			if v.Status != l.want {
				t.Fatalf("%s is %v (%s), want %v", property, v.Status, says, l.want)
			}
			if l.says != "" && says != l.says {
				t.Errorf("%s says\n%s\nwant\n%s", property, says, l.says)
			}
			if l.events != nil && !slices.Equal(v.Witness.Events, l.events) {
				t.Errorf("the witness shows %v, want %v", v.Witness.Events, l.events)
			}
		})
	}
}
