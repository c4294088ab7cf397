package scenarios

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Load reads a scenario file. A mistake in it is a *FileError with line and column; other errors are the file system's.
func Load(path string) (*Scenario, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// topKeys are the keys of a file, in the order in which they are read: the time to live is the unit of what comes after
// it, and faults name clients.
var topKeys = []string{"title", "code", "source", "ttl", "horizon", "data", "stock", "clients", "faults", "random", "expect"}

// Parse reads a scenario of at most 1 MiB. The file's name stands in errors, and its base without .yaml names the scenario.
// Every error is a *FileError. What a scenario without errors holds: a title; clients with steps, or Random; triggers that
// name clients with such steps; durations of at most 100,000 hours.
func Parse(file string, data []byte) (*Scenario, error) {
	r := &reader{file: file, what: "scenario", begin: `"title: ..." and "clients: ..."`}
	s := &Scenario{Name: nameOf(file), TTL: defaultTTL, Data: RegisterData, Stock: defaultStock, Text: string(data)}
	root := r.document(data)
	fields := r.fields(root, "scenario", "title: What happens", topKeys...)
	slices.SortStableFunc(fields, func(a, b field) int {
		return slices.Index(topKeys, a.key) - slices.Index(topKeys, b.key)
	})
	for _, f := range fields {
		r.top(s, f)
	}
	if r.err == nil {
		r.complete(s, root)
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

// nameOf a scenario is its file's.
func nameOf(file string) string {
	base := filepath.Base(file)
	if ext := filepath.Ext(base); ext == ".yaml" || ext == ".yml" {
		return strings.TrimSuffix(base, ext)
	}
	return base
}

func (r *reader) top(s *Scenario, f field) {
	switch f.key {
	case "title":
		s.Title = r.line(f)
	case "code":
		s.Code = r.line(f)
	case "source":
		s.Source = r.line(f)
	case "ttl":
		s.TTL = r.duration(f, time.Millisecond)
	case "horizon":
		s.Horizon = r.duration(f, s.TTL)
	case "data":
		s.Data = DataKind(r.oneOf(f.value, f.key, string(RegisterData), string(InventoryData)))
	case "stock":
		if s.Data != InventoryData {
			r.fail(f.at, "stock: only an inventory has one; write \"data: inventory\" too, or leave stock out")
		}
		s.Stock = r.number(f, 0, math.MaxInt32)
	case "clients":
		r.clients(s, f)
	case "faults":
		for _, item := range r.list(f.value, f.key, "- pause: A") {
			s.Faults = append(s.Faults, r.fault(s, item))
		}
	case "random":
		s.Random = r.random(s, f)
	case "expect":
		for _, item := range r.list(f.value, f.key, "- violated: [exclusion]") {
			s.Expect = append(s.Expect, r.rule(item))
		}
	}
}

// complete checks what no single key tells, and fills in the horizon.
func (r *reader) complete(s *Scenario, root ast.Node) {
	switch {
	case s.Title == "":
		r.fail(root, "title is missing: say in one sentence what happens")
	case s.Random == nil && len(s.Clients) == 0:
		r.fail(root, "clients are missing: name them, each with a list of steps, such as \"A: [acquire, write, release]\"")
	case s.Random != nil && (len(s.Clients) > 0 || len(s.Faults) > 0):
		r.fail(root, "random draws clients and faults by itself: leave clients and faults out")
	}
	for _, m := range r.moments {
		r.comes(s, m)
	}
	if s.Horizon == 0 {
		s.Horizon = defaultHorizon * s.TTL
		if s.Random != nil {
			s.Horizon = max(s.Horizon, 2*s.Random.span(s.TTL))
		}
	}
}
