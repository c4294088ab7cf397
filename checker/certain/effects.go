package certain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/recording"
)

// section is what one lease wrote to one piece of data.
type section struct {
	*lease
	grant moment // when it was known; at any time if it is not on record
	first call   // the write that ended first
	end   call   // the last write
}

// sectionOf is the section of a lease that ends with a write.
func (t *trail) sectionOf(of *lease, end call) section {
	s := section{lease: of, grant: moment{always, never}, first: end, end: end}
	if of.acquire != nil {
		s.grant = t.at(of.acquire, of.acquire.Ended)
	}
	return s
}

// written is what was written to one piece of data.
type written struct {
	writes   []call    // that were applied
	sections []section // that these make
	unknown  []section // each ends with a write that may have been applied
}

// written tells what was written by data, and how many writes were applied.
func (t *trail) written() (all map[string]*written, n int) {
	all = map[string]*written{}
	to := func(w *recording.Line) *written {
		if all[data(w)] == nil {
			all[data(w)] = &written{}
		}
		return all[data(w)]
	}
	for _, of := range t.leases {
		own := map[string]section{}
		for _, w := range of.writes {
			c := t.call(of, w)
			to(w).writes = append(to(w).writes, c)
			s, ok := own[data(w)]
			if !ok {
				s = t.sectionOf(of, c)
			}
			if c.Ended.Before(s.first.Ended) {
				s.first = c
			}
			if c.Began.After(s.end.Began) {
				s.end = c
			}
			own[data(w)] = s
			n++
		}
		for name, s := range own {
			all[name].sections = append(all[name].sections, s)
		}
		for _, w := range of.unknown {
			to(w).unknown = append(to(w).unknown, t.sectionOf(of, t.call(of, w)))
		}
	}
	return all, n
}

// judgeEffects: no write of others comes between a grant and the last write under it.
//
// One that comes between two writes of a section certainly breaks it. One that comes before the first may not: a recording
// has no reads, and who reads before it writes may have read after the other's write, so that its own is not stale. That is
// undecided.
func judgeEffects(t *trail) checker.Verdict {
	all, n := t.written()
	if n == 0 {
		return undecided("no write was recorded")
	}
	var d doubts
	for _, name := range sortedKeys(all) {
		to := all[name]
		in := intruders(to.writes)
		for i := range to.sections {
			s := &to.sections[i]
			if w := in.certain(s.first.last, s); w != nil {
				return t.intruded(s, w)
			}
			d.look(s, in)
		}
		if v, ok := byVersions(to.writes); ok && t.contradicted[name] == "" {
			return v
		}
		d.unknown = cmp.Or(d.unknown, doubtfulSection(to.writes, to.unknown))
	}
	if v, ok := d.verdict(t); ok {
		return v
	}
	return held("%s, none of which can have come into another's section", count(n, "write"))
}

func (t *trail) intruded(s *section, w *call) checker.Verdict {
	return violated(fmt.Sprintf("%s's write to %q, done at %s, had come into the middle of %s's section, which had written at %s and did again at %s",
		w.Client, data(w.Line), t.tell(w.Line, w.Ended), s.end.Client, t.tell(s.first.Line, s.first.Ended), t.tell(s.end.Line, s.end.Began)),
		s.first.Line, w.Line, s.end.Line)
}

// doubts are what may have broken a section, and may not.
type doubts struct {
	unknown   *call    // a write that, if it was applied, may have
	unread    *section // one that may have read after another's write
	come      *call    // that write
	open      int      // sections too close to others' writes
	ungranted int      // of these, sections whose grant is not on record
}

// look takes in a section that nothing certainly broke.
func (d *doubts) look(s *section, in *intrusion) {
	if d.unread == nil {
		if d.come = in.certain(s.grant.latest, s); d.come != nil {
			d.unread = s
		}
	}
	if in.possible(s) {
		d.open++
		if s.acquire == nil {
			d.ungranted++
		}
	}
}

// verdict is there if there are doubts.
func (d *doubts) verdict(t *trail) (v checker.Verdict, doubtful bool) {
	switch {
	case d.unknown != nil:
		return t.doubt(d.unknown, "in another's section, or with another's write in its own"), true
	case d.unread != nil:
		return t.unread(d.unread, d.come), true
	case d.ungranted > 0:
		return undecided("no write certainly came into another's section, but %s granted at a time that is not on record, perhaps before others' writes", were(d.ungranted, "section")), true
	case d.open > 0:
		return undecided("no write certainly came into another's section, but %s too close to others' writes for these clocks to tell", were(d.open, "section")), true
	}
	return v, false
}

// unread is the verdict where a section wrote after another's write that had come since its grant.
func (t *trail) unread(s *section, w *call) checker.Verdict {
	return undecided("%s's write to %q at %s was stale unless %s had read %s's, done at %s (%s), which had come since %s was granted the lock at %s: "+
		"a recording has no reads", s.end.Client, data(w.Line), t.tell(s.end.Line, s.end.Began), s.end.Client, w.Client, t.tell(w.Line, w.Ended), w.Place(),
		s.end.Client, t.tell(s.acquire, s.acquire.Ended))
}

// doubtfulSection finds a write of unknown outcome that, if it was applied, may have come into another's section, or may
// have ended a section into which another's write came. Since it may be applied at any time, it may if another's write was
// applied after the grant, or may have been.
func doubtfulSection(writes []call, unknown []section) *call {
	var latest best
	for i, w := range writes {
		latest = latest.with(w.owner, w.last, i)
	}
	for i, s := range unknown {
		latest = latest.with(s.owner, s.end.last, i)
	}
	for i := range unknown {
		s := &unknown[i]
		if _, last, ok := latest.of(s.owner); ok && last >= s.grant.earliest {
			return &s.end
		}
	}
	return nil
}

// intrusion answers which writes came into a section.
type intrusion struct {
	bySoonest []call
	first     []best // of the writes from here on: which certainly had ended soonest (negated)
	byLast    []call
	start     []best // of the writes from here on: which began soonest, at the soonest (negated)
}

func intruders(writes []call) *intrusion {
	in := &intrusion{bySoonest: slices.Clone(writes), byLast: slices.Clone(writes)}
	slices.SortFunc(in.bySoonest, func(a, b call) int { return cmp.Compare(a.soonest, b.soonest) })
	slices.SortFunc(in.byLast, func(a, b call) int { return cmp.Compare(a.last, b.last) })
	in.first, in.start = make([]best, len(writes)+1), make([]best, len(writes)+1)
	for i := len(writes) - 1; i >= 0; i-- {
		a, b := &in.bySoonest[i], &in.byLast[i]
		in.first[i] = in.first[i+1].with(a.owner, -a.last, i)
		in.start[i] = in.start[i+1].with(b.owner, -b.soonest, i)
	}
	return in
}

// certain finds a write of another client that certainly began after some time and had ended before the last write began.
func (in *intrusion) certain(after int64, s *section) *call {
	from := sort.Search(len(in.bySoonest), func(k int) bool { return in.bySoonest[k].soonest > after })
	if i, last, ok := in.first[from].of(s.owner); ok && -last < s.end.soonest {
		return &in.bySoonest[i]
	}
	return nil
}

// possible tells whether a write of another client may have been applied after the grant and before the last write was.
func (in *intrusion) possible(s *section) bool {
	from := sort.Search(len(in.byLast), func(k int) bool { return in.byLast[k].last >= s.grant.earliest })
	_, soonest, ok := in.start[from].of(s.owner)
	return ok && -soonest <= s.end.last
}

// byVersions finds a lease whose writes the data applied with another client's in between.
func byVersions(writes []call) (checker.Verdict, bool) {
	known := slices.DeleteFunc(slices.Clone(writes), func(c call) bool { return c.Version == 0 })
	slices.SortStableFunc(known, func(a, b call) int { return cmp.Compare(a.Version, b.Version) })
	latest := map[string]int{} // by lease: place of its latest write
	other := -1                // place of the latest write by another client than that of the write at hand
	for i, w := range known {
		if i > 0 && known[i-1].owner != w.owner {
			other = i - 1
		}
		if before, ok := latest[w.Lease]; ok && before < other {
			o := known[other]
			return violated(fmt.Sprintf("%s's write to %q became version %d, and %s's had become version %d since the one before, version %d, "+
				"of the same section", w.Client, data(w.Line), w.Version, o.Client, o.Version, known[before].Version),
				known[before].Line, o.Line, w.Line), true
		}
		latest[w.Lease] = i
	}
	return checker.Verdict{}, false
}
