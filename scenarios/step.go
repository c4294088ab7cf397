package scenarios

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

var clientName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// reserved names belong to other processes of a history.
var reserved = append([]string{nemesis.Resource, nemesis.Replica, nemesis.AllNodes, "nemesis", checker.Probe, "consensus", "harness"},
	serverNames...)

// clients reads the clients with their steps. Names come first: triggers of steps name clients.
func (r *reader) clients(s *Scenario, f field) {
	const example = "A: [acquire, write, release]"
	clients := r.fields(f.value, "clients", example)
	for _, c := range clients {
		if !clientName.MatchString(c.key) || slices.Contains(reserved, c.key) || strings.HasPrefix(c.key, "fault-") {
			r.fail(c.at, "%q cannot name a client: use a letter and up to 31 letters, digits, - or _, and no name of a server", c.key)
			return
		}
		s.Clients = append(s.Clients, Client{Name: c.key})
	}
	for i, c := range clients {
		steps := r.list(c.value, "client "+c.key, "[acquire, write, release]")
		if len(steps) == 0 && r.err == nil {
			r.fail(c.value, "client %s has no steps: write some, such as %q, or leave it out", c.key, example)
		}
		for _, item := range steps {
			s.Clients[i].Steps = append(s.Clients[i].Steps, r.step(s, item))
		}
	}
}

var stepOps = []string{"acquire", "extend", "check", "read", "write", "release", "work"}

// step is an operation alone, an operation with a duration, or an operation with keys.
func (r *reader) step(s *Scenario, n ast.Node) Step {
	if _, alone := n.(ast.ScalarNode); alone {
		step := Step{Op: history.Op(r.oneOf(n, "step", stepOps...))}
		r.stepDefaults(s, &step, n)
		return step
	}
	fields := r.fields(n, "step", "acquire: {wait: 20s}", stepOps...)
	if len(fields) != 1 {
		r.fail(n, "step: want one operation, such as \"acquire: {wait: 20s}\"")
		return Step{}
	}
	f := fields[0]
	step := Step{Op: history.Op(f.key)}
	if _, single := f.value.(ast.ScalarNode); single && step.Op == Work {
		step.For = r.duration(f, time.Millisecond)
	} else {
		r.stepKeys(&step, f)
	}
	r.stepDefaults(s, &step, f.at)
	return step
}

func (r *reader) stepKeys(step *Step, f field) {
	known := []string{"at", "after", "timeout"}
	switch step.Op {
	case history.Acquire:
		known = []string{"at", "after", "wait"}
	case Work:
		known = []string{"at", "after", "for"}
	case history.Check:
		known = []string{"at", "after"} // it asks nobody
	case history.Write:
		known = append(known, "value")
	}
	when := ""
	for _, k := range r.fields(f.value, f.key, "at: 5s", known...) {
		switch k.key {
		case "at", "after":
			r.exclude(f.key, &when, k)
			step.When = r.trigger(k)
		case "wait", "timeout", "for":
			step.For = r.duration(k, time.Millisecond)
		case "value":
			step.Value = r.number(k, 1, math.MaxInt32)
		}
	}
}

// exclude fails for the second of several keys of which there may be one.
func (r *reader) exclude(what string, first *string, f field) {
	if *first != "" {
		r.fail(f.at, "%s: %s and %s exclude each other", what, *first, f.key)
	}
	*first = f.key
}

func (r *reader) stepDefaults(s *Scenario, step *Step, at ast.Node) {
	if step.For != 0 {
		return
	}
	switch step.Op {
	case history.Acquire:
		step.For = defaultWait * s.TTL
	case Work:
		r.fail(at, "work: say for how long, such as \"work: 12s\"")
	case history.Check:
	default:
		step.For = defaultTimeout(s.TTL)
	}
}
