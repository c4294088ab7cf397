package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// FaultKinds lists the faults that a scenario file may have, by the key that begins each.
var FaultKinds = []struct {
	Name, Summary string
	keys          []string // beside those that every fault may have
}{
	{"pause", "a client stops as a whole and goes on later: garbage collection, SIGSTOP", lasting()},
	{"kill", "a client dies; what it had sent still arrives", nil},
	{"stall", "a client's renewals starve while its work goes on", lasting()},
	{"cut", "a link holds what is sent and delivers it on healing", lasting("direction")},
	{"drop", "a link loses what is sent; its connections are reset on healing", lasting("direction")},
	{"delay", "a link takes longer, with jitter", lasting("direction", "by", "jitter")},
	{"reset", "a link's connections are reset (TCP RST), at once or once they have carried so many bytes more", lasting("direction", "after-bytes")},
	{"bandwidth", "a link is slow: so many thousand bytes a second, each way of each connection", lasting("direction", "kb-per-second")},
	{"crash", "a lock server stops and comes back with all, all but the last second, or nothing of its data", lasting("keep")},
	{"clock-step", "a lock server's wall clock is set forward or back", []string{"by"}},
	{"clock-rate", "a lock server's wall clock runs fast or slow, or stands still", lasting("rate")},
	{"failover", "the primary dies and its replica is promoted with what had reached it, by hand or by Sentinel", []string{"by"}},
	{"split-brain", "the primary is parted from all but some clients, and goes on serving them while Sentinel promotes its replica", lasting()},
}

// timing are the keys that every fault may have.
var timing = []string{"at", "after", "before", "optional"}

// lasting are the keys of a fault that heals.
func lasting(keys ...string) []string { return append([]string{"for", "until"}, keys...) }

// serverNames are those of every lock, and pivot. In links there are resource, replica and all beside.
var serverNames = slices.Concat([]string{nemesis.Pivot}, locks.OneNode.Names(), locks.PrimaryAndReplica.Names(), locks.FiveNodes.Names())

func (r *reader) fault(s *Scenario, n ast.Node) nemesis.Step {
	kind, known := r.faultKind(n)
	var step nemesis.Step
	var begins, ends string
	details := map[string]field{}
	for _, f := range r.fields(n, kind.key, "", known...) {
		switch f.key {
		case "at", "after", "before":
			r.exclude(kind.key, &begins, f)
			step.When = r.trigger(f)
		case "for":
			r.exclude(kind.key, &ends, f)
			step.For = r.duration(f, time.Millisecond)
		case "until":
			r.exclude(kind.key, &ends, f)
			step.Until = r.trigger(f)
		case "optional":
			step.Optional = r.flag(f)
		default:
			details[f.key] = f
		}
	}
	if r.err == nil {
		step.Fault = r.faultOf(s, kind, details)
	}
	return step
}

// faultKind finds the key that tells the kind of fault, and the keys that may stand beside it.
func (r *reader) faultKind(n ast.Node) (kind field, known []string) {
	var names []string
	for _, k := range FaultKinds {
		names = append(names, k.Name)
	}
	fields := r.fields(n, "fault", "pause: A")
	for _, f := range fields {
		i := slices.Index(names, f.key)
		switch {
		case i < 0:
		case kind.key != "":
			r.fail(f.at, "fault: %s and %s in one; write two", kind.key, f.key)
		default:
			kind = f
			known = slices.Concat([]string{f.key}, timing, FaultKinds[i].keys)
		}
	}
	for _, f := range fields {
		if kind.key != "" && slices.Contains(lasting(), f.key) && !slices.Contains(known, f.key) {
			r.fail(f.at, "%s: it does not heal; leave %q out", kind.key, f.key)
		}
	}
	if kind.key == "" {
		r.fail(n, "fault: the key that says what happens is missing; it is one of %s", strings.Join(names, ", "))
	}
	return kind, known
}

func (r *reader) faultOf(s *Scenario, kind field, details map[string]field) nemesis.Fault {
	switch kind.key {
	case "pause":
		return nemesis.Pause{Client: r.client(s, kind)}
	case "kill":
		return nemesis.Kill{Client: r.client(s, kind)}
	case "stall":
		return nemesis.Stall{Client: r.client(s, kind)}
	case "crash":
		return r.crash(kind, details)
	case "clock-step":
		by := r.needed(kind, details, "by", "by how much, such as \"by: 10s\" or \"by: -5s\"")
		return nemesis.ClockStep{Node: r.node(kind), By: r.duration(by, -longest)}
	case "clock-rate":
		return nemesis.ClockRate{Node: r.node(kind), Rate: r.rate(kind, details)}
	case "failover":
		r.oneOf(kind.value, kind.key, nemesis.Primary)
		return nemesis.Failover{By: r.promoter(details)}
	case "split-brain":
		return nemesis.SplitBrain{Clients: r.someClients(s, kind)}
	case "reset":
		return nemesis.Reset{Links: r.links(s, kind), Direction: r.direction(details), After: r.bytes(details)}
	case "bandwidth":
		return nemesis.Bandwidth{Links: r.links(s, kind), Direction: r.direction(details), PerKB: r.perKB(kind, details)}
	default:
		return nemesis.Disturb{Links: r.links(s, kind), How: r.disturbance(kind, details)}
	}
}

// needed is a key that must be there.
func (r *reader) needed(kind field, details map[string]field, key, say string) field {
	f, ok := details[key]
	if !ok {
		r.fail(kind.at, "%s: say %s", kind.key, say)
	}
	return f
}

func (r *reader) client(s *Scenario, f field) string {
	name := r.text(f.value, f.key)
	r.knownClient(s, f.value, f.key, name)
	return name
}

func (r *reader) knownClient(s *Scenario, at ast.Node, what, name string) {
	if !slices.Contains(s.ClientNames(), name) {
		r.fail(at, "%s: there is no client %q; clients are %s", what, name, strings.Join(s.ClientNames(), ", "))
	}
}

func (r *reader) node(f field) string { return r.oneOf(f.value, f.key, serverNames...) }

// lastSecond is what appendfsync everysec may lose.
const lastSecond = time.Second

func (r *reader) crash(kind field, details map[string]field) nemesis.Crash {
	f := nemesis.Crash{Node: r.node(kind), Keep: r.survival(details)}
	if f.Keep == nemesis.LoseSecond {
		f.Unsynced = lastSecond
	}
	return f
}

func (r *reader) survival(details map[string]field) nemesis.Survival {
	keep, ok := details["keep"]
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

func (r *reader) rate(kind field, details map[string]field) float64 {
	f := r.needed(kind, details, "rate", "how fast, such as \"rate: 1.03\"")
	text := r.text(f.value, f.key)
	rate, err := strconv.ParseFloat(text, 64)
	if r.err == nil && (err != nil || !(rate >= 0 && rate <= 1000)) { // NaN is neither
		r.fail(f.value, "rate: want a number from 0 (the clock stands still) to 1000, not %q", text)
	}
	return rate
}

func (r *reader) disturbance(kind field, details map[string]field) nemesis.Disturbance {
	how := nemesis.Disturbance{Cut: kind.key == "cut", Drop: kind.key == "drop", Direction: r.direction(details)}
	if kind.key == "delay" {
		how.Delay = r.duration(r.needed(kind, details, "by", "by how much, such as \"by: 50ms\""), time.Microsecond)
		if f, ok := details["jitter"]; ok {
			how.Jitter = r.duration(f, 0)
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
		if name != nemesis.Resource && name != nemesis.AllNodes && !slices.Contains(serverNames, name) {
			r.fail(f.value, "%s: there is no server %q; servers are resource, all, %s", f.key, name, strings.Join(serverNames, ", "))
			return nil
		}
		links = append(links, nemesis.Link{From: from, To: name})
	}
	return links
}
