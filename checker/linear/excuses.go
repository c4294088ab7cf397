package linear

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// excuses finds for each acquire that was refused an instant at which somebody held the lock, or shows that there is
// none, under strict refusals.
//
// Between two neighbouring holds, taken with the touches placed between them as a chain of links, a refusal lacks an
// excuse if its interval lies strictly between the latest end of one link and the earliest start of the next: each link
// may last until the next must be there, and the next start as soon as the one before has ended. Such a stretch needs a
// phantom, and one is enough: it must be able to start before the first of the refusals returns, and to end before the
// next link must be there. Both deadlines grow from stretch to stretch, so the phantoms that can serve are nested sets,
// and it is enough to count (Hall 1935).
//
// A touch can be in several gaps, in several orders, and may help or harm (it cuts short the hold before it), so all
// are tried: plans keep what was chosen. Few touches stand together, as the release of each was answered; where they are
// more than a bound, the history is left undecided. So it is where only phantoms with refused releases after unknown
// ones, which can hold only between those, might serve.
type excuses struct {
	*blocks
	hopeful  bool // take phantoms at their most useful
	counted  bool // some stretch needed a phantom
	freed    int  // phantoms[:freed] can serve in every gap from here on
	next     int  // first refusal that was not called before the gap
	plans    []plan
	active   []int32 // touches that can be in the gap
	from     int     // first touch that is not yet active
	lacking  []int32 // refusals that some plan could not excuse, in this gap and those joined to it by touches
	joined   int     // first of those gaps
	touching int     // first of those touches
	reaching bool    // the plans were more than the bound
}

// plan is one way to place the touches so far.
type plan struct {
	placed []int32 // touches that are placed already, though they could be in a later gap; ascending
	used   int     // phantoms
}

const (
	triesMax = 1 << 15 // chains for one gap: all orders of 7 touches, or of many more whose releases mostly do not overlap
	plansMax = 512     // at a time
)

// find decides a history whose holds are disjoint and whose touches have room.
func (e *excuses) find(b *blocks) Verdict {
	e.blocks = b
	slices.SortFunc(b.phantoms, func(a, b phantom) int { return cmp.Compare(a.freed, b.freed) })
	uncertain := slices.ContainsFunc(b.phantoms, func(p phantom) bool { return p.hopeful < p.earliest })
	v := e.sweep(true)
	if v.Status == Legal && uncertain && e.counted {
		if e.sweep(false).Status != Legal {
			return *undecided(Intricate)
		}
	}
	return v
}

// sweep goes from gap to gap.
func (e *excuses) sweep(hopeful bool) Verdict {
	*e = excuses{blocks: e.blocks, hopeful: hopeful, plans: append(e.plans[:0], plan{}), active: e.active[:0]}
	gaps := len(e.holds) + 1
	if gaps > 1 && e.holds[gaps-2].held == never {
		gaps-- // the last holder never gave the lock back
	}
	for g := range gaps {
		e.enter(g)
		if len(e.active) == 0 {
			e.bare(g)
		} else {
			e.crowded(g)
		}
		switch {
		case e.reaching:
			return *undecided(Intricate)
		case len(e.plans) == 0:
			return e.unexcused(g)
		}
	}
	return Verdict{Status: Legal}
}

// enter moves to a gap.
func (e *excuses) enter(g int) {
	start := e.gapStart(g)
	for e.freed < len(e.phantoms) && e.phantoms[e.freed].freed < start && e.start(&e.phantoms[e.freed]) < start {
		e.freed++
	}
	for e.next < len(e.refusals) && callOf(&e.ops[e.refusals[e.next]]) < start {
		e.next++ // it was called while the hold before the gap lasted
	}
	e.active = slices.DeleteFunc(e.active, func(t int32) bool { return int(e.touches[t].last) < g })
	if len(e.active) == 0 {
		e.lacking, e.joined, e.touching = e.lacking[:0], g, e.from
	}
	for e.from < len(e.touches) && int(e.touches[e.from].first) <= g {
		e.active = append(e.active, int32(e.from))
		e.from++
	}
}

func (e *excuses) start(p *phantom) int64 {
	if e.hopeful {
		return p.hopeful
	}
	return p.earliest
}

// leftEnd is the latest end of the hold before a gap, as far as its own release tells.
func (e *excuses) leftEnd(g int) int64 {
	if g == 0 {
		return always
	}
	return e.holds[g-1].latest
}

// rightStart is the earliest start of the hold after a gap.
func (e *excuses) rightStart(g int) int64 {
	if g == len(e.holds) {
		return never
	}
	return callOf(&e.ops[e.holds[g].acquire])
}

// stretch is a part of a gap in which nobody is known to hold.
type stretch struct {
	first    int32 // the refusal in it that returns first, none if there is none
	deadline int64 // its return
}

// between finds the refusals strictly inside of (from, to), among those not called before the gap.
func (e *excuses) between(from, to int64) stretch {
	s := stretch{first: none, deadline: never}
	if from > to {
		return s
	}
	for _, r := range e.refusals[e.next:] {
		op := &e.ops[r]
		if callOf(op) >= to {
			break
		}
		if done := returnOf(op); callOf(op) > from && done < to && done < s.deadline {
			s = stretch{r, done}
		}
	}
	return s
}

// usable counts the phantoms that can hold from a stretch's deadline on and end before another time.
func (e *excuses) usable(s stretch, end int64) int {
	n := e.freed
	for i := e.freed; i < len(e.phantoms) && e.phantoms[i].freed < end; i++ {
		if e.start(&e.phantoms[i]) < s.deadline {
			n++
		}
	}
	return n
}

// spend takes a phantom in each plan that has one left.
func (e *excuses) spend(n int) {
	e.counted = true
	kept := e.plans[:0]
	for _, p := range e.plans {
		if p.used < n {
			p.used++
			kept = append(kept, p)
		}
	}
	e.plans = kept
}

// untilNext is the time by which a phantom must have ended in a gap after whose last link nobody need come.
func (e *excuses) untilNext(g int) int64 {
	if g == len(e.holds) {
		return never + 1 // so one that never ends is before it
	}
	return e.gapEnd(g)
}

// bare judges a gap in which no touch can be.
func (e *excuses) bare(g int) {
	s := e.between(e.leftEnd(g), e.rightStart(g))
	if s.first != none {
		e.lacking = append(e.lacking, s.first)
		e.spend(e.usable(s, e.untilNext(g)))
	}
}

// unexcused is the verdict on the refusals that a gap, or one joined to it, lacks excuses for: they, and what is around
// them.
func (e *excuses) unexcused(g int) Verdict {
	witness := slices.Clone(e.lacking)
	for i := max(0, e.joined-1); i < g; i++ {
		h := &e.holds[i]
		witness = append(e.refusedTo(witness, h.acquire), h.events()...)
	}
	if g < len(e.holds) {
		witness = append(witness, e.holds[g].acquire)
	}
	for i := e.touching; i < e.from; i++ {
		t := &e.touches[i]
		witness = append(e.refusedTo(witness, t.acquire), t.acquire, t.release)
	}
	e.illegal(RefusedFree, witness...)
	return e.wrong
}

// refusedTo appends the releases that the owner of a hold was refused after its acquire, until it acquired again: they
// tell when it did not hold.
func (e *excuses) refusedTo(to []int32, acquire int32) []int32 {
	for i := acquire + 1; int(i) < len(e.ops); i++ {
		op := &e.ops[i]
		switch {
		case op.Owner != e.ops[acquire].Owner || op.Outcome == history.Info:
		case op.Outcome == history.Ok:
			return to
		case op.Kind == lockmodel.Release:
			to = append(to, i)
		}
	}
	return to
}
