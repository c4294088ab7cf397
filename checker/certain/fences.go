package certain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/recording"
)

// call is a call with a fence, on true time.
type call struct {
	*recording.Line
	owner          string // of the lease that it was made under
	soonest, begun int64  // when it began
	ended, last    int64  // when it had ended, or been applied: it certainly had after last
}

func (t *trail) call(of *lease, l *recording.Line) call {
	b, e := t.at(l, l.Began), t.at(l, l.Ended)
	c := call{l, of.owner, b.earliest, b.latest, e.earliest, e.latest}
	if c.unknown() { // it may be on its way still
		c.last = never
	}
	return c
}

// unknown tells whether nobody knows if the call happened, or will.
func (c *call) unknown() bool { return c.Outcome == recording.Unknown }

func applied(calls []call) []call {
	return slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.unknown() })
}

// judgeFenceOrder: a grant that was asked for after another had been granted has a greater fence, save where a reentrant lock
// gives its holder the same again.
func judgeFenceOrder(t *trail) checker.Verdict {
	locks, fenced, open := t.withoutReentry()
	if fenced < 2 {
		return undecided("fewer than two grants had a fence")
	}
	for _, name := range sortedKeys(locks) {
		calls := locks[name]
		if a, b := inverted(calls, 0); b != nil {
			return violated(fmt.Sprintf("%s asked for %q at %s and was granted fence %d, although %s had been granted %d at %s", b.Client, name,
				t.tell(b.Line, b.Began), b.Fence, a.Client, a.Fence, t.tell(a.Line, a.Ended)), a.Line, b.Line)
		}
		slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.Fence, b.Fence) })
		for i := 1; i < len(calls); i++ {
			if a, b := &calls[i-1], &calls[i]; a.Fence == b.Fence { // one of them was the later grant
				return violated(fmt.Sprintf("%s and %s were both granted %q with fence %d", a.Client, b.Client, name, a.Fence), a.Line, b.Line)
			}
		}
		// The greater fence was perhaps granted before the lower one was asked for.
		open = open || mayInvert(calls, func(greater, lower *call) bool { return greater.ended < lower.begun })
	}
	if open {
		return undecided("%d grants had fences; none certainly came out of order, but some were too close for these clocks to tell", fenced)
	}
	return held("%d grants with fences, in order", fenced)
}

// withoutReentry lists the grants with a fence by lock, and counts them. Grants of one fence to one holder may be a reentrant
// lock's, as long as each was asked for while the holder may still have held another of them: they count as one, which was
// granted when the first was. open tells that some of them perhaps were not asked for while it held another.
func (t *trail) withoutReentry() (locks map[string][]call, fenced int, open bool) {
	type token struct {
		lock, owner string
		fence       int64
	}
	grants := map[token][]hold{}
	var tokens []token
	for _, of := range t.leases {
		if of.acquire == nil || of.acquire.Fence == 0 {
			continue
		}
		k := token{of.acquire.Lock, of.owner, of.acquire.Fence}
		if grants[k] == nil {
			tokens = append(tokens, k)
		}
		grants[k] = append(grants[k], t.holdOf(of))
	}
	locks = map[string][]call{}
	for _, k := range tokens {
		calls, doubtful := t.reentered(grants[k])
		locks[k.lock] = append(locks[k.lock], calls...)
		fenced += len(calls)
		open = open || doubtful
	}
	return locks, fenced, open
}

// reentered makes one grant of those that may be re-entries to one hold.
func (t *trail) reentered(grants []hold) (calls []call, open bool) {
	asked := func(h *hold) moment { return t.at(h.acquire, h.acquire.Began) }
	slices.SortStableFunc(grants, func(a, b hold) int { return cmp.Compare(asked(&a).earliest, asked(&b).earliest) })
	var last, ending int64 // of those so far: when the hold certainly had ended, and up to when it certainly had not
	for i := range grants {
		h := &grants[i]
		c := t.call(h.lease, h.acquire)
		if i == 0 || asked(h).earliest > last {
			calls = append(calls, c)
			last, ending = max(h.last, c.last), h.ending
			continue
		}
		open = open || asked(h).latest >= ending
		first := &calls[len(calls)-1]
		soonest, begun := first.soonest, first.begun
		if c.ended <= first.last { // it may be the one that was granted first, though another was asked for before it
			begun = max(begun, c.begun)
		}
		if c.last < first.last {
			*first = c
		}
		first.soonest, first.begun = soonest, begun
		last, ending = max(last, h.last, c.last), max(ending, h.ending)
	}
	return calls, open
}

// judgeFenceEnforcement: no write was applied after one with a greater fence, or with the same of another holder. Versions
// tell the order where the data gave them, else clocks do. A write of unknown outcome is no sign against anybody, but where it
// may be out of order nothing holds.
func judgeFenceEnforcement(t *trail) checker.Verdict {
	registers := map[string][]call{}
	fenced := 0
	for _, of := range t.leases {
		for _, w := range of.writes {
			if w.Fence != 0 {
				registers[data(w)] = append(registers[data(w)], t.call(of, w))
				fenced++
			}
		}
		for _, w := range of.unknown {
			if w.Fence != 0 {
				registers[data(w)] = append(registers[data(w)], t.call(of, w))
			}
		}
	}
	if fenced == 0 {
		return undecided("no write with a fence was recorded")
	}
	open := false
	var doubtful *call
	for _, name := range sortedKeys(registers) {
		calls := applied(registers[name])
		trusted := t.contradicted[name] == ""
		var a, b *call
		if trusted {
			a, b = byVersion(calls)
		}
		if b == nil {
			a, b = inverted(calls, 1)
		}
		if b != nil {
			return violated(fmt.Sprintf("%s's write to %q with fence %d, begun at %s, was applied after %s's with fence %d, done at %s", b.Client, name,
				b.Fence, t.tell(b.Line, b.Began), a.Client, a.Fence, t.tell(a.Line, a.Ended)), a.Line, b.Line)
		}
		if a, b := shared(calls); b != nil { // whichever was applied later
			return violated(fmt.Sprintf("%s's write to %q, begun at %s, and %s's, begun at %s, were both applied with fence %d", a.Client, name,
				t.tell(a.Line, a.Began), b.Client, t.tell(b.Line, b.Began), a.Fence), a.Line, b.Line)
		}
		// The greater fence was perhaps applied before the lower one.
		open = open || !(trusted && versioned(calls)) && mayInvert(calls, func(greater, lower *call) bool { return greater.soonest <= lower.last })
		if u := doubtfulOrder(registers[name]); doubtful == nil {
			doubtful = u
		}
	}
	if doubtful != nil {
		return t.doubt(doubtful, "after one with as great a fence, or before one with a lower")
	}
	if open {
		return undecided("%s had fences; none certainly came after a greater one, but some were too close for these clocks to tell", count(fenced, "write"))
	}
	return held("%s with fences, applied in order", count(fenced, "write"))
}

// shared finds two calls of different holders with the same fence.
func shared(calls []call) (a, b *call) {
	first := map[int64]*call{}
	for i := range calls {
		c := &calls[i]
		if other := first[c.Fence]; other == nil {
			first[c.Fence] = c
		} else if other.owner != c.owner {
			return other, c
		}
	}
	return nil, nil
}

// doubtfulOrder finds a write of unknown outcome that, if it was applied, may have been out of order with another.
func doubtfulOrder(calls []call) (doubtful *call) {
	if a, b := shared(calls); b != nil {
		if b.unknown() {
			return b
		}
		return a
	}
	mayInvert(calls, func(greater, lower *call) bool {
		u := lower
		if !u.unknown() {
			u = greater
		}
		if !u.unknown() || greater.soonest > lower.last {
			return false
		}
		doubtful = u
		return true
	})
	return doubtful
}

// doubt is the verdict where a write of unknown outcome may have been applied as it should not.
func (t *trail) doubt(w *call, how string) checker.Verdict {
	return undecided("nobody knows whether %s's write to %q at %s was applied (%s): if so, perhaps %s", w.Client, data(w.Line),
		t.tell(w.Line, w.Began), w.Place(), how)
}

// inverted finds a call that certainly began after another had ended, and whose fence is lower than the other's, or, with
// slack 0, the same.
func inverted(calls []call, slack int64) (before, after *call) {
	ended := slices.Clone(calls)
	slices.SortFunc(ended, func(a, b call) int { return cmp.Compare(a.last, b.last) })
	greatest := make([]int, len(ended)) // of the calls up to here: the one with the greatest fence
	for i := range ended {
		greatest[i] = i
		if i > 0 && ended[greatest[i-1]].Fence >= ended[i].Fence {
			greatest[i] = greatest[i-1]
		}
	}
	for i := range calls {
		n := sort.Search(len(ended), func(k int) bool { return ended[k].last >= calls[i].soonest })
		if n > 0 {
			if a := &ended[greatest[n-1]]; a.Fence >= calls[i].Fence+slack {
				return a, &calls[i]
			}
		}
	}
	return nil, nil
}

// mayInvert tells whether some call with a greater fence was perhaps before one with a lower fence.
func mayInvert(calls []call, perhaps func(greater, lower *call) bool) bool {
	slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.Fence, b.Fence) })
	begun, last := -1, -1 // of the calls with lower fences: which perhaps began, and ended, latest
	for i := 0; i < len(calls); {
		j := i
		for ; j < len(calls) && calls[j].Fence == calls[i].Fence; j++ {
			if begun >= 0 && (perhaps(&calls[j], &calls[begun]) || perhaps(&calls[j], &calls[last])) {
				return true
			}
		}
		for ; i < j; i++ {
			if begun < 0 || calls[i].begun > calls[begun].begun {
				begun = i
			}
			if last < 0 || calls[i].last > calls[last].last {
				last = i
			}
		}
	}
	return false
}

func versioned(calls []call) bool {
	return !slices.ContainsFunc(calls, func(c call) bool { return c.Version == 0 })
}

// byVersion finds a write that the data applied after one with a greater fence.
func byVersion(calls []call) (before, after *call) {
	var known []*call
	for i := range calls {
		if calls[i].Version > 0 {
			known = append(known, &calls[i])
		}
	}
	slices.SortFunc(known, func(a, b *call) int { return cmp.Compare(a.Version, b.Version) })
	for _, c := range known {
		if before != nil && c.Fence < before.Fence && c.Version > before.Version {
			return before, c
		}
		if before == nil || c.Fence > before.Fence {
			before = c
		}
	}
	return nil, nil
}
