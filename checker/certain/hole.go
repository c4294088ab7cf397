package certain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker"
)

// lookAtVersions finds data whose versions contradict each other, or the clocks: they say nothing of what came first.
func (t *trail) lookAtVersions() {
	for name, writes := range t.mayHaveApplied() {
		if what := contradiction(writes); what != "" {
			t.contradicted[name] = fmt.Sprintf("the versions of %q contradict each other: %s", name, what)
		}
	}
}

// contradiction tells of a version that two writes made, or that was made after a higher one; empty if there is none.
func contradiction(writes []call) string {
	known := slices.DeleteFunc(writes, func(c call) bool { return c.Version == 0 || c.unknown() })
	slices.SortFunc(known, func(a, b call) int { return cmp.Compare(a.Version, b.Version) })
	first := int64(never) // of the writes with higher versions: when one certainly had ended
	for i, w := range slices.Backward(known) {
		if i > 0 && known[i-1].Version == w.Version {
			return fmt.Sprintf("two writes made version %d (%s, %s)", w.Version, known[i-1].Place(), w.Place())
		}
		if first < w.soonest {
			return fmt.Sprintf("version %d was made after a higher one (%s)", w.Version, w.Place())
		}
		first = min(first, w.last)
	}
	return ""
}

// mayHaveApplied lists the writes that were applied, perhaps, by data.
func (t *trail) mayHaveApplied() map[string][]call {
	writes := map[string][]call{}
	for _, of := range t.leases {
		for _, w := range slices.Concat(of.writes, of.unknown) {
			writes[data(w)] = append(writes[data(w)], t.call(of, w))
		}
	}
	return writes
}

// hole tells why the log is not whole, empty if nothing shows it: versions contradict each other, or a piece of data had one
// that no recorded write can have made. A write whose version is not known may have made one between two that began before it
// had ended and ended after it began.
func (t *trail) hole() string {
	writes := t.mayHaveApplied()
	for _, name := range sortedKeys(writes) {
		if what := t.contradicted[name]; what != "" {
			return what
		}
		if version := missingVersion(writes[name]); version > 0 {
			return fmt.Sprintf("the log is not whole: it has no write that made version %d of %q", version, name)
		}
	}
	return ""
}

// missingVersion is one that no recorded write can have made, although others made a lower and a higher one; 0 if there is none.
func missingVersion(writes []call) int64 {
	var known []call
	var soonest, last []int64 // of the writes whose version is not known
	for _, w := range writes {
		if w.Version > 0 && !w.unknown() {
			known = append(known, w)
			continue
		}
		soonest, last = append(soonest, w.soonest), append(last, w.last)
	}
	slices.SortFunc(known, func(a, b call) int { return cmp.Compare(a.Version, b.Version) })
	slices.Sort(soonest)
	slices.Sort(last)
	for i := 1; i < len(known); i++ {
		before, after := &known[i-1], &known[i]
		missing := after.Version - before.Version - 1
		if missing <= 0 {
			continue
		}
		began := sort.Search(len(soonest), func(k int) bool { return soonest[k] > after.last })
		ended := sort.Search(len(last), func(k int) bool { return last[k] >= before.soonest })
		if missing > int64(began-ended) {
			return before.Version + 1
		}
	}
	return 0
}

// complete makes held undecided where versions show that a write is missing, or that they count something else: nobody knows
// what it was.
func (t *trail) complete(v checker.Verdict) checker.Verdict {
	if v.Status != checker.Held {
		return v
	}
	if hole := t.hole(); hole != "" {
		return undecided("nothing is wrong with what was recorded, but %s", hole)
	}
	return v
}
