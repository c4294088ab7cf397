package linear

import (
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// All instants here are doubled, and returns are one later: then "not after", which intervals that are closed ask for, is
// the same as "before", and no call equals a return.
const (
	always = int64(-1) << 62
	never  = int64(1) << 62
)

func callOf(op *lockmodel.Op) int64 { return op.Call * 2 }

func returnOf(op *lockmodel.Op) int64 {
	if op.Return == lockmodel.Never {
		return never
	}
	return op.Return*2 + 1
}

// none stands for no operation.
const none = int32(-1)

// hold is a grant that is known: its owner holds for certain from the acquire's return to held.
type hold struct {
	acquire, release int32 // operations; release is none if there is none, or the first of those with unknown outcome
	granted          int64 // the acquire's return: the latest at which the hold starts
	held             int64 // the earliest at which it may end
	latest           int64 // the latest at which it may end
}

// touch is a hold of which the acquire has unknown outcome but the release succeeded. It is there for certain only at one
// instant, somewhere in the release's interval.
type touch struct {
	acquire, release int32
	earliest         int64 // it may start
	from, to         int64 // of the release
	first, last      int32 // gaps between holds in which it can be
}

// phantom is a hold that there may have been: its acquire has unknown outcome and nothing came of it. It matters only
// as an excuse for refusals.
type phantom struct {
	earliest int64 // it may start, after every refused release
	hopeful  int64 // it may start, if refused releases after an unknown one are left out of account
	freed    int64 // the earliest at which it may end, never if it cannot
}

// phase is what is known of an owner.
type phase uint8

const (
	idle  phase = iota // does not hold
	holds              // was granted the lock; it may have an unknown release open
	maybe              // asked for the lock, with unknown outcome
	spent              // does not hold, but an unknown release of it may still come
	apart              // acquired again after an unknown outcome, or did two things at once: not covered
)

// owner is what is known of one owner while its operations are read in order.
type owner struct {
	phase         phase
	unknown       int32 // number of unknown releases since the acquire
	acquire       int32
	release       int32 // the first unknown one
	refused       int32 // the last refused one since the acquire, none if there is none
	refusedBefore int32 // the last refused one before the first unknown one
	busy          busy
}

// busy is until when an owner awaited an answer last, doubled; one later if that was not to an acquire that began a hold.
type busy int64

// after is busy once an operation has been read; first tells whether it can only begin a hold.
func (b busy) after(op *lockmodel.Op, first bool) busy {
	switch {
	case op.Return == lockmodel.Never:
		return b
	case first && op.Kind == lockmodel.Acquire && op.Outcome == history.Ok:
		return max(b, busy(op.Return*2))
	}
	return max(b, busy(returnOf(op)))
}

// meets tells whether an operation may have come before one that its owner began earlier. Two that meet at one instant
// come one after the other. But a release with unknown outcome may be a lapse, which awaits no answer: at one instant it
// may come before anything but the acquire that began the hold.
func (b busy) meets(op *lockmodel.Op) bool {
	if op.Kind == lockmodel.Release && op.Outcome == history.Info {
		return callOf(op) < int64(b)
	}
	return callOf(op) < int64(b)&^1
}

// metLater tells whether an operation behind i meets one that its owner began by then, which is busy until b.
func (b busy) metLater(ops []lockmodel.Op, i int) bool {
	for j := i + 1; j < len(ops) && callOf(&ops[j]) < int64(b); j++ {
		if ops[j].Owner == ops[i].Owner && b.meets(&ops[j]) {
			return true
		}
	}
	return false
}

// blocks is a history taken apart by owners.
type blocks struct {
	ops      []lockmodel.Op
	owners   []owner
	holds    []hold
	touches  []touch
	phantoms []phantom
	refusals []int32 // acquires, if refusals are strict
	apart    int     // owners that are not covered
	wrong    Verdict // if one owner alone is enough to show it
}

// read takes a history apart. It stops at an owner that alone shows that the history is illegal.
func (b *blocks) read(ops []lockmodel.Op, refusal lockmodel.Refusal) {
	n := lockmodel.Owners(ops)
	b.ops, b.owners = ops, slices.Grow(b.owners[:0], n)[:n]
	clear(b.owners)
	b.holds, b.touches, b.phantoms, b.refusals = b.holds[:0], b.touches[:0], b.phantoms[:0], b.refusals[:0]
	b.apart, b.wrong = 0, Verdict{}
	if b.holds == nil {
		b.holds = make([]hold, 0, len(ops)/2)
	}
	for i := range ops {
		op, o := &ops[i], &b.owners[ops[i].Owner]
		first := o.phase == idle
		switch {
		case op.Kind == lockmodel.Acquire && op.Outcome == history.Fail:
			if refusal == lockmodel.Strict {
				b.refusals = append(b.refusals, int32(i))
			}
		case o.phase == apart:
		case o.busy.meets(op):
			b.part(o)
		case op.Kind == lockmodel.Acquire:
			b.acquired(o, int32(i))
		default:
			b.released(o, int32(i))
		}
		if op.Kind == lockmodel.Release || op.Outcome != history.Fail {
			o.busy = o.busy.after(op, first)
		}
		if b.wrong.Status == Illegal {
			if !o.busy.metLater(ops, i) {
				return
			}
			b.wrong = Verdict{}
			b.part(o)
		}
	}
	b.rest(refusal)
	if b.apart > 0 {
		b.leaveApart()
	}
}

func (b *blocks) acquired(o *owner, i int32) {
	granted := b.ops[i].Outcome == history.Ok
	switch {
	case o.phase == idle:
	case o.phase == holds && granted && o.unknown == 0:
		b.illegal(Reacquired, o.acquire, i)
		return
	case o.phase == holds && granted && o.unknown == 1: // so that release happened, and is not open any more
		b.hold(o, o.release, never)
	default:
		b.part(o)
		return
	}
	*o = owner{phase: maybe, acquire: i, release: none, refused: none, refusedBefore: none, busy: o.busy}
	if granted {
		o.phase = holds
	}
}

// part gives an owner up.
func (b *blocks) part(o *owner) {
	o.phase = apart
	b.apart++
}

func (b *blocks) released(o *owner, i int32) {
	op := &b.ops[i]
	switch op.Outcome {
	case history.Ok:
		switch o.phase {
		case holds: // none of the unknown releases happened in this hold
			b.holds = append(b.holds, hold{o.acquire, i, returnOf(&b.ops[o.acquire]), callOf(op), returnOf(op)})
		case maybe: // one acquire, so the hold began after the last refused release
			b.touches = append(b.touches, touch{acquire: o.acquire, release: i, earliest: b.after(o.acquire, o.refused),
				from: callOf(op), to: returnOf(op)})
		default:
			b.illegal(ReleasedNone, i)
			return
		}
		o.settle(0)
	case history.Fail:
		switch {
		case o.phase == holds && o.unknown == 0:
			b.illegal(RefusedRelease, o.acquire, i)
		case o.phase == holds: // one of the unknown releases happened before
			b.hold(o, o.release, returnOf(op))
			o.settle(1)
		case o.phase == maybe:
			o.refused = i
			if o.unknown == 0 {
				o.refusedBefore = i
			}
		}
	default:
		if o.unknown == 0 {
			o.release = i
		}
		o.unknown++
		if o.phase == idle {
			o.phase = spent
		}
	}
}

// settle ends a hold that took so many of the unknown releases with it. The others may still come.
func (o *owner) settle(taken int32) {
	if o.unknown -= taken; o.unknown > 0 {
		o.phase = spent
		return
	}
	o.phase = idle
}

// hold adds a hold that an unknown release may end, or ended by latest.
func (b *blocks) hold(o *owner, release int32, latest int64) {
	held := never
	if release != none {
		held = callOf(&b.ops[release])
	}
	b.holds = append(b.holds, hold{o.acquire, release, returnOf(&b.ops[o.acquire]), held, latest})
}

// after is the earliest start of a hold whose owner was refused a release before it.
func (b *blocks) after(acquire, refused int32) int64 {
	start := callOf(&b.ops[acquire])
	if refused != none {
		start = max(start, callOf(&b.ops[refused]))
	}
	return start
}

// rest adds the holds that nothing known ended.
func (b *blocks) rest(refusal lockmodel.Refusal) {
	for i := range b.owners {
		o := &b.owners[i]
		switch {
		case o.phase == holds:
			b.hold(o, o.release, never)
		case o.phase == maybe && refusal == lockmodel.Strict:
			p := phantom{earliest: b.after(o.acquire, o.refused), freed: never}
			p.hopeful = p.earliest
			if o.unknown > 0 {
				p.freed = callOf(&b.ops[o.release])
				p.hopeful = b.after(o.acquire, o.refusedBefore)
			}
			b.phantoms = append(b.phantoms, p)
		}
	}
}

// leaveApart leaves out the owners that are not covered. What they held, they held instead of others, so a history that
// is legal under lenient refusals stays so.
func (b *blocks) leaveApart() {
	left := func(acquire int32) bool { return b.owners[b.ops[acquire].Owner].phase == apart }
	b.holds = slices.DeleteFunc(b.holds, func(h hold) bool { return left(h.acquire) })
	b.touches = slices.DeleteFunc(b.touches, func(t touch) bool { return left(t.acquire) })
	b.refusals, b.phantoms = b.refusals[:0], b.phantoms[:0]
}

func (b *blocks) illegal(why Reason, witness ...int32) {
	slices.Sort(witness)
	b.wrong = Verdict{Status: Illegal, Reason: why, Witness: slices.Compact(witness)}
}
