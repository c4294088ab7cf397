package checker

import (
	"github.com/lockfault/lockfault/checker/history"
)

var fenceEnforcement = Property{
	Name:      FenceEnforcement,
	Claim:     "The resource never applies a lower fence after a higher one.",
	Judge:     guard(judgeFenceEnforcement, nothingGranted),
	violation: func(c *Case) (int, bool) { return 0, judgeFenceEnforcement(c).Status == Violated },
}

// judgeFenceEnforcement takes the resource's log in its order. An equal fence is in order from the client that had it
// first, which may write more than once, and from nobody else that is known. (Kleppmann 2016; Redisson documentation, fenced
// lock.)
func judgeFenceEnforcement(c *Case) Verdict {
	var highest []*access // by data
	writes := c.past.writes
	for i := range c.Accesses {
		a := &c.Accesses[i]
		if !c.fencedWrite(a) {
			continue
		}
		e := c.at(a)
		writes++
		for len(highest) <= int(a.data) {
			highest = append(highest, nil)
		}
		if high := highest[a.data]; high != nil {
			if top := c.at(high).Fence; e.Fence < top || e.Fence == top && c.differ(a, high) {
				return outranked(e, c.at(high))
			}
		}
		highest[a.data] = c.higher(highest[a.data], a)
	}
	if writes == 0 {
		return undecided("the resource applied no write with a fence")
	}
	return held("%s with fences, applied in order", count(writes, "write"))
}

// fencedWrite tells whether an access is a write with a fence that was applied.
func (c *Case) fencedWrite(a *access) bool { return a.kind == writeOk && c.at(a).Fence != 0 }

// higher is the write with the higher fence, the later one of equals. One of an unknown client does not hide whose the
// fence is.
func (c *Case) higher(high, a *access) *access {
	if high == nil {
		return a
	}
	fence, top := c.at(a).Fence, c.at(high).Fence
	if fence < top || fence == top && high.by != 0 && a.by == 0 {
		return high
	}
	return a
}

// differ tells whether two writes are certainly of different holders.
func (c *Case) differ(a, b *access) bool {
	if a.by != 0 && b.by != 0 {
		return a.by != b.by
	}
	x, y := c.at(a).Lease, c.at(b).Lease
	return x != "" && y != "" && x != y
}

func outranked(low, high *history.Event) Verdict {
	sentence := say("%s's write with fence %d at %s was applied after %s's with fence %d at %s",
		author(low), low.Fence, at(low.Time), author(high), high.Fence, at(high.Time))
	return violated(sentence, high.Index, low.Index)
}
