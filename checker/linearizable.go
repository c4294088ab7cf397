package checker

import (
	"fmt"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Linearizable is the property that what the clients saw of each lock, or of each piece of data, has an order in which the
// object could have shown it to them. It judges calls and knows nothing of beliefs: a lease may end by itself from the
// until_ns on that its holder was told, so a holder that goes on after it, and writes, violates exclusion and no model of a
// lock. While leases last, it is stricter than exclusion. The budget bounds each search that no special-purpose checker can
// spare.
func Linearizable(object linear.Object, budget linear.Budget) Property {
	var doubts []rule
	if object.Lock {
		doubts = append(doubts, nothingGranted)
	}
	return Property{
		Name:  "linearizable-" + object.Name,
		Claim: fmt.Sprintf("What clients saw is what a %s could have shown them.", object.Name),
		Judge: guard(func(c *Case) Verdict { return judgeLinearizable(c, object, budget) }, doubts...),
	}
}

func judgeLinearizable(c *Case, object linear.Object, budget linear.Budget) Verdict {
	histories := c.operations(object)
	total := 0
	var open Verdict
	for _, h := range histories {
		total += len(h.ops)
		h.fromStart()
		if h.torn.Status == Violated {
			return h.torn
		}
		if h.gap != "" {
			open = undecided("the history of %s could not be decided: %s", h.of(c), h.gap)
			continue
		}
		switch v := object.Check(h.ops, budget); v.Status {
		case linear.Illegal:
			return h.violation(c, v, object, budget)
		case linear.Undecided:
			open = undecided("the history of %s could not be decided: %s", h.of(c), reasons[v.Reason])
		}
	}
	switch {
	case open.Reason != "":
		return open
	case total == 0:
		return undecided("no operations on a %s", object.Name)
	}
	return held("%s in a legal order", count(total, "operation"))
}

// objectHistory is what was done with one lock or one piece of data.
type objectHistory struct {
	resource name
	ops      []lockmodel.Op
	calls    []int32 // for each operation its place in Calls; of a section, that of its last
	opened   []int32 // of sections, that of their first
	gap      string  // why it cannot be told as operations, "" if it can
	torn     Verdict // violated if a section was no single step
}

func (h *objectHistory) of(c *Case) string {
	if h.resource == 0 {
		return "the lock"
	}
	return c.text(h.resource)
}

// reasons are in the words of a sentence. Those that only make an Object search are not among them.
var reasons = map[linear.Reason]string{
	linear.Overlap:        "two holds overlap",
	linear.NoRoom:         "a hold that its release proves fits nowhere",
	linear.Reacquired:     "who held the lock was granted it again",
	linear.ReleasedNone:   "who did not hold released",
	linear.RefusedRelease: "who held was refused its release",
	linear.RefusedFree:    "an acquire was refused while the lock was free",
	linear.FenceOrder:     "a later grant has no greater fence",
	linear.Searched:       "no order of these is legal",
	linear.StaleRead:      "a value was read that had been overwritten, or not been written yet",
	linear.StaleWrite:     "a lower fence was applied after a higher one",
	linear.RefusedWrite:   "a write was refused though its fence was high enough",
	linear.Crowded:        "more hold at once than there are permits",
	linear.OutOfTime:      "the search ran out of time",
	linear.OutOfMemory:    "the search ran out of memory",
}

// told is how many operations a sentence lists.
const told = 6

func (h *objectHistory) violation(c *Case, v linear.Verdict, object linear.Object, budget linear.Budget) Verdict {
	witness := v.Witness
	if witness != nil && object.Lock && !c.showAlone(h, witness, object, budget) {
		witness = h.ofOwners(witness)
	}
	if witness == nil {
		for i := range h.ops {
			witness = append(witness, int32(i))
		}
	}
	var events []int
	var shown []*Call
	var parts []saying
	for _, i := range witness {
		call := &c.Calls[h.calls[i]]
		events = append(events, int(call.Invoke), int(call.Done))
		if h.opened != nil {
			opened := &c.Calls[h.opened[i]]
			events = append(events, int(opened.Invoke), int(opened.Done))
		}
		if len(parts) < told && !slices.Contains(shown, call) {
			shown, parts = append(shown, call), append(parts, c.describe(call))
		}
	}
	return violated(say("%s: %s", reasons[v.Reason], listed(parts)), events...)
}

// showAlone tells whether some operations on a lock have no order by themselves. They may have one though the object saw
// none: a lease that was given back did not end by itself, but without the call that gave it back it may have.
func (c *Case) showAlone(h *objectHistory, operations []int32, object linear.Object, budget linear.Budget) bool {
	kept, clients := map[int]bool{}, map[name]bool{}
	keep := func(call *Call) {
		kept[int(call.Invoke)] = true
		kept[int(call.Done)] = true
	}
	for _, i := range operations {
		call := &c.Calls[h.calls[i]]
		keep(call)
		clients[call.Client] = true
	}
	for i := range c.Calls {
		if call := &c.Calls[i]; clients[call.Client] && c.op(call) == history.Extend {
			keep(call)
		}
	}
	var events []history.Event
	for i := range c.Events {
		e := c.Events[i]
		if kept[i] || e.Role == history.Client && (e.Op == history.Lost || e.Op == history.Died) {
			e.Index = len(events)
			events = append(events, e)
		}
	}
	alone, err := NewCase(events)
	if err != nil {
		return false
	}
	alone.Plan = c.Plan
	for _, h := range alone.operations(object) {
		h.fromStart()
		if object.Check(h.ops, budget).Status == linear.Illegal {
			return true
		}
	}
	return false
}

// ofOwners is all that the owners of some operations did.
func (h *objectHistory) ofOwners(operations []int32) []int32 {
	owners := map[int32]bool{}
	for _, i := range operations {
		owners[h.ops[i].Owner] = true
	}
	var all []int32
	for i := range h.ops {
		if owners[h.ops[i].Owner] {
			all = append(all, int32(i))
		}
	}
	return all
}

// describe says "A acquire from 0.000 s to 1.000 s ok".
func (c *Case) describe(call *Call) saying {
	if call.Open() {
		return say("%s %s from %s without an end", c.text(call.Client), c.op(call), at(call.Asked))
	}
	return say("%s %s from %s to %s %v", c.text(call.Client), c.op(call), at(call.Asked), at(c.ended(call)), call.Outcome)
}
