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
	since, until  time.Time // what it is taken to begin and to end at
	first, clock  *recording.Line
	wroteOn       bool // after a release that perhaps was none
}

// holdOf puts a lease on true time. Without its grant on record, what was written under it shows that it was held.
func (t *trail) holdOf(of *lease) hold {
	h := hold{lease: of, begun: never, ending: always, soonest: always, last: never}
	h.since, h.first = t.begin(of)
	if h.first != nil {
		h.begun = t.at(h.first, h.since).latest
		h.until, h.clock = t.end(of, h.since, h.first)
		h.ending = t.at(h.clock, h.until).earliest
	}
	switch {
	case of.acquire != nil:
		h.soonest = t.at(h.first, h.since).earliest
	case of.asked != nil:
		h.soonest = t.at(of.asked, of.asked.Began).earliest
	}
	switch {
	case of.release != nil:
		h.last = t.at(of.release, began(of.release)).latest
		if w := t.wroteOn(of); w != nil {
			h.wroteOn, h.last = true, max(h.last, t.at(w, w.Began).latest)
		}
	case !of.known().IsZero() && len(of.extends) == 0:
		h.last = max(t.at(of.acquire, of.known()).latest, t.at(h.clock, h.until).latest)
	}
	return h
}

// begin is from when on a holder certainly believed, on the clock of the line: its grant or, if that is not on record, its
// first write before it released. There is no line if nothing shows it.
func (t *trail) begin(of *lease) (since time.Time, clock *recording.Line) {
	if of.acquire != nil {
		return of.acquire.Ended, of.acquire
	}
	for _, w := range t.uses(of) {
		if clock == nil || w.Began.Before(since) {
			since, clock = w.Began, w
		}
	}
	return since, clock
}

// uses are the writes that certainly began before the release: with each its client acted as a holder, also if it was refused.
func (t *trail) uses(of *lease) []*recording.Line {
	if of.release == nil {
		return of.tries
	}
	return slices.DeleteFunc(slices.Clone(of.tries), func(w *recording.Line) bool { return t.mayFollow(w, of.release) })
}

// mayFollow tells whether a write perhaps began after a release.
func (t *trail) mayFollow(w, release *recording.Line) bool {
	return t.at(w, w.Began).latest >= t.at(release, began(release)).earliest
}

// wroteOn is the last write that perhaps began after a release that perhaps was none, as far as its holder knew; nil if there
// is none. It may have believed until then.
func (t *trail) wroteOn(of *lease) (last *recording.Line) {
	if r := of.release; r == nil || r.Op != recording.Release || r.Outcome == recording.Ok {
		return nil
	}
	for _, w := range of.tries {
		if t.mayFollow(w, of.release) && (last == nil || t.at(last, last.Began).latest < t.at(w, w.Began).latest) {
			last = w
		}
	}
	return last
}

// overdue tells whether the holder gave up a lease only after the end that it knew. It may have looked at that end, or may
// have believed all the time.
func (h *hold) overdue() bool {
	return h.release != nil && !h.known().IsZero() && h.known().Before(began(h.release))
}

// end is up to when a holder certainly believed that did at some time, on the clock of the line.
func (t *trail) end(of *lease, end time.Time, clock *recording.Line) (time.Time, *recording.Line) {
	for _, w := range t.uses(of) {
		if w.Began.After(end) {
			end, clock = w.Began, w
		}
	}
	if of.release == nil {
		return end, clock
	}
	switch released, known := began(of.release), of.known(); {
	case released.Before(end), of.acquire != nil && known.IsZero(), !known.Before(released):
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
		if _, sign := t.begin(of); sign != nil || of.asked == nil {
			locks[of.lock] = append(locks[of.lock], t.holdOf(of))
			grants++
		}
	}
	if grants < 2 {
		return undecided("fewer than two grants were recorded")
	}
	var first, second *hold
	close := 0 // holds that nobody can tell from overlapping with another
	for _, name := range sortedKeys(locks) {
		holds := locks[name]
		a, b := overlap(holds)
		if b != nil && (second == nil || max(a.begun, b.begun) < max(first.begun, second.begun)) {
			first, second = a, b
		}
		close += tooClose(holds)
	}
	switch {
	case second != nil:
		return t.overlapped(first, second)
	case close > 0:
		return undecided("no two holds certainly overlapped, but %s", vague(locks, close, grants))
	}
	return held("%d grants, and no two clients can have held a lock at once, whatever the clocks were within their bounds", grants)
}

// vague says what of the holds nobody knows, if some may have overlapped.
func vague(locks map[string][]hold, close, grants int) string {
	var endless, ungranted, wroteOn, overdue int
	for _, holds := range locks {
		for i := range holds {
			switch h := &holds[i]; {
			case h.last == never:
				endless++
			case h.acquire == nil:
				ungranted++
			case h.wroteOn:
				wroteOn++
			case h.overdue():
				overdue++
			}
		}
	}
	switch {
	case endless > 0:
		return fmt.Sprintf("%d of %d have no release on record, nor the lease's end, and may have lasted", endless, grants)
	case ungranted > 0:
		return fmt.Sprintf("%d of %d have no grant on record, and may have begun long before", ungranted, grants)
	case wroteOn > 0:
		return fmt.Sprintf("of %d of %d the release perhaps failed, and their holders wrote on", wroteOn, grants)
	case overdue > 0:
		return fmt.Sprintf("%d of %d were given up only after their lease had ended, and nobody knows until when their holders counted on them", overdue, grants)
	}
	return fmt.Sprintf("%d of %d were too close to another's for these clocks to tell", close, grants)
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
	holds = slices.Clone(holds) // others point into it
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
	if b.since.Before(a.since) {
		a, b = b, a
	}
	how := "was granted"
	if b.acquire == nil {
		how = "wrote as a holder of"
	}
	sentence := fmt.Sprintf("%s %s %q at %s while %s held it from %s to %s", b.first.Client, how, b.lock,
		t.tell(b.first, b.since), a.first.Client, t.tell(a.first, a.since), t.tell(a.clock, a.until))
	if least := time.Duration(min(a.ending, b.ending) - max(a.begun, b.begun)); least > 0 {
		sentence += fmt.Sprintf(": for at least %v both did, whatever the clocks were", least)
	} else {
		sentence += ": at some time both did, whatever the clocks were"
	}
	lines := []*recording.Line{a.first, b.first}
	if a.clock != a.first {
		lines = append(lines, a.clock)
	}
	return violated(sentence, lines...)
}
