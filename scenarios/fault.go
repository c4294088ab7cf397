package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/nemesis"
)

// FaultKinds lists the faults that a scenario file may have, by the key that begins each.
var FaultKinds = []struct{ Name, Summary string }{
	{"pause", "a client stops as a whole and goes on later: garbage collection, SIGSTOP"},
	{"kill", "a client dies; what it had sent still arrives"},
	{"stall", "a client's renewals starve while its work goes on"},
	{"cut", "a link holds what is sent and delivers it on healing"},
	{"drop", "a link loses what is sent; its connections are reset on healing"},
	{"delay", "a link takes longer, with jitter"},
	{"crash", "a lock server stops and comes back with all, all but the last second, or nothing of its data"},
	{"clock-step", "a lock server's wall clock is set forward or back"},
	{"clock-rate", "a lock server's wall clock runs fast or slow, or stands still"},
	{"failover", "the primary dies and its replica is promoted with what had reached it"},
}

func faultKinds() []string {
	names := make([]string, len(FaultKinds))
	for i, k := range FaultKinds {
		names[i] = k.Name
	}
	return names
}

// timing are the keys that every fault may have.
var timing = []string{"at", "after", "before", "for", "until", "optional"}

// details are the keys that one kind of fault may have beside.
var details = map[string][]string{
	"cut": {"direction"}, "drop": {"direction"}, "delay": {"direction", "by", "jitter"},
	"crash": {"keep"}, "clock-step": {"by"}, "clock-rate": {"rate"},
}

func (r *reader) faults(s *Scenario, n ast.Node) {
	for _, item := range r.list(n, "faults") {
		s.Faults = append(s.Faults, r.fault(s, item))
	}
}

func (r *reader) fault(s *Scenario, n ast.Node) nemesis.Step {
	var kind field
	for _, f := range r.fields(n, "fault") {
		if slices.Contains(faultKinds(), f.key) {
			if kind.key != "" {
				r.fail(f.at, "fault: %s and %s in one; write two", kind.key, f.key)
			}
			kind = f
		}
	}
	if kind.key == "" {
		r.fail(n, "fault: want one of %s", strings.Join(faultKinds(), ", "))
		return nemesis.Step{}
	}
	known := append(append([]string{kind.key}, timing...), details[kind.key]...)
	var step nemesis.Step
	keys := map[string]field{}
	for _, f := range r.fields(n, kind.key, known...) {
		switch f.key {
		case "at", "after", "before":
			if !step.When.IsZero() {
				r.fail(f.at, "%s: at, after and before exclude each other", kind.key)
			}
			step.When = r.trigger(s, f)
		case "for":
			step.For = r.duration(f.value, f.key, time.Millisecond)
		case "until":
			step.Until = r.trigger(s, f)
		case "optional":
			step.Optional = r.oneOf(f.value, f.key, "true", "false") == "true"
		default:
			keys[f.key] = f
		}
	}
	if step.For != 0 && !step.Until.IsZero() {
		r.fail(n, "%s: for and until exclude each other", kind.key)
	}
	step.Fault = r.faultOf(s, kind, keys)
	return step
}

func (r *reader) faultOf(s *Scenario, kind field, keys map[string]field) nemesis.Fault {
	switch kind.key {
	case "pause":
		return nemesis.Pause{Client: r.client(s, kind)}
	case "kill":
		return nemesis.Kill{Client: r.client(s, kind)}
	case "stall":
		return nemesis.Stall{Client: r.client(s, kind)}
	case "crash":
		return nemesis.Crash{Node: r.node(kind), Keep: r.survival(keys)}
	case "clock-step":
		by, ok := keys["by"]
		if !ok {
			r.fail(kind.at, "clock-step: say by how much, such as \"by: 10s\" or \"by: -5s\"")
			return nil
		}
		return nemesis.ClockStep{Node: r.node(kind), By: r.duration(by.value, "by", -1<<62)}
	case "clock-rate":
		return nemesis.ClockRate{Node: r.node(kind), Rate: r.rate(kind, keys)}
	case "failover":
		r.oneOf(kind.value, kind.key, nemesis.Primary)
		return nemesis.Failover{}
	default:
		return nemesis.Disturb{Links: r.links(s, kind), How: r.disturbance(kind, keys)}
	}
}

func (r *reader) client(s *Scenario, f field) string {
	name := r.text(f.value, f.key)
	if r.err == nil {
		r.knownClient(s, f.value, f.key, name)
	}
	return name
}

var nodeNames = []string{nemesis.Pivot, nemesis.Primary, "n1", "n2", "n3", "n4", "n5"}

func (r *reader) node(f field) string { return r.oneOf(f.value, f.key, nodeNames...) }

func (r *reader) survival(keys map[string]field) nemesis.Survival {
	keep, ok := keys["keep"]
	if !ok {
		return nemesis.KeepAll
	}
	switch r.oneOf(keep.value, "keep", "all", "all-but-last-second", "nothing") {
	case "all-but-last-second":
		return nemesis.LoseSecond
	case "nothing":
		return nemesis.LoseAll
	default:
		return nemesis.KeepAll
	}
}

func (r *reader) rate(kind field, keys map[string]field) float64 {
	f, ok := keys["rate"]
	if !ok {
		r.fail(kind.at, "clock-rate: say how fast, such as \"rate: 1.03\"")
		return 0
	}
	rate, err := strconv.ParseFloat(r.text(f.value, "rate"), 64)
	if err != nil || rate < 0 || rate > 1000 {
		r.fail(f.value, "rate: want a number from 0 (the clock stands still) to 1000")
	}
	return rate
}

func (r *reader) disturbance(kind field, keys map[string]field) nemesis.Disturbance {
	how := nemesis.Disturbance{Cut: kind.key == "cut", Drop: kind.key == "drop"}
	if f, ok := keys["direction"]; ok {
		switch r.oneOf(f.value, "direction", "both", "requests", "replies") {
		case "requests":
			how.Direction = nemesis.Requests
		case "replies":
			how.Direction = nemesis.Replies
		}
	}
	if kind.key == "delay" {
		by, ok := keys["by"]
		if !ok {
			r.fail(kind.at, "delay: say by how much, such as \"by: 50ms\"")
			return how
		}
		how.Delay = r.duration(by.value, "by", time.Microsecond)
		if f, ok := keys["jitter"]; ok {
			how.Jitter = r.duration(f.value, "jitter", 0)
		}
	}
	return how
}

// links reads "A - n4, n5", "B - resource", "A - all" or "primary - replica".
func (r *reader) links(s *Scenario, f field) []nemesis.Link {
	text := r.text(f.value, f.key)
	if r.err != nil {
		return nil
	}
	from, to, ok := strings.Cut(text, " - ")
	if !ok {
		r.fail(f.value, "%s: %q is no link; write it like \"A - n4, n5\", \"A - all\", \"B - resource\" or \"primary - replica\"", f.key, text)
		return nil
	}
	from = strings.TrimSpace(from)
	if from == nemesis.Primary && strings.TrimSpace(to) == nemesis.Replica {
		return []nemesis.Link{{From: from, To: nemesis.Replica}}
	}
	r.knownClient(s, f.value, f.key, from)
	var links []nemesis.Link
	for name := range strings.SplitSeq(to, ",") {
		name = strings.TrimSpace(name)
		if name != nemesis.Resource && name != nemesis.AllNodes && !slices.Contains(nodeNames, name) {
			r.fail(f.value, "%s: there is no server %q; servers are resource, all, %s", f.key, name, strings.Join(nodeNames, ", "))
			return nil
		}
		links = append(links, nemesis.Link{From: from, To: name})
	}
	return links
}
