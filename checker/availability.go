package checker

import (
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

var availability = Property{
	Name:  Availability,
	Claim: "With a minority of nodes gone, acquire still succeeds.",
	Judge: guard(judgeAvailability),
}

// judgeAvailability looks at each acquire that began while a strict minority of the lock servers was gone for its client
// and during which no majority was. (Redis documentation, "Distributed locks": liveness B.)
func judgeAvailability(c *Case) Verdict {
	met, granted := 0, 0
	for i := range c.Calls {
		a := &c.Calls[i]
		if a.Kind != acquire || a.Open() && (!c.Complete || c.diedAt(a.Client) != forever) {
			continue
		}
		end := min(c.ended(a), c.End)
		gone := c.gone(a.Client, a.Asked, end)
		if len(c.gone(a.Client, a.Asked, a.Asked)) == 0 || !c.minority(gone) {
			continue
		}
		met++
		switch {
		case a.Outcome == history.Ok:
			granted++
		case !c.excused(a, end, gone):
			return unavailable(c, a, end, gone)
		}
	}
	switch {
	case met == 0:
		return undecided("no acquire met a missing minority")
	case granted == 0:
		return undecided("%s met a missing minority, but something else explains why none was granted", count(met, "acquire"))
	}
	return held("%s granted while a minority of the nodes was gone", count(granted, "acquire"))
}

// gone lists the nodes that a client could not reach at some time between from and to, in order of name.
func (c *Case) gone(client name, from, to time.Duration) []string {
	var nodes []string
	for _, f := range c.Faults {
		if f.meets(from, to) && from < f.To {
			nodes = append(nodes, f.takesAway(c.text(client))...)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

func (c *Case) minority(nodes []string) bool {
	return !slices.Contains(nodes, allNodes) && 2*len(nodes) < c.Plan.Nodes
}

// excused tells whether anything but the missing nodes explains that an acquire was not granted: a lease that may have
// been in the way, another fault, or nodes that had missed the end of an earlier lease because they were gone then for
// those who gave it up.
func (c *Case) excused(a *Call, end time.Duration, gone []string) bool {
	recent := time.Duration(0)
	if c.Plan.TTL > 0 {
		recent = max(0, a.Asked-c.Plan.TTL-c.allowance())
	}
	for _, f := range c.Faults {
		counted := f.Kind == crash || f.Kind == cut || f.Kind == drop
		elsewhere := f.Kind == pause && !f.strikes(c.text(a.Client))
		if f.meets(recent, end) && !counted && !elsewhere {
			return true
		}
	}
	unhelpful := slices.Clone(gone)
	for i := range c.Calls {
		other := &c.Calls[i]
		if other != a && other.Lock == a.Lock && c.underWay(other, recent, end) &&
			(other.Kind == acquire || other.Kind == release) {
			unhelpful = append(unhelpful, c.gone(other.Client, other.Asked, min(c.ended(other), c.End))...)
		}
	}
	slices.Sort(unhelpful)
	return !c.minority(slices.Compact(unhelpful)) || c.obstructed(a, a.Asked, end, unnamed)
}

func unavailable(c *Case, a *Call, end time.Duration, gone []string) Verdict {
	outcome := "was refused"
	switch {
	case a.Open():
		outcome = "had not ended"
	case a.Outcome == history.Info:
		outcome = "failed with unknown outcome"
	}
	sentence := say("%s's acquire of %s %s at %s, though the lock was free and only %d of %d nodes gone (%s)",
		c.text(a.Client), at(a.Asked), outcome, at(end), len(gone), c.Plan.Nodes, strings.Join(gone, ", "))
	events := []int{int(a.Invoke), int(a.Done)}
	for _, f := range c.Faults {
		if f.meets(a.Asked, a.Asked) && len(f.takesAway(c.text(a.Client))) > 0 {
			events = append(events, f.Event)
		}
	}
	return violated(sentence, events...)
}
