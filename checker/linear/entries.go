package linear

import (
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// entries is a history of a lock that counts how often an owner has acquired it, taken apart by owners.
//
// With known outcomes, an owner's count is forced after each of its operations. What may have happened without anybody
// knowing is covered where it comes to nothing: an acquire with unknown outcome that no later operation of its owner
// needs (with strict refusals or fences: behind which there is none but its end), and releases with unknown outcome
// behind which the owner does nothing any more. Under lenient refusals it is best for all others if such an acquire
// did not happen, and such a release at once. Owners of whom more is unknown, or who did two things at once, are
// apart: not covered.
type entries struct {
	ops []lockmodel.Op
	rules
	owners   []counting
	entries  []entry // by acquire
	maybe    []int32 // acquires with unknown outcome, if refusals matter, and what may have ended them
	refusals []int32 // acquires, if refusals matter
	apart    int     // owners that are not covered
	wrong    Verdict // if one owner alone is enough to show it
}

// rules are what tells one such lock from another.
type rules struct {
	limit  int  // of an owner's count, 0 for none
	shared bool // several owners may hold at once
	fenced bool // fences tell one hold from the next, so that one which lasts on may be of use
	strict bool // refusals matter
}

// entry is an acquire that succeeded and what gave it back: the k-th release of its owner for the k-th acquire.
type entry struct {
	acquire, release int32 // release is none if there is none, and may have unknown outcome
}

// counting is what is known of one owner while its operations are read in order.
type counting struct {
	held  []int32 // places of the entries not given back
	maybe bool    // an acquire has unknown outcome
	spent bool    // so has a release
	apart bool
	busy  busy
}

func readEntries(ops []lockmodel.Op, r rules) *entries {
	e := &entries{ops: ops, rules: r, owners: make([]counting, lockmodel.Owners(ops))}
	for i := range ops {
		op, o := &ops[i], &e.owners[ops[i].Owner]
		refused := op.Kind == lockmodel.Acquire && op.Outcome == history.Fail
		first := len(o.held) == 0
		switch {
		case o.apart || refused && !e.strict:
		case o.maybe && (e.strict || e.fenced) && !o.lapses(op), o.spent && e.unsettling(op), o.busy.meets(op),
			refused && !e.shared && callOf(op) < int64(o.busy): // what its owner does at one instant must not excuse it
			e.part(o)
		case refused:
			e.refuse(o, int32(i))
		case op.Kind == lockmodel.Acquire:
			e.acquire(o, int32(i))
		default:
			e.release(o, int32(i))
		}
		if o.busy = o.busy.after(op, first); refused && e.strict && !e.shared {
			o.busy++ // so that what comes at the same instant meets it
		}
		if e.wrong.Status == Illegal {
			if !o.busy.metLater(ops, i) {
				return e
			}
			e.wrong = Verdict{}
			e.part(o)
		}
	}
	if e.apart > 0 {
		e.leaveApart()
	}
	return e
}

// lapses tells whether an operation may end what its owner may have acquired, and nothing else.
func (o *counting) lapses(op *lockmodel.Op) bool {
	return op.Kind == lockmodel.Release && op.Outcome == history.Info && len(o.held) == 0 && !o.spent
}

// part gives an owner up.
func (e *entries) part(o *counting) {
	o.apart = true
	e.apart++
}

// unsettling tells whether an operation makes it matter when a release before it happened whose outcome is unknown.
func (e *entries) unsettling(op *lockmodel.Op) bool {
	switch {
	case op.Kind == lockmodel.Release:
		return op.Outcome != history.Info
	case op.Outcome == history.Fail:
		return !e.shared
	}
	return op.Outcome == history.Ok || e.strict // what may have been acquired can be given back by it
}

func (e *entries) acquire(o *counting, i int32) {
	switch {
	case e.ops[i].Outcome == history.Info:
		o.maybe = true
		if e.strict {
			e.maybe = append(e.maybe, i)
		}
	case e.limit > 0 && len(o.held) == e.limit:
		witness := []int32{i}
		for _, at := range o.held {
			witness = append(witness, e.entries[at].acquire)
		}
		e.illegal(Reacquired, witness...)
	default:
		o.held = append(o.held, int32(len(e.entries)))
		e.entries = append(e.entries, entry{i, none})
	}
}

func (e *entries) release(o *counting, i int32) {
	outcome := e.ops[i].Outcome
	if outcome == history.Info {
		o.spent = true
		if o.maybe && e.strict && !e.shared {
			e.maybe = append(e.maybe, i)
		}
	}
	switch {
	case outcome == history.Fail && len(o.held) > 0:
		e.illegal(RefusedRelease, e.entries[o.held[0]].acquire, i)
	case outcome == history.Fail:
	case len(o.held) > 0:
		e.entries[o.held[0]].release = i
		o.held = o.held[1:]
	case outcome == history.Ok && o.maybe: // so that acquire happened
		e.part(o)
	case outcome == history.Ok:
		e.illegal(ReleasedNone, i)
	}
}

// refuse takes a refused acquire in. If nobody else can hold meanwhile, only an owner that has all it may have is refused.
func (e *entries) refuse(o *counting, i int32) {
	switch {
	case e.shared || len(o.held) == 0:
		e.refusals = append(e.refusals, i)
	case e.limit == 0 || len(o.held) < e.limit:
		e.illegal(RefusedFree, e.entries[o.held[0]].acquire, i)
	}
}

// leaveApart leaves out the owners that are not covered. What they held, they held instead of others, so a history that
// is legal under lenient refusals stays so.
func (e *entries) leaveApart() {
	e.entries = slices.DeleteFunc(e.entries, func(h entry) bool { return e.owners[e.ops[h.acquire].Owner].apart })
	e.refusals, e.maybe = nil, nil
}

func (e *entries) illegal(why Reason, witness ...int32) {
	slices.Sort(witness)
	e.wrong = Verdict{Status: Illegal, Reason: why, Witness: slices.Compact(witness)}
}

// granted is the latest at which an entry starts.
func (e *entries) granted(h *entry) int64 { return returnOf(&e.ops[h.acquire]) }

// given is the earliest at which an entry may end.
func (e *entries) given(h *entry) int64 {
	if h.release == none {
		return never
	}
	return callOf(&e.ops[h.release])
}
