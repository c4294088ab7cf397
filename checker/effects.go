package checker

import (
	"fmt"
	"iter"

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
// A section is all applied accesses under one lease; one whose writes were all refused is aborted and does not count. A
// section that starts with a write is taken to know the version of the time of its grant, as if it had read then: a write
// that comes late and blind over another's is stale, though a serial order would excuse it. The rules:
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
	var first breach
	var breaches, writes, sections int
	for _, log := range logs {
		if log.gap != "" {
			return undecided("%s", log.gap)
		}
		for b := range log.breaches() {
			if breaches++; first.log == nil || b.at < first.at {
				first = b
			}
		}
		writes += len(log.writes)
		sections += len(log.sections)
	}
	v := held("%s applied in %s, each as one atomic step", count(writes, "write"), count(sections, "section"))
	if first.log != nil {
		v = first.verdict()
		if breaches > 1 {
			v.Reason = fmt.Sprintf("the first of %d accesses that met what they should not", breaches)
		}
		return first.log.confirm(v)
	}
	if writes == 0 {
		return undecided("the resource applied no write")
	}
	for _, log := range logs {
		if v = log.confirm(v); v.Status != Held {
			return v
		}
	}
	return v
}

// confirm asks porcupine about a register that is not too large for it.
func (r *register) confirm(v Verdict) Verdict {
	if len(r.sections) > confirmOperations {
		return v
	}
	return confirm(v, SectionRegister(r.initial), r.operations())
}

// breach is an access that breaks a rule.
type breach struct {
	log     *register
	at      int // index of the event that makes it so
	section *section
	before  *step // the step of the section before the one that met a write of others; nil if the breach is of rule 2
	step    *step
}

// breaches yields what breaks the rules, section by section.
func (r *register) breaches() iter.Seq[breach] {
	return func(yield func(breach) bool) {
		for i := range r.sections {
			s := &r.sections[i]
			var last *step
			more := true
			r.follow(s, func(now *step) {
				if more && last != nil && r.versions(now).Found != r.versions(last).Left {
					more = yield(breach{r, int(now.event), s, last, now})
				}
				last = now
			})
			r.follow(s, func(now *step) {
				if more && r.halfway(s, now) {
					more = yield(breach{r, r.write(r.versions(now).Left + 1).Index, s, nil, now})
				}
			})
			if !more {
				return
			}
		}
	}
}

// halfway tells whether a step is a read that saw what another section had written and was about to overwrite.
func (r *register) halfway(s *section, now *step) bool {
	read := &r.Events[now.event]
	if read.Op != history.Read || read.Version <= r.initial || read.Version-r.initial >= int64(len(r.writes)) {
		return false
	}
	before, after := r.writer(read.Version).section(), r.writer(read.Version+1).section()
	return before == after && after != s.key
}

func (b *breach) verdict() Verdict {
	if b.before == nil {
		return b.half()
	}
	return b.intrusion()
}

// name says whose section the breach is in.
func (b *breach) name() string { return author(&b.log.Events[b.section.opened]) }

// intrusion tells of a step that met a write of others that its section had not seen.
func (b *breach) intrusion() Verdict {
	last, now := &b.log.Events[b.before.event], &b.log.Events[b.step.event]
	known := b.log.versions(b.before).Left
	unseen := b.log.write(known + 1)
	saw := fmt.Sprintf("it last saw version %d, %s at %s", known, pastTense(last.Op), at(last.Time))
	var sentence string
	if now.Op == history.Write {
		sentence = fmt.Sprintf("%s's write%s at %s was applied after %s's%s at %s, which %s had not seen: %s",
			b.name(), withFence(now.Fence), at(now.Time),
			author(unseen), bareFence(unseen.Fence), at(unseen.Time), b.name(), saw)
	} else {
		sentence = fmt.Sprintf(
			"%s's read%s at %s found version %d, since %s's write%s at %s had come into the middle of %s's section: %s",
			b.name(), withFence(now.Fence), at(now.Time), now.Version,
			author(unseen), withFence(unseen.Fence), at(unseen.Time), b.name(), saw)
	}
	return violated(sentence, last.Index, unseen.Index, now.Index)
}

// half tells of a read that saw half of another section.
func (b *breach) half() Verdict {
	read := &b.log.Events[b.step.event]
	before, after := b.log.write(read.Version), b.log.write(read.Version+1)
	sentence := fmt.Sprintf(
		"%s's read%s at %s saw a half-done section of %s: version %d, written%s at %s and overwritten by %s at %s",
		b.name(), withFence(read.Fence), at(read.Time), author(before), before.Version,
		withFence(before.Fence), at(before.Time), author(after), at(after.Time))
	return violated(sentence, before.Index, read.Index, after.Index)
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
	for i := range r.sections {
		s := &r.sections[i]
		var steps Section
		r.follow(s, func(now *step) { steps = append(steps, r.versions(now)) })
		operations = append(operations, porcupine.Operation{
			ClientId: i,
			Input:    steps,
			Call:     int64(r.steps[s.first].event),
			Return:   int64(r.steps[s.last].event),
		})
	}
	return operations
}
