package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker/history"
)

// keepOnly leaves out what is about other locks and other data. A lock comes with the data accessed under its leases,
// data with the locks whose leases accessed it (with all locks if that is not known). Faults, deaths and what the
// harness says concern everything, and stay.
func (h *historyFile) keepOnly(name string) error {
	s := newSelection(h.events, name)
	if len(s.locks) == 0 && len(s.data) == 0 {
		known := strings.Join(slices.Sorted(maps.Keys(s.known)), ", ")
		if known == "" {
			known = "it names none"
		}
		return usagef("--resource %q: the history has no lock and no data of this name; there is: %s", name, known)
	}
	kept := h.events[:0]
	origin := []int{}
	for _, e := range h.events {
		if s.wants(e) {
			origin = append(origin, e.Index)
			e.Index = len(kept)
			kept = append(kept, e)
		}
	}
	clear(h.events[len(kept):])
	h.events, h.origin = kept, origin
	return nil
}

// selection is what to keep of a history.
type selection struct {
	name    string
	known   map[string]bool // names of locks and data
	locks   map[string]bool // to keep
	data    map[string]bool // to keep
	leases  map[string]string
	current map[string]string // by client: the lock that it acquired last
	open    map[string]bool   // by client: whether its open operation is kept
}

func newSelection(events []history.Event, name string) *selection {
	s := &selection{
		name: name, known: map[string]bool{}, locks: map[string]bool{}, data: map[string]bool{},
		leases: map[string]string{}, current: map[string]string{}, open: map[string]bool{},
	}
	locks := map[string]bool{}
	under := map[string]map[string]bool{} // data: locks
	for i := range events {
		switch e := &events[i]; {
		case e.Role == history.Client && e.Op == history.Acquire && e.Resource != "":
			locks[e.Resource] = true
			if e.Lease != "" {
				s.leases[e.Lease] = e.Resource
			}
		case e.Role == history.Resource && e.Resource != "":
			if under[e.Resource] == nil {
				under[e.Resource] = map[string]bool{}
			}
			if lock := s.leases[e.Lease]; lock != "" {
				under[e.Resource][lock] = true
			}
		}
	}
	for lock := range locks {
		s.known[lock] = true
		s.locks[lock] = lock == name || under[name][lock] || under[name] != nil && len(under[name]) == 0
	}
	for data, by := range under {
		s.known[data] = true
		s.data[data] = data == name || locks[name] && by[name]
	}
	if locks[name] {
		maps.DeleteFunc(s.locks, func(lock string, _ bool) bool { return lock != name })
	}
	maps.DeleteFunc(s.locks, func(_ string, keep bool) bool { return !keep })
	maps.DeleteFunc(s.data, func(_ string, keep bool) bool { return !keep })
	return s
}

func (s *selection) wants(e history.Event) bool {
	switch e.Role {
	case history.Node: // a key is named after its lock
		return slices.ContainsFunc(slices.Collect(maps.Keys(s.locks)), func(lock string) bool { return strings.Contains(e.Resource, lock) })
	case history.Resource:
		return s.data[e.Resource]
	case history.Client:
		return s.wantsOfClient(e)
	}
	return true
}

func (s *selection) wantsOfClient(e history.Event) bool {
	switch {
	case e.Op == history.Died:
		return true
	case e.Op == history.Panic:
		return s.open[e.Process]
	case e.Op == history.Lost:
		return s.locks[s.lockOf(e)]
	case e.Type != history.Invoke:
		keep := s.open[e.Process]
		delete(s.open, e.Process)
		return keep
	}
	lock := s.lockOf(e)
	if e.Op == history.Acquire {
		s.current[e.Process] = lock
	}
	keep := s.locks[lock] || (e.Op == history.Read || e.Op == history.Write) && s.data[e.Resource]
	s.open[e.Process] = keep
	return keep
}

// lockOf is the lock that a client's event is about: by its lease, by its name, or the one that the client acquired last.
func (s *selection) lockOf(e history.Event) string {
	if lock := s.leases[e.Lease]; lock != "" {
		return lock
	}
	if e.Resource != "" {
		return e.Resource
	}
	return s.current[e.Process]
}
