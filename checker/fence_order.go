package checker

import (
	"cmp"
	"slices"
	"time"
)

var fenceOrder = Property{
	Name:  FenceOrder,
	Claim: "A later grant has a greater fence than every earlier grant.",
	Judge: guard(judgeFenceOrder, nothingGranted),
	violation: func(c *Case) (int, bool) {
		_, later, byLock := c.findDisorder()
		rank := slices.IndexFunc(byLock, func(grants []*Grant) bool { return later != nil && grants[0].Lock == later.Lock })
		return rank, later != nil
	},
}

// judgeFenceOrder checks that a grant that returned before another was asked for has the lesser fence, and that no two
// have the same. As in Jepsen's FencedMutex, but without the assumption that the lock excludes: the greatest fence
// returned so far, in O(n log n).
func judgeFenceOrder(c *Case) Verdict {
	earlier, later, byLock := c.findDisorder()
	if later != nil {
		return c.disorder(earlier, later)
	}
	fenced, several := c.past.fenced, c.past.fenced > 0 // the greatest of a lock is never past
	for _, grants := range byLock {
		fenced += len(grants)
		several = several || len(grants) > 1
	}
	if !several {
		return undecided("fewer than two grants of a lock had a fence")
	}
	return held("%s with fences, in order", count(fenced, "grant"))
}

// findDisorder finds the first disorder of any lock, if there is one, in the grants that have fences of their own.
func (c *Case) findDisorder() (earlier, later *Grant, byLock [][]*Grant) {
	repeated := repeatedFences(c.Grants)
	byLock = groupByLock(c.withoutReentry(repeated))
	for _, grants := range byLock {
		if earlier, later = c.firstDisorder(grants, repeated); later != nil {
			return earlier, later, byLock
		}
	}
	return nil, nil, byLock
}

// groupByLock groups grants by their lock, in the order of each lock's first.
func groupByLock(grants []*Grant) [][]*Grant {
	sizes := map[name]int{}
	for _, g := range grants {
		sizes[g.Lock]++
	}
	if len(sizes) <= 1 {
		return [][]*Grant{grants}
	}
	var groups [][]*Grant
	places := map[name]int{}
	for _, g := range grants {
		at, seen := places[g.Lock]
		if !seen {
			at = len(groups)
			places[g.Lock] = at
			groups = append(groups, make([]*Grant, 0, sizes[g.Lock]))
		}
		groups[at] = append(groups[at], g)
	}
	return groups
}

// withoutReentry lists the grants with a fence, by return, save those that repeat a fence that their client still held:
// a reentrant lock gives its holder the same fence again (Hazelcast, FencedLock). That is no later grant, also if another was
// granted a greater fence meanwhile: it is the first hold, of which exclusion judges whether it goes on.
func (c *Case) withoutReentry(repeated map[int64]bool) []*Grant {
	type token struct {
		lock, client name
		fence        int64
	}
	heldUntil := map[token]time.Duration{}
	kept := make([]*Grant, 0, len(c.Grants))
	for i := range c.Grants {
		g := &c.Grants[i]
		if g.Fence == 0 {
			continue
		}
		known := c.past.reentered[g.Done]
		if !repeated[g.Fence] && !known {
			kept = append(kept, g)
			continue
		}
		t := token{g.Lock, g.Client, g.Fence}
		until, again := heldUntil[t]
		if !known && (!again || until <= g.Asked) {
			kept = append(kept, g)
		}
		heldUntil[t] = max(until, g.believedUntil())
	}
	return kept
}

// repeatedFences are those that more than one grant has: few, in most histories, so that only they need be remembered.
func repeatedFences(grants []Grant) map[int64]bool {
	fences := make([]int64, len(grants))
	for i := range grants {
		fences[i] = grants[i].Fence
	}
	slices.Sort(fences)
	repeated := map[int64]bool{}
	for i := 1; i < len(fences); i++ {
		if fences[i] == fences[i-1] {
			repeated[fences[i]] = true
		}
	}
	return repeated
}

// firstDisorder finds two grants of which the later one's fence is not greater; nil if there are none. Grants come by
// their return.
func (c *Case) firstDisorder(returned []*Grant, repeated map[int64]bool) (earlier, later *Grant) {
	// If fences grow from return to return, they grow all the more from a return to what was asked for after it.
	if fencesGrow(returned) {
		return nil, nil
	}
	var greatest *Grant
	same := map[int64]*Grant{}
	for _, g := range byAsking(returned) {
		for len(returned) > 0 && c.ended(returned[0].Call) < g.Asked {
			if greatest == nil || returned[0].Fence > greatest.Fence {
				greatest = returned[0]
			}
			returned = returned[1:]
		}
		if greatest != nil && g.Fence <= greatest.Fence {
			return greatest, g
		}
		if twin := same[g.Fence]; twin != nil { // asked for at once: neither is later
			return twin, g
		}
		if repeated[g.Fence] {
			same[g.Fence] = g
		}
	}
	return nil, nil
}

// byAsking lists grants in the order in which they were asked for. It sorts small keys, which is faster than grants.
func byAsking(returned []*Grant) []*Grant {
	type asking struct {
		at    time.Duration
		place int32
	}
	keys := make([]asking, len(returned))
	for i, g := range returned {
		keys[i] = asking{g.Asked, int32(i)}
	}
	slices.SortFunc(keys, func(a, b asking) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.place, b.place)
	})
	asked := make([]*Grant, len(returned))
	for i, k := range keys {
		asked[i] = returned[k.place]
	}
	return asked
}

func fencesGrow(grants []*Grant) bool {
	for i := 1; i < len(grants); i++ {
		if grants[i].Fence <= grants[i-1].Fence {
			return false
		}
	}
	return true
}

func (c *Case) disorder(earlier, later *Grant) Verdict {
	who, whom := c.text(later.Client), c.text(earlier.Client)
	sentence := say("%s was granted fence %d at %s, though %s had been granted %d at %s",
		who, later.Fence, at(c.ended(later.Call)), whom, earlier.Fence, at(c.ended(earlier.Call)))
	if earlier.Fence == later.Fence {
		sentence = say("%s at %s and %s at %s were granted the same fence %d",
			whom, at(c.ended(earlier.Call)), who, at(c.ended(later.Call)), later.Fence)
	}
	return violated(sentence, int(earlier.Done), int(later.Done))
}
