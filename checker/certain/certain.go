// Package certain judges a recording of a lock in production, whose hosts have clocks of their own. Each clock is off from
// true time by at most a known bound. A violation is called only if it is there whatever the clocks were within their
// bounds; a property is held only if it is so whatever they were; in between it is undecided.
//
// One thing is certainly before another if the latest time at which the one can have been is before the earliest of the
// other. That is the whole use of clocks here: also within a host, since a clock may be slewed within its bound.
//
// A holder is taken to have held a lock from when its acquire returned to when it called release or was told of the loss,
// or, if it knows the lease's end, to that end or its last write after it, whatever became of that write. One that releases
// later still may have believed until then, and so may one that wrote on after a release that perhaps failed: that is nobody's
// violation, but while it may be, another's hold leaves exclusion undecided. Where the grant or the release is not recorded,
// only what the holder did under the lease counts against anybody.
//
// A write of unknown outcome may have been applied at any time since it began. It counts against nobody, but where it may
// matter nothing is held; nor is it where versions show that a write is not on record, or contradict each other: then they
// count against nobody either.
//
// A recording has no reads. What another wrote between a grant and the holder's first write may have been read before that
// write, so effects is undecided then; between two writes of one lease, it is violated.
package certain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/recording"
)

// never and always are later and earlier than anything.
const (
	never  = math.MaxInt64
	always = math.MinInt64
)

// moment is a recorded time: true time was in [earliest, latest], in nanoseconds since 1970.
type moment struct{ earliest, latest int64 }

// Judgement is what a recording says.
type Judgement struct {
	Verdicts map[string]checker.Verdict // by property: exclusion, effects, fence-order, fence-enforcement
	Warnings []string                   // what makes it say less: lines that are missing, clocks that jumped
	Lines    int
	Hosts    []string
	From, To time.Time
}

// Judge judges the lines of a recording, of all its processes, in any order. bound says how far a host's wall clock may be
// off from true time, either way. It takes O(n log n) time. The error is about lines that contradict each other.
func Judge(lines []recording.Line, bound func(host string) time.Duration) (*Judgement, error) {
	t, err := newTrail(lines, bound)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Warnings: t.warnings, Lines: len(lines), Hosts: slices.Sorted(maps.Keys(t.hosts)), From: t.from, To: t.to}
	j.Verdicts = map[string]checker.Verdict{
		checker.Exclusion:        t.whole(judgeExclusion(t)),
		checker.Effects:          t.whole(t.complete(judgeEffects(t))),
		checker.FenceOrder:       t.whole(judgeFenceOrder(t)),
		checker.FenceEnforcement: t.whole(t.complete(judgeFenceEnforcement(t))),
	}
	return j, nil
}

// whole makes held undecided where lines are missing: they may tell of a violation.
func (t *trail) whole(v checker.Verdict) checker.Verdict {
	if v.Status == checker.Held && t.missing != "" {
		return undecided("nothing is wrong with what was recorded, but %s", t.missing)
	}
	return v
}

func undecided(format string, args ...any) checker.Verdict {
	return checker.Verdict{Reason: fmt.Sprintf(format, args...)}
}

func held(format string, args ...any) checker.Verdict {
	return checker.Verdict{Status: checker.Held, Reason: fmt.Sprintf(format, args...)}
}

// violated takes the sentence's lines, and names their places.
func violated(sentence string, lines ...*recording.Line) checker.Verdict {
	places := ""
	for i, l := range lines {
		if i > 0 {
			places += ", "
		}
		places += l.Place()
	}
	return checker.Verdict{Status: checker.Violated, Witness: &checker.Witness{Sentence: sentence + " (" + places + ")"}}
}

// count says how many: "1 write", "2 writes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// were is count with its verb.
func were(n int, noun string) string {
	if n == 1 {
		return count(n, noun) + " was"
	}
	return count(n, noun) + " were"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
