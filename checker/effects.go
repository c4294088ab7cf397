package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
)

var effects = Property{
	Name:  Effects,
	Claim: "The protected data behaves as if each section were one atomic step: no stale write took effect, no update was lost.",
	Judge: guard(judgeEffects, nothingGranted),
}

// judgeEffects judges each register by what its own log says was applied. What the resource refused had no effect.
//
// A section is all applied accesses under one lease; one whose writes were all refused is aborted and does not count. A section that starts with a write is taken to know the version of
// the time of its grant, as if it had read then: a write that comes late and blind over another's is stale, though a
// serial order would excuse it. The rules:
//
//  1. Each access finds the version that its section last met. (No write of others falls inside a section.)
//  2. No section reads between two successive writes of another one.
//
// They hold exactly if the sections are conflict-serialisable (Papadimitriou 1979, "The serializability of concurrent
// database updates"), reads at the grant included. A register has one conflict: a write with anything. Broken, either
// rule gives a cycle of two: a write inside another section, or a read inside a pair of writes, must come both after and
// before it. Kept, they give the serial order: sections that write, in the order of their writes, which are contiguous
// by rule 1; each section that only reads, all of one version by rule 1, after the section that left that version,
// which was the last write of that section by rule 2. Nothing of a section comes before one that ended before it began,
// so porcupine must agree with the intervals taken from the log.
func judgeEffects(c *Case) Verdict {
	logs := registers(c)
	if len(logs) == 0 {
		return undecided("the history has no log of the protected resource")
	}
	var first *breach
	var breaches, writes, sections int
	for _, log := range logs {
		if log.gap != "" {
			return undecided("%s", log.gap)
		}
		for _, b := range log.breaches() {
			breaches++
			if first == nil || b.at < first.at {
				first = b
			}
		}
		writes += len(log.writes)
		sections += len(log.sections)
	}
	v := held("%s applied in %s, each as one atomic step", count(writes, "write"), count(sections, "section"))
	if first != nil {
		v = violated(first.sentence, first.events...)
		if breaches > 1 {
			v.Reason = fmt.Sprintf("the first of %d accesses that met what they should not", breaches)
		}
		return confirm(v, SectionRegister(first.log.initial), first.log.operations())
	}
	if writes == 0 {
		return undecided("the resource applied no write")
	}
	for _, log := range logs {
		if v = confirm(v, SectionRegister(log.initial), log.operations()); v.Status != Held {
			return v
		}
	}
	return v
}

// breach is an access that breaks a rule.
type breach struct {
	log      *register
	at       int // index of the event that makes it so
	sentence string
	events   []int
}

// breaches lists what breaks the rules, by the event that does.
func (r *register) breaches() []*breach {
	var found []*breach
	for _, s := range r.sections {
		for i := 1; i < len(s.steps); i++ {
			if s.steps[i].Found != s.steps[i-1].Left {
				found = append(found, r.intrusion(s, i))
			}
		}
		for i, step := range s.steps {
			if b := r.halfway(s, i, step); b != nil {
				found = append(found, b)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *breach) int { return cmp.Compare(a.at, b.at) })
	return found
}

// intrusion tells of step i of a section, which met a write of others that the section had not seen.
func (r *register) intrusion(s *section, i int) *breach {
	last, now := s.events[i-1], s.events[i]
	unseen := r.write(s.steps[i-1].Left + 1)
	saw := fmt.Sprintf("it last saw version %d, %s at %s", s.steps[i-1].Left, pastTense(last.Op), at(last.Time))
	var sentence string
	if now.Op == history.Write {
		sentence = fmt.Sprintf("%s's write%s at %s was applied after %s's%s at %s, which %s had not seen: %s",
			s.name, withFence(now.Fence), at(now.Time),
			author(unseen), bareFence(unseen.Fence), at(unseen.Time), s.name, saw)
	} else {
		sentence = fmt.Sprintf(
			"%s's read%s at %s found version %d, since %s's write%s at %s had come into the middle of %s's section: %s",
			s.name, withFence(now.Fence), at(now.Time), now.Version,
			author(unseen), withFence(unseen.Fence), at(unseen.Time), s.name, saw)
	}
	return &breach{r, now.Index, sentence, []int{last.Index, unseen.Index, now.Index}}
}

// halfway tells of a read that saw what another section had written and was about to overwrite; nil if step i is none.
func (r *register) halfway(s *section, i int, step Step) *breach {
	if step.Found != step.Left || step.Left <= r.initial || step.Left-r.initial >= int64(len(r.writes)) {
		return nil
	}
	before, after := r.write(step.Left), r.write(step.Left+1)
	if sectionKey(before) != sectionKey(after) || sectionKey(after) == s.key || s.events[i].Op == history.Acquire {
		return nil
	}
	read := s.events[i]
	sentence := fmt.Sprintf(
		"%s's read%s at %s saw a half-done section of %s: version %d, written%s at %s and overwritten by %s at %s",
		s.name, withFence(read.Fence), at(read.Time), author(before), before.Version,
		withFence(before.Fence), at(before.Time), author(after), at(after.Time))
	return &breach{r, after.Index, sentence, []int{before.Index, read.Index, after.Index}}
}

func pastTense(op history.Op) string {
	switch op {
	case history.Write:
		return "written"
	case history.Acquire:
		return "when granted"
	}
	return "read"
}

func bareFence(fence int64) string {
	if fence == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", fence)
}

// operations tells the sections as operations on a SectionRegister, each from its first access to its last, as places
// in the history.
func (r *register) operations() []porcupine.Operation {
	var operations []porcupine.Operation
	for i, s := range r.sections {
		operations = append(operations, porcupine.Operation{
			ClientId: i,
			Input:    s.steps,
			Call:     int64(s.events[0].Index),
			Return:   int64(s.events[len(s.events)-1].Index),
		})
	}
	return operations
}
