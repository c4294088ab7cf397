package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker/history"
)

// register is one piece of protected data, as its own log tells of it. It keeps numbers, not events: a history may have
// millions.
type register struct {
	*Case
	initial  int64     // number of its first version, before any write
	writes   []int32   // places in Accesses of those applied; the i-th leaves version initial+i+1
	sections []section // by first access
	steps    []step
	gap      string // why the log cannot be trusted, "" if it can

	places  places
	refused map[sectionKey]bool // sections of which a write was refused
}

// places tells for each section 1 + its place among those of a register. Most sections have a lease; for those of a
// register that has much of the history, a slice is smaller than a map.
type places struct {
	leased []int32 // by the lease's name
	others map[sectionKey]int32
}

func (p *places) of(key sectionKey) int32 {
	if key%3 == 0 && int(key/3) < len(p.leased) {
		return p.leased[key/3]
	}
	return p.others[key]
}

func (p *places) set(key sectionKey, place int32) {
	if key%3 == 0 && int(key/3) < len(p.leased) {
		p.leased[key/3] = place
		return
	}
	p.others[key] = place
}

// section is what one holder did to a register. A read at the grant may stand at the start: then the first of the steps
// is the acquire.
type section struct {
	key         sectionKey
	opened      int32 // event of its first access
	first, last int32 // steps
	wrote       bool
}

// step is one access of a section, or its grant.
type step struct {
	event int32
	next  int32 // step of the section, 0 if none
}

// versions are the one that a step met and the one that it left.
func (r *register) versions(s *step) Step {
	switch e := &r.Events[s.event]; e.Op {
	case history.Write:
		return Step{e.Version - 1, e.Version}
	case history.Acquire:
		version := r.versionAt(int(s.event))
		return Step{version, version}
	default:
		return Step{e.Version, e.Version}
	}
}

// newRegister makes room for as many accesses.
func newRegister(c *Case, accesses int) *register {
	r := &register{Case: c, initial: -1, refused: map[sectionKey]bool{}}
	r.places.others = map[sectionKey]int32{}
	if 8*accesses > len(c.texts) {
		r.places.leased = make([]int32, len(c.texts))
	}
	r.writes = make([]int32, 0, accesses)
	r.steps = make([]step, 0, accesses+accesses/8)
	r.sections = make([]section, 0, min(accesses, len(c.Grants)))
	return r
}

// write is the applied write that left a version, writer the access that it was.
func (r *register) write(version int64) *history.Event { return r.at(r.writer(version)) }

func (r *register) writer(version int64) *access { return &r.Accesses[r.writes[version-r.initial-1]] }

// follow lists the steps of a section.
func (r *register) follow(s *section, yield func(*step)) {
	for i := s.first; ; i = r.steps[i].next {
		yield(&r.steps[i])
		if i == s.last {
			return
		}
	}
}

// registers reads the logs of the protected data, in the order of their first accesses.
func registers(c *Case) []*register {
	var accesses []int // of each piece of data
	for i := range c.Accesses {
		data := int(c.Accesses[i].data)
		for len(accesses) <= data {
			accesses = append(accesses, 0)
		}
		accesses[data]++
	}
	logs := map[int32]*register{}
	var all []*register
	var r *register
	latest := int32(-1) // the data of r
	for i := range c.Accesses {
		a := &c.Accesses[i]
		e := c.at(a)
		if e.Op != history.Read && e.Op != history.Write {
			continue
		}
		if a.data != latest {
			latest, r = a.data, logs[a.data]
		}
		if r == nil {
			r = newRegister(c, accesses[a.data])
			logs[a.data] = r
			all = append(all, r)
		}
		switch {
		case e.Type == history.Ok && r.gap == "":
			r.add(int32(i), a, e)
		case e.Type == history.Fail && e.Op == history.Write:
			r.refused[a.section()] = true
		}
	}
	for _, r := range all {
		r.sections = slices.DeleteFunc(r.sections, r.aborted)
	}
	return all
}

// aborted tells of a section that had a write refused and none applied: it did nothing to the data, and what it read it
// could not act upon. Databases do not hold the reads of aborted transactions against a history either (Adya 1999).
func (r *register) aborted(s section) bool { return r.refused[s.key] && !s.wrote }

// add takes one applied access into the log. Versions count applied writes, so the log itself shows whether it is whole.
func (r *register) add(place int32, a *access, e *history.Event) {
	found := e.Version
	if e.Op == history.Write {
		found--
	}
	if r.initial < 0 {
		if found < 0 {
			r.gap = fmt.Sprintf("the resource does not number its writes (event %d)", e.Index)
			return
		}
		r.initial = found
	}
	if now := r.initial + int64(len(r.writes)); found != now {
		r.gap = fmt.Sprintf("the log of the resource is not whole: version %d at event %d, where %d writes were seen",
			e.Version, e.Index, now)
		return
	}
	key := a.section()
	at := r.places.of(key)
	if at == 0 {
		r.sections = append(r.sections, section{key: key, opened: a.event, first: -1})
		at = int32(len(r.sections))
		r.places.set(key, at)
	}
	s := &r.sections[at-1]
	if g := r.grantOf(a.lease); e.Op == history.Write && s.first < 0 && g != nil && int(g.Done) < e.Index {
		r.extend(s, g.Done)
	}
	r.extend(s, a.event)
	if e.Op == history.Write {
		s.wrote = true
		r.writes = append(r.writes, place)
	}
}

// versionAt tells how many writes had been applied when an event happened.
func (r *register) versionAt(index int) int64 {
	n := sort.Search(len(r.writes), func(i int) bool { return int(r.Accesses[r.writes[i]].event) > index })
	return r.initial + int64(n)
}

func (r *register) extend(s *section, event int32) {
	place := int32(len(r.steps))
	r.steps = append(r.steps, step{event: event})
	if s.first < 0 {
		s.first = place
	} else {
		r.steps[s.last].next = place
	}
	s.last = place
}
