package checker

import (
	"fmt"

	"github.com/lockfault/lockfault/checker/history"
)

var fenceEnforcement = Property{
	Name:  FenceEnforcement,
	Claim: "The resource never applies a lower fence after a higher one.",
	Judge: guard(judgeFenceEnforcement, nothingGranted),
}

// judgeFenceEnforcement takes the resource's log in its order. An equal fence is in order from the client that had it
// first, which may write more than once, and from nobody else. (Kleppmann 2016; Redisson documentation, fenced lock.)
func judgeFenceEnforcement(c *Case) Verdict {
	type name struct{ process, data string }
	highest := map[name]history.Event{}
	applied := 0
	for _, e := range c.Accesses {
		if e.Op != history.Write || e.Type != history.Ok || e.Fence == 0 {
			continue
		}
		applied++
		id := name{e.Process, e.Resource}
		high, seen := highest[id]
		if seen && (e.Fence < high.Fence || e.Fence == high.Fence && !sameHolder(e, high)) {
			return outranked(e, high)
		}
		highest[id] = e
	}
	if applied == 0 {
		return undecided("the resource applied no write with a fence")
	}
	return held("%s with fences, applied in order", count(applied, "write"))
}

func sameHolder(a, b history.Event) bool {
	if a.By != "" && b.By != "" {
		return a.By == b.By
	}
	return a.Lease == b.Lease
}

func outranked(low, high history.Event) Verdict {
	sentence := fmt.Sprintf("%s's write with fence %d at %s was applied after %s's with fence %d at %s",
		author(low), low.Fence, at(low.Time), author(high), high.Fence, at(high.Time))
	return violated(sentence, high.Index, low.Index)
}
