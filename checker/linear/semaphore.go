package linear

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Semaphore decides whether a history of a number of permits is legal: lockmodel.Semaphore. Operations come by their
// calls. With one permit it is a Mutex.
//
// Each permit is held for certain from its acquire's return to its release's call. To start as late and to end as early as
// possible is best for all at once, so without refusals the history is legal exactly if no more than all permits are
// held for certain at one instant: a sweep, O(n log n). As Mutex, but for the order of the holds, which does not matter.
//
// With strict refusals each refused acquire needs an instant at which all permits are held. It certainly has one if all
// are held for certain then, and certainly none if even the holds at their longest, with those that there may have been,
// are too few. What lies between is left Undecided.
//
// Complete, save for that, for known outcomes and for the unknown ones that entries covers.
func Semaphore(ops []lockmodel.Op, permits int, refusal lockmodel.Refusal) Verdict {
	if permits == 1 {
		return Mutex(ops, refusal)
	}
	e := readEntries(ops, rules{shared: true, strict: bool(refusal)})
	if e.wrong.Status == Illegal {
		return e.wrong
	}
	certain := make([]stretchHeld, 0, len(e.entries))
	var brief []int32 // entries acquired and released at one instant: they are there then, but not at once
	for i := range e.entries {
		h := &e.entries[i]
		if from, to := e.granted(h), e.given(h); from < to {
			certain = append(certain, stretchHeld{from, to, int32(i)})
		} else {
			brief = append(brief, int32(i))
		}
	}
	held := sweepHeld(certain)
	if at := slices.IndexFunc(held.counts, func(n int) bool { return n > permits }); at >= 0 {
		e.crowd(certain, held.starts[at], permits+1)
		return e.wrong
	}
	for _, i := range brief {
		if at := e.given(&e.entries[i]); held.at(at) == permits {
			e.crowd(append(certain, stretchHeld{at, at + 1, i}), at, permits+1)
			return e.wrong
		}
	}
	if e.apart > 0 {
		return *undecided(IdentityReuse)
	}
	return e.excused(held, permits)
}

// stretchHeld is a stretch of time in which a permit is held, both ends included.
type stretchHeld struct {
	from, to int64
	entry    int32
}

// levels tells how many permits are held from each start on, until some are given back.
type levels struct {
	starts []int64
	counts []int // at the starts, when it is highest
	ends   []int64
}

// sweepHeld counts what is held at once. It sorts the stretches by their starts.
func sweepHeld(held []stretchHeld) levels {
	byStart := func(a, b stretchHeld) int { return cmp.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(held, byStart) {
		slices.SortFunc(held, byStart)
	}
	l := levels{ends: make([]int64, len(held)), starts: make([]int64, len(held)), counts: make([]int, len(held))}
	for i := range held {
		l.ends[i], l.starts[i] = held[i].to, held[i].from
	}
	slices.Sort(l.ends)
	over := 0
	for i, start := range l.starts {
		for l.ends[over] < start {
			over++
		}
		l.counts[i] = i + 1 - over
	}
	return l
}

// at is the number held at an instant, once what is given back then has been.
func (l *levels) at(instant int64) int {
	begun, _ := slices.BinarySearch(l.starts, instant)
	over, _ := slices.BinarySearch(l.ends, instant+1)
	return begun - over
}

// crowd names so many who hold for certain at one instant.
func (e *entries) crowd(held []stretchHeld, at int64, many int) {
	var witness []int32
	for _, s := range held {
		if s.from <= at && at < s.to && many > 0 {
			many--
			h := &e.entries[s.entry]
			witness = append(witness, h.acquire)
			if h.release != none {
				witness = append(witness, h.release)
			}
		}
	}
	e.illegal(Crowded, witness...)
}

// excused decides whether each refused acquire met a moment without a permit left.
func (e *entries) excused(certain levels, permits int) Verdict {
	if len(e.refusals) == 0 {
		return Verdict{Status: Legal}
	}
	possible := make([]stretchHeld, 0, len(e.entries)+len(e.maybe))
	for i := range e.entries {
		h := &e.entries[i]
		s := stretchHeld{callOf(&e.ops[h.acquire]), never, int32(i)}
		if h.release != none && e.ops[h.release].Outcome == history.Ok {
			s.to = returnOf(&e.ops[h.release])
		}
		possible = append(possible, s)
	}
	for _, i := range e.maybe {
		possible = append(possible, stretchHeld{callOf(&e.ops[i]), never, none})
	}
	most := sweepHeld(possible)
	v := Verdict{Status: Legal}
	for _, i := range e.refusals {
		from, to := callOf(&e.ops[i]), returnOf(&e.ops[i])
		switch {
		case most.highest(from, to) < permits:
			return e.unexcused(i, possible)
		case certain.highest(from, to) < permits:
			v = *undecided(Intricate)
		}
	}
	return v
}

// highest is the greatest number held at some instant of a stretch.
func (l *levels) highest(from, to int64) int {
	first, _ := slices.BinarySearch(l.starts, from+1)
	over, _ := slices.BinarySearch(l.ends, from)
	n := first - over // held at its beginning
	for ; first < len(l.starts) && l.starts[first] <= to; first++ {
		n = max(n, l.counts[first])
	}
	return n
}

// unexcused is the verdict on a refusal, with those who may have held a permit meanwhile.
func (e *entries) unexcused(refusal int32, possible []stretchHeld) Verdict {
	witness := []int32{refusal}
	for _, s := range possible {
		if s.entry != none && s.from <= returnOf(&e.ops[refusal]) && callOf(&e.ops[refusal]) <= s.to {
			h := &e.entries[s.entry]
			witness = append(witness, h.acquire)
			if h.release != none {
				witness = append(witness, h.release)
			}
		}
	}
	e.illegal(RefusedFree, witness...)
	return e.wrong
}
