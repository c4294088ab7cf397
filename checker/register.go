package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker/history"
)

// register is one piece of protected data, as its own log tells of it. It follows the log access by access, in numbers and
// not in events: a history may have millions.
type register struct {
	*Case
	data     int32     // its number
	initial  int64     // number of its first version, before any write
	writes   []int32   // places in Accesses of those applied; the i-th leaves version initial+i+1
	sections []section // by first access
	breaches []breach  // of the rules of judgeEffects
	gap      string    // why the log cannot be trusted, "" if it can

	places  places
	author  int32     // place of the section that left the latest version, 0 if none did
	readers []reading // of the latest version, by other sections than its author's
}

// places tells for each section 1 + its place among those of a register. Most sections have a lease; for those of a
// register that has much of the history, a slice is smaller than a map.
type places struct {
	leased []int32 // by the lease's name
	others map[sectionKey]int32
}

func (p *places) of(key sectionKey) int32 {
	if lease, has := key.lease(); has && int(lease) < len(p.leased) {
		return p.leased[lease]
	}
	return p.others[key]
}

func (p *places) set(key sectionKey, place int32) {
	if lease, has := key.lease(); has && int(lease) < len(p.leased) {
		p.leased[lease] = place
		return
	}
	p.others[key] = place
}

// section is what one holder did to a register, so far. It takes 16 bytes.
type section struct {
	opened int32 // event of its first access
	last   int32 // event of its latest step: an access, or the grant if it is to begin with a write
	met    int32 // the version that this step met or left: how many writes had been applied

	// aborted: a write was refused and none applied, here or to other data. The section did nothing, and what it read it could
	// not act upon. Databases do not hold the reads of aborted transactions against a history either (Adya 1999).
	aborted bool
}

// reading is a read of the latest version.
type reading struct{ section, event int32 }

// breach is an access that breaks a rule.
type breach struct {
	section int32 // place
	at      int32 // event that makes it so
	event   int32 // the access
	before  int32 // event of the section's step before one that met a write of others; -1 if the breach is of rule 2
	met     int32 // the version of that step: how many writes had been applied
}

// newPlaces makes room for the sections of as many accesses.
func newPlaces(c *Case, accesses int) places {
	p := places{others: map[sectionKey]int32{}}
	if 8*accesses > len(c.texts) {
		p.leased = make([]int32, len(c.texts))
	}
	return p
}

// newRegister makes room for as many accesses.
func newRegister(c *Case, data int32, accesses int) *register {
	return &register{Case: c, data: data, initial: -1, places: newPlaces(c, accesses), writes: make([]int32, 0, accesses),
		sections: make([]section, 0, min(accesses, len(c.Grants)))}
}

// write is the applied write that left a version.
func (r *register) write(version int64) *history.Event {
	return r.at(&r.Accesses[r.writes[version-r.initial-1]])
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
	refused := map[sectionKey]bool{} // sections of which a write was refused
	var all []*register
	var r *register
	latest := int32(-1) // the data of r
	for i := range c.Accesses {
		a := &c.Accesses[i]
		if a.kind == noAccess {
			continue
		}
		if a.data != latest {
			latest, r = a.data, logs[a.data]
		}
		if r == nil {
			r = newRegister(c, a.data, accesses[a.data])
			logs[a.data] = r
			all = append(all, r)
		}
		switch a.kind {
		case readOk, writeOk:
			r.add(int32(i), a)
		case writeRefused:
			refused[a.section()] = true
		}
	}
	if len(refused) > 0 {
		abort(c, logs, refused)
	}
	return all
}

// abort marks the sections that had a write refused and none applied as aborted, and forgets what rules they broke.
func abort(c *Case, logs map[int32]*register, refused map[sectionKey]bool) {
	for i := range c.Accesses {
		if a := &c.Accesses[i]; a.kind == writeOk {
			delete(refused, a.section())
		}
	}
	for i := range c.Accesses {
		if a := &c.Accesses[i]; a.kind == readOk && refused[a.section()] {
			r := logs[a.data]
			if place := r.places.of(a.section()); place != 0 { // none if the log has a gap before
				r.sections[place-1].aborted = true
			}
		}
	}
	for _, r := range logs {
		r.breaches = slices.DeleteFunc(r.breaches, func(b breach) bool { return r.sections[b.section-1].aborted })
	}
}

// add takes one applied access into the log.
func (r *register) add(place int32, a *access) {
	if r.gap == "" {
		r.gap = r.hole(a)
	}
	if r.gap != "" {
		return
	}
	number := r.section(a)
	s := &r.sections[number-1]
	if int(s.met) != len(r.writes) {
		r.breaches = append(r.breaches, breach{number, a.event, a.event, s.last, s.met})
	}
	if a.kind == writeOk {
		r.overwrite(a, number)
		r.writes = append(r.writes, place)
	} else if r.author != 0 && r.author != number {
		r.readers = append(r.readers, reading{number, a.event})
	}
	s.last, s.met = a.event, int32(len(r.writes))
}

// hole tells what is missing in the log before an access, "" if nothing. Versions count applied writes, so the log itself
// shows whether it is whole.
func (r *register) hole(a *access) string {
	found := a.version
	if a.kind == writeOk {
		found--
	}
	if r.initial < 0 {
		if found < 0 {
			return fmt.Sprintf("the resource does not number its writes (event %d)", a.event)
		}
		r.initial = found
	}
	if now := r.initial + int64(len(r.writes)); found != now {
		return fmt.Sprintf("the log of the resource is not whole: version %d at event %d, where %d writes were seen",
			a.version, a.event, now)
	}
	return ""
}

// section is 1 + the place of the section that an access belongs to. One that begins with a write is taken to have met the
// version of the time of its grant.
func (r *register) section(a *access) int32 {
	key := a.section()
	if number := r.places.of(key); number != 0 {
		return number
	}
	s := section{opened: a.event, last: a.event, met: int32(len(r.writes))}
	if grant, known := r.begins(a, &s); known {
		s.last, s.met = grant, int32(r.writesBefore(grant))
	}
	r.sections = append(r.sections, s)
	number := int32(len(r.sections))
	r.places.set(key, number)
	return number
}

// begins is the grant that stands at the start of a section, if it does and an access is the first after it.
func (r *register) begins(a *access, s *section) (event int32, known bool) {
	if a.kind != writeOk || a.event != s.opened {
		return 0, false
	}
	if g := r.grantOf(a.lease); g != nil && g.Done < a.event {
		return g.Done, true
	}
	return 0, false
}

// writesBefore tells how many writes had been applied when an event happened.
func (r *register) writesBefore(event int32) int {
	return sort.Search(len(r.writes), func(i int) bool { return r.Accesses[r.writes[i]].event > event })
}

// overwrite replaces the latest version. Who has read it saw half of a section, if that had left it and goes on.
func (r *register) overwrite(a *access, author int32) {
	if author == r.author {
		for _, read := range r.readers {
			r.breaches = append(r.breaches, breach{read.section, a.event, read.event, -1, 0})
		}
	}
	r.author, r.readers = author, r.readers[:0]
}

// counted is how many sections there are that did not abort.
func (r *register) counted() int {
	n := 0
	for i := range r.sections {
		if !r.sections[i].aborted {
			n++
		}
	}
	return n
}
