package scenarios

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// Load reads a scenario file. Mistakes are a *FileError with line and column.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a scenario; file names it in errors, and its base name without .yaml names the scenario.
func Parse(file string, data []byte) (*Scenario, error) {
	r := &reader{file: file}
	s := &Scenario{
		Name: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".yml"),
		TTL:  defaultTTL, Data: RegisterData, Stock: 10, Text: string(data),
	}
	root := r.parse(data)
	fields := r.fields(root, "scenario",
		"title", "code", "source", "ttl", "horizon", "data", "stock", "clients", "faults", "random", "expect")
	// The time to live comes first: it is the unit of defaults.
	for _, f := range fields {
		if f.key == "ttl" {
			s.TTL = r.duration(f.value, "ttl", time.Millisecond)
		}
	}
	s.Horizon = defaultHorizon * s.TTL
	for _, f := range fields {
		r.top(s, f)
	}
	// Faults and triggers name clients, so those come after.
	for _, f := range fields {
		if f.key == "faults" {
			r.faults(s, f.value)
		}
	}
	if r.err == nil {
		r.complete(s, root)
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

func (r *reader) top(s *Scenario, f field) {
	switch f.key {
	case "title":
		s.Title = r.text(f.value, f.key)
	case "code":
		s.Code = r.text(f.value, f.key)
	case "source":
		s.Source = r.text(f.value, f.key)
	case "horizon":
		s.Horizon = r.duration(f.value, f.key, s.TTL)
	case "data":
		s.Data = DataKind(r.oneOf(f.value, f.key, string(RegisterData), string(InventoryData)))
	case "stock":
		s.Stock = r.number(f.value, f.key, 0, math.MaxInt32)
	case "clients":
		r.clients(s, f.value)
	case "random":
		s.Random = r.random(f.value)
	case "expect":
		for _, item := range r.list(f.value, f.key) {
			s.Expect = append(s.Expect, r.rule(item))
		}
	}
}

// complete checks what no single key tells.
func (r *reader) complete(s *Scenario, root ast.Node) {
	switch {
	case s.Title == "":
		r.fail(root, "title is missing: say in one sentence what happens")
	case s.Random == nil && len(s.Clients) == 0:
		r.fail(root, "clients are missing: name them, each with a list of steps")
	case s.Random != nil && (len(s.Clients) > 0 || len(s.Faults) > 0):
		r.fail(root, "random draws clients and faults by itself: leave clients and faults out")
	}
}

var clientName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// reserved names belong to other processes of a history.
var reserved = []string{nemesis.Resource, nemesis.Primary, nemesis.Replica, nemesis.Pivot, nemesis.AllNodes,
	"nemesis", "probe", "consensus", "harness", "n1", "n2", "n3", "n4", "n5"}

func (r *reader) clients(s *Scenario, n ast.Node) {
	fields := r.fields(n, "clients")
	for _, f := range fields {
		if !clientName.MatchString(f.key) || slices.Contains(reserved, f.key) || strings.HasPrefix(f.key, "fault-") {
			r.fail(f.at, "%q cannot name a client: use a letter and up to 31 letters, digits, - or _, and no name of a server", f.key)
			return
		}
		s.Clients = append(s.Clients, Client{Name: f.key})
	}
	for i, f := range fields {
		for _, item := range r.list(f.value, "client "+f.key) {
			s.Clients[i].Steps = append(s.Clients[i].Steps, r.step(s, item))
		}
	}
}

var stepOps = []string{"acquire", "extend", "check", "read", "write", "release", "work"}

// step is an operation alone, an operation with a duration, or an operation with keys.
func (r *reader) step(s *Scenario, n ast.Node) Step {
	if m, ok := n.(*ast.StringNode); ok {
		step := Step{Op: history.Op(r.oneOf(m, "step", stepOps...))}
		r.stepDefaults(s, &step, m)
		return step
	}
	fields := r.fields(n, "step", stepOps...)
	if len(fields) != 1 {
		r.fail(n, "step: want one operation, such as \"acquire: {wait: 20s}\"")
		return Step{}
	}
	f := fields[0]
	step := Step{Op: history.Op(f.key)}
	switch f.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		r.stepKeys(s, &step, f)
	default:
		if step.Op != Work {
			r.fail(f.value, "%s: want keys, such as {at: 5s}", f.key)
			return step
		}
		step.For = r.duration(f.value, f.key, 0)
	}
	r.stepDefaults(s, &step, f.at)
	return step
}

func (r *reader) stepKeys(s *Scenario, step *Step, f field) {
	known := []string{"at", "after", "timeout"}
	switch step.Op {
	case history.Acquire:
		known = []string{"at", "after", "wait"}
	case Work:
		known = []string{"at", "after", "for"}
	case history.Write:
		known = append(known, "value")
	}
	for _, k := range r.fields(f.value, f.key, known...) {
		switch k.key {
		case "at", "after":
			if !step.When.IsZero() {
				r.fail(k.at, "%s: at and after exclude each other", f.key)
			}
			step.When = r.trigger(s, k)
		case "wait", "timeout", "for":
			step.For = r.duration(k.value, k.key, time.Millisecond)
		case "value":
			step.Value = r.number(k.value, k.key, 1, math.MaxInt32)
		}
	}
}

func (r *reader) stepDefaults(s *Scenario, step *Step, at ast.Node) {
	if step.For != 0 {
		return
	}
	switch step.Op {
	case history.Acquire:
		step.For = DefaultWait * s.TTL
	case Work:
		r.fail(at, "work: say for how long, such as \"work: 12s\"")
	case history.Check:
	default:
		step.For = defaultTimeout(s.TTL)
	}
}

// trigger reads at, after, before or until.
func (r *reader) trigger(s *Scenario, f field) nemesis.Trigger {
	if f.key == "at" {
		return nemesis.Trigger{At: r.duration(f.value, f.key, 0)}
	}
	text := r.text(f.value, f.key)
	if r.err != nil {
		return nemesis.Trigger{}
	}
	parse := parseAfter
	if f.key == "before" {
		parse = parseBefore
	}
	t, err := parse(text)
	if err != nil {
		r.fail(f.value, "%s: %v", f.key, err)
		return t
	}
	r.knownClient(s, f.value, f.key, t.Moment.Client)
	return t
}

func (r *reader) knownClient(s *Scenario, at ast.Node, what, name string) {
	if !slices.Contains(s.ClientNames(), name) {
		r.fail(at, "%s: there is no client %q; clients are %s", what, name, strings.Join(s.ClientNames(), ", "))
	}
}

func (r *reader) random(n ast.Node) *Random {
	random := &Random{Clients: 3, Sections: 5, Faults: 4, Kinds: nemesis.RandomKinds}
	for _, f := range r.fields(n, "random", "clients", "sections", "faults", "kinds") {
		switch f.key {
		case "clients":
			random.Clients = int(r.number(f.value, f.key, 1, 26))
		case "sections":
			random.Sections = int(r.number(f.value, f.key, 1, 100_000))
		case "faults":
			random.Faults = int(r.number(f.value, f.key, 0, 100_000))
		case "kinds":
			random.Kinds = r.allOf(f.value, f.key, nemesis.RandomKinds)
		}
	}
	return random
}

func (r *reader) rule(n ast.Node) Rule {
	properties := make([]string, len(checker.All))
	for i, p := range checker.All {
		properties[i] = p.Name
	}
	var rule Rule
	for _, f := range r.fields(n, "expect", "locks", "fencing", "violated", "also", "held", "may", "because") {
		switch f.key {
		case "locks":
			rule.Locks = r.texts(f.value, f.key)
		case "fencing":
			on := r.oneOf(f.value, f.key, "on", "off", "true", "false")
			fencing := on == "on" || on == "true"
			rule.Fencing = &fencing
		case "violated":
			rule.Violated = r.allOf(f.value, f.key, properties)
		case "also":
			rule.Also = r.allOf(f.value, f.key, properties)
		case "held":
			rule.Held = r.allOf(f.value, f.key, properties)
		case "may":
			rule.May = r.allOf(f.value, f.key, properties)
		case "because":
			rule.Because = r.text(f.value, f.key)
		}
	}
	if len(rule.Also) > 0 && len(rule.Violated)+len(rule.Held)+len(rule.May) > 0 {
		r.fail(n, "expect: also adds to the rule before it, and stands alone")
	}
	return rule
}
