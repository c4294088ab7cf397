package certain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/recording"
)

// hold is a stretch in which a client held a lock.
type hold struct {
	*lease
	// It certainly had begun after begun, and certainly had not ended before ending.
	begun, ending int64
	// It certainly had not begun before soonest, and certainly had ended after last.
	soonest, last int64
	until         time.Time // what it is taken to end at
	clock         *recording.Line
}

// holdOf puts a lease on true time.
func (t *trail) holdOf(of *lease) hold {
	h := hold{lease: of}
	start := t.at(of.acquire, of.acquire.Ended)
	h.begun, h.soonest = start.latest, start.earliest
	h.until, h.clock = t.end(of)
	h.ending = t.at(h.clock, h.until).earliest
	switch {
	case of.release != nil:
		h.last = t.at(of.release, began(of.release)).latest
	case !of.known().IsZero() && len(of.extends) == 0:
		h.last = max(t.at(of.acquire, of.known()).latest, t.at(h.clock, h.until).latest)
	default:
		h.last = never
	}
	return h
}

// overdue tells whether the holder gave up a lease only after the end that it knew. It may have looked at that end, or may
// have believed all the time.
func (h *hold) overdue() bool {
	return h.release != nil && !h.known().IsZero() && h.known().Before(began(h.release))
}

// end is up to when a holder certainly believed, on the clock of the line.
func (t *trail) end(of *lease) (time.Time, *recording.Line) {
	end, clock := of.acquire.Ended, of.acquire
	for _, w := range of.tries { // it acted as a holder, also if it was refused
		if w.Began.After(end) {
			end, clock = w.Began, w
		}
	}
	if of.release == nil {
		return end, clock
	}
	switch released, known := began(of.release), of.known(); {
	case released.Before(end), known.IsZero(), !known.Before(released):
		return released, of.release
	case known.After(end):
		return known, of.acquire
	}
	return end, clock
}

func judgeExclusion(t *trail) checker.Verdict {
	locks := map[string][]hold{}
	grants := 0
	for _, of := range t.leases {
		if of.acquire != nil {
			locks[of.acquire.Lock] = append(locks[of.acquire.Lock], t.holdOf(of))
			grants++
		}
	}
	if grants < 2 {
		return undecided("fewer than two grants were recorded")
	}
	var first, second *hold
	close := 0   // holds that nobody can tell from overlapping with another
	endless := 0 // holds whose end is not recorded
	overdue := 0 // holds that were given up only after their lease had ended
	for _, name := range sortedKeys(locks) {
		holds := locks[name]
		a, b := overlap(holds)
		if b != nil && (second == nil || max(a.begun, b.begun) < max(first.begun, second.begun)) {
			first, second = a, b
		}
		close += tooClose(holds)
		for i := range holds {
			if holds[i].last == never {
				endless++
			}
			if holds[i].overdue() {
				overdue++
			}
		}
	}
	switch {
	case second != nil:
		return t.overlapped(first, second)
	case close > 0 && endless > 0:
		return undecided("no two holds certainly overlapped, but %d of %d have no release on record, nor the lease's end, and may have lasted", endless, grants)
	case close > 0 && overdue > 0:
		return undecided("no two holds certainly overlapped, but %d of %d were given up only after their lease had ended, and nobody knows until when their holders counted on them", overdue, grants)
	case close > 0:
		return undecided("no two holds certainly overlapped, but %d of %d were too close to another's for these clocks to tell", close, grants)
	}
	return held("%d grants, and no two clients can have held a lock at once, whatever the clocks were within their bounds", grants)
}

// overlap finds two holds of different clients that certainly overlapped: each had begun before the other ended. The later
// is the first that there is.
func overlap(holds []hold) (earlier, later *hold) {
	slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.begun, b.begun) })
	longest := make([]best, len(holds)+1) // of the holds before: which certainly lasted longest
	for i := range holds {
		h := &holds[i]
		longest[i+1] = longest[i].with(h.owner, h.ending, i)
	}
	for i := range holds {
		h := &holds[i]
		// Those that had certainly begun before this one ended; of a short hold this may be fewer than those before it.
		n := min(i, sort.Search(len(holds), func(k int) bool { return holds[k].begun >= h.ending }))
		if with, ending, ok := longest[n].of(h.owner); ok && h.begun < ending {
			return &holds[with], h
		}
	}
	return nil, nil
}

// tooClose counts holds that may have overlapped with another client's that began sooner.
func tooClose(holds []hold) (n int) {
	slices.SortStableFunc(holds, func(a, b hold) int { return cmp.Compare(a.soonest, b.soonest) })
	var longest best
	for i := range holds {
		h := &holds[i]
		if _, last, ok := longest.of(h.owner); ok && last >= h.soonest {
			n++
		}
		longest = longest.with(h.owner, h.last, i)
	}
	return n
}

func (t *trail) overlapped(a, b *hold) checker.Verdict {
	// The one that was granted later is the one who should not have been.
	if b.acquire.Ended.Before(a.acquire.Ended) {
		a, b = b, a
	}
	sentence := fmt.Sprintf("%s was granted %q at %s while %s held it from %s to %s", b.acquire.Client, b.acquire.Lock,
		t.tell(b.acquire, b.acquire.Ended), a.acquire.Client, t.tell(a.acquire, a.acquire.Ended), t.tell(a.clock, a.until))
	if least := time.Duration(min(a.ending, b.ending) - max(a.begun, b.begun)); least > 0 {
		sentence += fmt.Sprintf(": for at least %v both did, whatever the clocks were", least)
	} else {
		sentence += ": at some time both did, whatever the clocks were"
	}
	lines := []*recording.Line{a.acquire, b.acquire}
	if a.clock != a.acquire {
		lines = append(lines, a.clock)
	}
	return violated(sentence, lines...)
}
