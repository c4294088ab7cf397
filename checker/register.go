package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker/history"
)

// register is one piece of protected data, as its own log tells of it.
type register struct {
	initial  int64           // number of its first version, before any write
	writes   []history.Event // applied; the i-th leaves version initial+i+1
	sections []*section      // by first access
	gap      string          // why the log cannot be trusted, "" if it can

	byKey   map[string]*section
	refused map[string]bool // keys of sections of which a write was refused
}

// section is what one holder did to a register. A read at the grant may stand at the start: then the first of the events
// is the acquire.
type section struct {
	key    string
	name   string // its client
	steps  Section
	events []history.Event // one for each step
}

// write is the applied write that left a version.
func (r *register) write(version int64) history.Event { return r.writes[version-r.initial-1] }

// sectionKey tells sections apart: by lease or, in a history without leases, by client. An access of which neither is
// known stands alone.
func sectionKey(e history.Event) string {
	switch {
	case e.Lease != "":
		return "lease " + e.Lease
	case e.By != "":
		return "client " + e.By
	}
	return fmt.Sprintf("event %d", e.Index)
}

// registers reads the logs of the protected data, in the order of their first accesses.
func registers(c *Case) []*register {
	grants := map[string]*Grant{}
	for _, g := range c.Grants {
		grants[g.Lease] = g
	}
	type name struct{ process, data string }
	index := map[name]*register{}
	var all []*register
	for _, e := range c.Accesses {
		if e.Op != history.Read && e.Op != history.Write {
			continue
		}
		id := name{e.Process, e.Resource}
		r := index[id]
		if r == nil {
			r = &register{byKey: map[string]*section{}, refused: map[string]bool{}, initial: -1}
			index[id] = r
			all = append(all, r)
		}
		switch {
		case e.Type == history.Ok && r.gap == "":
			r.add(c, e, grants[e.Lease])
		case e.Type == history.Fail && e.Op == history.Write:
			r.refused[sectionKey(e)] = true
		}
	}
	for _, r := range all {
		r.sections = slices.DeleteFunc(r.sections, r.aborted)
	}
	return all
}

// aborted tells of a section that had a write refused and none applied: it did nothing to the data, and what it read it
// could not act upon. Databases do not hold the reads of aborted transactions against a history either (Adya 1999).
func (r *register) aborted(s *section) bool {
	return r.refused[s.key] && !slices.ContainsFunc(s.events, func(e history.Event) bool { return e.Op == history.Write })
}

// add takes one applied access into the log. Versions count applied writes, so the log itself shows whether it is whole.
func (r *register) add(c *Case, e history.Event, grant *Grant) {
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
	s := r.section(e)
	if e.Op == history.Write && len(s.steps) == 0 && grant != nil && grant.Call.Done < e.Index {
		version := r.versionAt(grant.Call.Done)
		s.add(c.Events[grant.Call.Done], Step{version, version})
	}
	s.add(e, Step{found, e.Version})
	if e.Op == history.Write {
		r.writes = append(r.writes, e)
	}
}

// versionAt tells how many writes had been applied when an event happened.
func (r *register) versionAt(index int) int64 {
	n := sort.Search(len(r.writes), func(i int) bool { return r.writes[i].Index > index })
	return r.initial + int64(n)
}

func (r *register) section(e history.Event) *section {
	key := sectionKey(e)
	s := r.byKey[key]
	if s == nil {
		s = &section{key: key, name: author(e)}
		r.byKey[key] = s
		r.sections = append(r.sections, s)
	}
	return s
}

func (s *section) add(e history.Event, step Step) {
	s.steps = append(s.steps, step)
	s.events = append(s.events, e)
}
