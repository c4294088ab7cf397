package checker

import (
	"fmt"

	"github.com/lockfault/lockfault/checker/history"
)

var effects = Property{
	Name:  Effects,
	Claim: "The protected data behaves as if each section were one atomic step: no stale write took effect, no update was lost.",
	Judge: guard(judgeEffects, nothingGranted),
}

// judgeEffects judges the protected data by what its own logs say was applied. What the resource refused had no effect.
//
// A section is all applied accesses under one lease, or one access under none; one whose writes were all refused is aborted
// and does not count. A section that starts with a write is taken to know the version of the time of its grant, as if it had
// read then: a write that comes late and blind over another's is stale, though a serial order would excuse it. The rules for
// each piece of data, a register:
//
//  1. Each access finds the version that its section last met. (No write of others falls inside a section.)
//  2. No section reads between two successive writes of another one.
//
// They hold exactly if the sections are conflict-serialisable (Papadimitriou 1979, "The serializability of concurrent
// database updates"), reads at the grant included. A register has one conflict: a write with anything. Broken, either
// rule gives a cycle of two: a write inside another section, or a read inside a pair of writes, must come both after and
// before it. Kept, they give the serial order: sections that write, in the order of their writes, which are contiguous
// by rule 1; each section that only reads, all of one version by rule 1, after the section that left that version,
// which was the last write of that section by rule 2. Nothing of a section comes before one that ended before it began.
//
// Sections that use several registers must have one order for all of these, and for those that ended before others began:
// the graph of what must come before what (order) has no cycle. Versions that the accesses found and left say just that of
// any order, so porcupine must agree.
func judgeEffects(c *Case) Verdict {
	logs := registers(c)
	if len(logs) == 0 {
		return undecided("the history has no log of the protected resource")
	}
	var first *breach
	var in *register // where the first is
	var breaches, writes int
	for _, log := range logs {
		if log.gap != "" {
			return undecided("%s", log.gap)
		}
		for i := range log.breaches {
			if b := &log.breaches[i]; first == nil || b.at < first.at {
				first, in = b, log
			}
		}
		breaches += len(log.breaches)
		writes += len(log.writes)
	}
	if first != nil {
		v := in.verdict(first)
		if breaches > 1 {
			v.Reason = fmt.Sprintf("the first of %d accesses that met what they should not", breaches)
		}
		return confirmSections(v, c, logs)
	}
	if writes == 0 {
		return undecided("the resource applied no write")
	}
	sections, spanning := countSections(c, logs)
	if spanning != nil {
		if o, cycle := spanning.firstCycle(); cycle != nil {
			return confirmSections(o.verdict(cycle), c, logs)
		}
	}
	v := held("%s applied in %s, each as one atomic step", count(writes, "write"), count(sections, "section"))
	return confirmSections(v, c, logs)
}

// countSections tells how many sections there are that did not abort, and which, if some used several registers.
func countSections(c *Case, logs []*register) (n int, spanning *spans) {
	for _, log := range logs {
		n += log.counted()
	}
	if len(logs) > 1 {
		if s := newSpans(c, logs); len(s.sections) < n {
			return len(s.sections), s
		}
	}
	return n, nil
}

// confirmSections asks porcupine, if there are not too many for it.
func confirmSections(v Verdict, c *Case, logs []*register) Verdict {
	sections := 0
	for _, log := range logs {
		sections += len(log.sections)
	}
	if sections > confirmOperations {
		return v
	}
	model, operations := newSpans(c, logs).operations()
	return confirm(v, model, operations)
}

func (r *register) verdict(b *breach) Verdict {
	if b.before < 0 {
		return r.half(b)
	}
	return r.intrusion(b)
}

// intrusion tells of a step that met a write of others that its section had not seen.
func (r *register) intrusion(b *breach) Verdict {
	who := author(&r.Events[r.sections[b.section-1].opened])
	last, now := &r.Events[b.before], &r.Events[b.event]
	known := r.initial + int64(b.met)
	unseen := r.write(known + 1)
	saw := say("it last saw version %d, %s at %s", known, pastTense(last.Op), at(last.Time))
	var sentence saying
	if now.Op == history.Write {
		sentence = say("%s's write%s at %s was applied after %s's%s at %s, which %s had not seen: %s",
			who, withFence(now.Fence), at(now.Time), author(unseen), bareFence(unseen.Fence), at(unseen.Time), who, saw)
	} else {
		sentence = say(
			"%s's read%s at %s found version %d, since %s's write%s at %s had come into the middle of %s's section: %s",
			who, withFence(now.Fence), at(now.Time), now.Version,
			author(unseen), withFence(unseen.Fence), at(unseen.Time), who, saw)
	}
	return violated(sentence, last.Index, unseen.Index, now.Index)
}

// half tells of a read that saw half of another section.
func (r *register) half(b *breach) Verdict {
	read := &r.Events[b.event]
	before, after := r.write(read.Version), r.write(read.Version+1)
	sentence := say(
		"%s's read%s at %s saw a half-done section of %s: version %d, written%s at %s and overwritten by %s at %s",
		author(&r.Events[r.sections[b.section-1].opened]), withFence(read.Fence), at(read.Time), author(before), before.Version,
		withFence(before.Fence), at(before.Time), author(after), at(after.Time))
	return violated(sentence, before.Index, read.Index, after.Index)
}

// stale tells whether a breach is a write over a version that its section had not seen.
func (r *register) stale(b breach) bool {
	return b.before >= 0 && r.Events[b.event].Op == history.Write
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
