package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

var fenceOrder = Property{
	Name:  FenceOrder,
	Claim: "A later grant has a greater fence than every earlier grant.",
	Judge: guard(judgeFenceOrder, nothingGranted),
}

// judgeFenceOrder checks that a grant that returned before another was asked for has the lesser fence, and that no two
// have the same. As in Jepsen's FencedMutex, but without the assumption that the lock excludes: the greatest fence
// returned so far, in O(n log n).
func judgeFenceOrder(c *Case) Verdict {
	byLock := map[string][]*Grant{}
	var locks []string
	n := 0 // of the lock that has most
	fenced := withoutReentry(c.Grants)
	for _, g := range fenced {
		if byLock[g.Lock] == nil {
			locks = append(locks, g.Lock)
		}
		byLock[g.Lock] = append(byLock[g.Lock], g)
		n = max(n, len(byLock[g.Lock]))
	}
	if n < 2 {
		return undecided("fewer than two grants of a lock had a fence")
	}
	for _, lock := range locks {
		if earlier, later := firstDisorder(byLock[lock]); later != nil {
			return disorder(earlier, later)
		}
	}
	return held("%s with fences, in order", count(len(fenced), "grant"))
}

// withoutReentry lists the grants with a fence, by return, save those that repeat a fence that their client still held:
// a reentrant lock gives its holder the same fence again (Hazelcast, FencedLock).
func withoutReentry(grants []*Grant) []*Grant {
	type token struct {
		lock, client string
		fence        int64
	}
	heldUntil := map[token]time.Duration{}
	var kept []*Grant
	for _, g := range grants {
		if g.Fence == 0 {
			continue
		}
		t := token{g.Lock, g.Client, g.Fence}
		until, again := heldUntil[t]
		if !again || until <= g.Call.Asked {
			kept = append(kept, g)
		}
		heldUntil[t] = max(until, g.believedUntil())
	}
	return kept
}

// firstDisorder finds two grants of which the later one's fence is not greater; nil if there are none. Grants come by
// their return.
func firstDisorder(returned []*Grant) (earlier, later *Grant) {
	asked := slices.Clone(returned)
	slices.SortStableFunc(asked, func(a, b *Grant) int { return cmp.Compare(a.Call.Asked, b.Call.Asked) })
	var greatest *Grant
	same := map[int64]*Grant{}
	for _, g := range asked {
		for len(returned) > 0 && returned[0].Call.Ended < g.Call.Asked {
			if greatest == nil || returned[0].Fence > greatest.Fence {
				greatest = returned[0]
			}
			returned = returned[1:]
		}
		if greatest != nil && g.Fence <= greatest.Fence {
			return greatest, g
		}
		if twin := same[g.Fence]; twin != nil {
			return twin, g
		}
		same[g.Fence] = g
	}
	return nil, nil
}

func disorder(earlier, later *Grant) Verdict {
	sentence := fmt.Sprintf("%s was granted fence %d at %s, though %s had been granted %d at %s",
		later.Client, later.Fence, at(later.Call.Ended), earlier.Client, earlier.Fence, at(earlier.Call.Ended))
	if earlier.Fence == later.Fence {
		sentence = fmt.Sprintf("%s at %s and %s at %s were granted the same fence %d",
			earlier.Client, at(earlier.Call.Ended), later.Client, at(later.Call.Ended), later.Fence)
	}
	return violated(sentence, earlier.Call.Done, later.Call.Done)
}
