package checker

import (
	"iter"
	"slices"

	"github.com/anishathalye/porcupine"
)

// spans are the sections as wholes, over all the data that they used. Aborted ones are left out.
type spans struct {
	*Case
	logs     []*register // by the number of their data
	numbers  places
	sections []span // by their first access
}

// span is where a section begins and ends: two events. It begins with its first access or, if it is taken to have met a
// version at its grant, there.
type span struct{ from, to int32 }

func newSpans(c *Case, logs []*register) *spans {
	s := &spans{Case: c, numbers: newPlaces(c, len(c.Accesses)), sections: make([]span, 0, min(len(c.Accesses), len(c.Grants)))}
	for _, log := range logs {
		for int(log.data) >= len(s.logs) {
			s.logs = append(s.logs, nil)
		}
		s.logs[log.data] = log
	}
	for i := range c.Accesses {
		a := &c.Accesses[i]
		if a.kind != readOk && a.kind != writeOk {
			continue
		}
		if s.part(a).aborted {
			continue
		}
		number := s.numbers.of(a.section())
		if number == 0 {
			s.sections = append(s.sections, span{from: a.event})
			number = int32(len(s.sections))
			s.numbers.set(a.section(), number)
		}
		whole := &s.sections[number-1]
		whole.to = a.event
		if grant, known := s.begins(a); known {
			whole.from = min(whole.from, grant)
		}
	}
	return s
}

// part is what an access's section did to its data.
func (s *spans) part(a *access) *section {
	log := s.logs[a.data]
	return &log.sections[log.places.of(a.section())-1]
}

// begins is the grant at which the section of an access is taken to have met its data, if the access is the first to it.
func (s *spans) begins(a *access) (grant int32, known bool) {
	return s.logs[a.data].begins(a, s.part(a))
}

// of is the place of the section of an access that counts.
func (s *spans) of(a *access) (section int32, counts bool) {
	if a.kind != readOk && a.kind != writeOk {
		return 0, false
	}
	number := s.numbers.of(a.section())
	return number - 1, number != 0
}

// steps yields the accesses of a stretch in their order, each with the place of its section.
func (s *spans) steps(in stretch) iter.Seq2[int32, *access] {
	return func(yield func(int32, *access) bool) {
		for i := in.from; i < in.to; i++ {
			a := &s.Accesses[i]
			if section, counts := s.of(a); counts && !yield(section, a) {
				return
			}
		}
	}
}

// stretch is a part of the history that no section reaches into from outside.
type stretch struct {
	from, to    int32 // places of its accesses
	first, next int32 // places of its sections
}

// whole is the whole history.
func (s *spans) whole() stretch {
	return stretch{to: int32(len(s.Accesses)), next: int32(len(s.sections))}
}

// stretches yields the shortest ones, in order.
func (s *spans) stretches() iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		var now stretch
		open := int32(-1) // until then a section is under way
		for i := range s.Accesses {
			a := &s.Accesses[i]
			section, counts := s.of(a)
			if !counts {
				continue
			}
			if a.event > open && now.next > 0 {
				now.to = int32(i)
				if !yield(now) {
					return
				}
				now = stretch{from: int32(i), first: section}
			}
			open = max(open, s.sections[section].to)
			now.next = max(now.next, section+1)
		}
		now.to = int32(len(s.Accesses))
		yield(now)
	}
}

// operations tells the sections as operations on a sectionModel of all the data.
func (s *spans) operations() (model porcupine.Model, operations []porcupine.Operation) {
	initial := make([]int64, len(s.logs))
	for data, log := range s.logs {
		if log != nil {
			initial[data] = log.initial
		}
	}
	did := make([]visible, len(s.sections))
	now := slices.Clone(initial)
	for section, a := range s.steps(s.whole()) {
		if grant, known := s.begins(a); known {
			log := s.logs[a.data]
			met := log.initial + int64(log.writesBefore(grant))
			did[section] = append(did[section], step{a.data, met, met})
		}
		did[section] = append(did[section], step{a.data, now[a.data], a.version})
		now[a.data] = a.version
	}
	for i, whole := range s.sections {
		operations = append(operations, porcupine.Operation{
			ClientId: i, Input: did[i], Call: int64(s.Events[whole.from].Time), Return: int64(s.Events[whole.to].Time)})
	}
	return sectionModel(initial), operations
}
