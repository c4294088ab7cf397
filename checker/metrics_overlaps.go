package checker

import (
	"slices"
	"time"
)

// Overlaps says how often different clients believed at once.
type Overlaps struct {
	Pairs  int        `json:"pairs"`  // of beliefs that overlap
	Grants Proportion `json:"grants"` // those of which a belief overlaps another's
}

// measureOverlaps is nil without a grant.
func measureOverlaps(c *Case) *Overlaps {
	if len(c.Grants) == 0 {
		return nil
	}
	pairs := 0
	overlapped := map[*Grant]bool{}
	for _, holds := range holdsByLock(c) {
		pairs += overlappingPairs(holds)
		markOverlapped(holds, overlapped)
	}
	return &Overlaps{pairs, *proportion(len(overlapped), len(c.Grants))}
}

// overlappingPairs counts pairs of different clients, in O(n log n): all pairs, without those of one client.
func overlappingPairs(holds []*hold) int {
	byClient := map[name][]*hold{}
	for _, h := range holds {
		byClient[h.Client] = append(byClient[h.Client], h)
	}
	pairs := intersections(holds)
	for _, own := range byClient {
		pairs -= intersections(own)
	}
	return pairs
}

// intersections counts the pairs that overlap, whoever believes. Holds come by their start, and none is empty: so of
// those before one, it meets all that do not end by its start.
func intersections(holds []*hold) int {
	ends := make([]time.Duration, len(holds))
	for i, h := range holds {
		ends[i] = h.To
	}
	slices.Sort(ends)
	pairs, over := 0, 0
	for i, h := range holds {
		for ends[over] <= h.From {
			over++
		}
		pairs += i - over
	}
	return pairs
}

// markOverlapped finds the grants that overlap another client's, in O(n). Holds come by their start.
func markOverlapped(holds []*hold, overlapped map[*Grant]bool) {
	var longest, other *hold // that reach furthest so far, of two clients
	for _, h := range holds {
		for _, before := range []*hold{longest, other} {
			if before != nil && before.Client != h.Client && h.From < before.To {
				overlapped[h.Grant] = true
			}
		}
		switch {
		case longest == nil:
			longest = h
		case h.Client == longest.Client:
			if h.To > longest.To {
				longest = h
			}
		case h.To > longest.To:
			longest, other = h, longest
		case other == nil || h.To > other.To:
			other = h
		}
	}
	var next, beyond *hold // that start next, of two clients
	for _, h := range slices.Backward(holds) {
		for _, after := range []*hold{next, beyond} {
			if after != nil && after.Client != h.Client && after.From < h.To {
				overlapped[h.Grant] = true
			}
		}
		if next != nil && next.Client != h.Client {
			beyond = next
		}
		next = h
	}
}
