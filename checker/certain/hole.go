package certain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker"
)

// hole tells of a version that a piece of data had and that no recorded write can have made, empty if there is none: then
// a write is not on record. A write whose version is not known may have made one between two that began before it had
// ended and ended after it began.
func (t *trail) hole() string {
	writes := map[string][]call{}
	for _, of := range t.leases {
		for _, w := range slices.Concat(of.writes, of.unknown) {
			writes[data(w)] = append(writes[data(w)], t.call(of, w))
		}
	}
	for _, name := range sortedKeys(writes) {
		if version := missingVersion(writes[name]); version > 0 {
			return fmt.Sprintf("no write that made version %d of %q", version, name)
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

// complete makes held undecided where a version shows that a write is missing: nobody knows what it was.
func (t *trail) complete(v checker.Verdict) checker.Verdict {
	if v.Status != checker.Held {
		return v
	}
	if hole := t.hole(); hole != "" {
		return undecided("nothing is wrong with what was recorded, but the log is not whole: it has %s", hole)
	}
	return v
}
