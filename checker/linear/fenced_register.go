package linear

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// FencedRegister decides whether a history of a register that enforces fences is legal: lockmodel.FencedRegister.
//
// Fences grow with the writes that are applied, so the order of the writes is known, and each can be put at its earliest
// time: not before its call, nor before any write of a lower fence, nor before the last call of a read of what that one
// wrote. A refused write needs a write of a higher fence before its return; the earliest times are best for that too. A
// write with unknown outcome that was read must have happened; one that was not read need not, and puts off nobody.
// (Gibbons and Korach 1997 give the same bound for registers in which each value is written once.) O(n log n).
//
// Complete if no value is written twice and, where several writes have one fence, they are all answered and do not
// overlap, as those of one holder. Otherwise the history is undecided.
func FencedRegister(ops []lockmodel.Op) Verdict {
	r := fencedWrites{ops: ops}
	if v := r.order(); v != nil {
		return *v
	}
	if v := r.read(); v != nil {
		return *v
	}
	if v := r.earliest(); v != nil {
		return *v
	}
	if v := r.refused(); v != nil {
		return *v
	}
	return Verdict{Status: Legal}
}

// fencedWrite is a write and what was read of it. The first of all, without an operation, is of the initial 0.
type fencedWrite struct {
	write    int32
	lastRead int32 // the read of it that was called last, none if there is none
	soonRead int32 // the read of it that returned first
	before   int32 // the operation that keeps it from happening earlier, none if that is its own call
	start    int64 // the earliest at which it can happen; never if it did not
}

type fencedWrites struct {
	ops    []lockmodel.Op
	writes []fencedWrite // by fence
}

// order lists the writes by their fences. It fails where that does not tell the order of those that were applied.
func (r *fencedWrites) order() *Verdict {
	ops := r.ops
	r.writes = append(make([]fencedWrite, 0, len(ops)/2+1), fencedWrite{write: none, lastRead: none, soonRead: none, start: always})
	for i := range ops {
		if ops[i].Kind == lockmodel.Write {
			r.writes = append(r.writes, fencedWrite{write: int32(i), lastRead: none, soonRead: none, before: none, start: never})
		}
	}
	sorted := r.writes[1:]
	byFence := func(a, b fencedWrite) int { return cmp.Compare(ops[a.write].Arg, ops[b.write].Arg) }
	if !slices.IsSortedFunc(sorted, byFence) {
		slices.SortStableFunc(sorted, byFence)
	}
	last := none // the last write of the present fence that was not refused
	for _, w := range sorted {
		op := &ops[w.write]
		if op.Arg < 0 {
			return undecided(EqualFences) // below the fence that a register starts with
		}
		if last != none && ops[last].Arg != op.Arg {
			last = none
		}
		if op.Outcome == history.Fail {
			continue
		}
		if last != none && returnOf(&ops[last]) > callOf(op) {
			return undecided(EqualFences)
		}
		last = w.write
	}
	return nil
}

// read finds for each write what was read of it.
func (r *fencedWrites) read() *Verdict {
	byValue, repeated := r.byValue()
	if repeated {
		return undecided(EqualFences)
	}
	for i := range r.ops {
		op := &r.ops[i]
		if op.Kind != lockmodel.Read || op.Outcome != history.Ok {
			continue
		}
		w := byValue(op.Value)
		if w == nil || w.write != none && r.ops[w.write].Outcome == history.Fail {
			return r.illegal(StaleRead, int32(i))
		}
		if w.lastRead == none || op.Call > r.ops[w.lastRead].Call {
			w.lastRead = int32(i)
		}
		if w.soonRead == none || op.Return < r.ops[w.soonRead].Return {
			w.soonRead = int32(i)
		}
	}
	return nil
}

// byValue returns a function that finds the write of a value, and whether a value was written twice. Where the values
// grow with the fences, as versions do, it needs no index.
func (r *fencedWrites) byValue() (find func(int64) *fencedWrite, repeated bool) {
	value := func(w *fencedWrite) int64 {
		if w.write == none {
			return 0
		}
		return r.ops[w.write].Value
	}
	grows := true
	for i := 1; i < len(r.writes); i++ {
		grows = grows && value(&r.writes[i-1]) < value(&r.writes[i])
	}
	if grows {
		return func(v int64) *fencedWrite {
			i, found := slices.BinarySearchFunc(r.writes, v, func(w fencedWrite, v int64) int { return cmp.Compare(value(&w), v) })
			if !found {
				return nil
			}
			return &r.writes[i]
		}, false
	}
	index := make(map[int64]int32, len(r.writes))
	for i := range r.writes {
		index[value(&r.writes[i])] = int32(i)
	}
	return func(v int64) *fencedWrite {
		i, found := index[v]
		if !found {
			return nil
		}
		return &r.writes[i]
	}, len(index) < len(r.writes)
}

// earliest puts each write at its earliest time.
func (r *fencedWrites) earliest() *Verdict {
	now, by := always, none // by is the operation that the present time comes from
	for i := range r.writes {
		w := &r.writes[i]
		if w.write != none {
			op := &r.ops[w.write]
			if op.Outcome == history.Fail {
				continue
			}
			w.start, w.before = now, by
			if call := callOf(op); call > now {
				w.start, w.before = call, none
			}
			switch {
			case op.Outcome == history.Info && w.lastRead == none:
				continue
			case op.Outcome == history.Ok && w.start > returnOf(op):
				return r.illegal(StaleWrite, r.cause(w, returnOf(op)), w.write)
			}
		}
		if w.soonRead != none && w.start > returnOf(&r.ops[w.soonRead]) {
			return r.illegal(StaleRead, r.cause(w, returnOf(&r.ops[w.soonRead])), w.write, w.soonRead)
		}
		if now = w.start; w.before == none {
			by = w.write
		}
		if w.lastRead != none && callOf(&r.ops[w.lastRead]) > now {
			now, by = callOf(&r.ops[w.lastRead]), w.lastRead
		}
	}
	return nil
}

// cause is what keeps a write from happening by a deadline. Instead of a read, what it read is enough if that was written
// too late by itself.
func (r *fencedWrites) cause(late *fencedWrite, deadline int64) int32 {
	by := late.before
	switch {
	case late.write != none && callOf(&r.ops[late.write]) > deadline:
		return none // it is late by itself
	case by == none || r.ops[by].Kind != lockmodel.Read:
		return by
	}
	for i := range r.writes {
		w := r.writes[i].write
		if w != none && r.ops[w].Value == r.ops[by].Value && r.ops[w].Outcome == history.Ok && callOf(&r.ops[w]) > deadline {
			return w
		}
	}
	return by
}

// refused checks that each refused write had a higher fence before it.
func (r *fencedWrites) refused() *Verdict {
	soonest := &fencedWrite{write: none, before: none, start: never} // that has a higher fence
	for end := len(r.writes); end > 1; {
		fence := r.ops[r.writes[end-1].write].Arg
		first := end
		for first > 1 && r.ops[r.writes[first-1].write].Arg == fence {
			first--
		}
		for i := first; i < end; i++ {
			op := &r.ops[r.writes[i].write]
			if op.Outcome == history.Fail && soonest.start > returnOf(op) {
				return r.illegal(RefusedWrite, soonest.before, soonest.write, r.writes[i].write)
			}
		}
		for i := first; i < end; i++ {
			if w := &r.writes[i]; w.start < soonest.start {
				soonest = w
			}
		}
		end = first
	}
	return nil
}

// illegal names operations that together have no order: those given, what the reads among them read, and what proves
// that those with unknown outcome happened.
func (r *fencedWrites) illegal(why Reason, operations ...int32) *Verdict {
	var witness []int32
	proven := func(w *fencedWrite) bool { // by a read among them
		return slices.ContainsFunc(operations, func(i int32) bool {
			return i != none && r.ops[i].Kind == lockmodel.Read && r.ops[i].Value == r.ops[w.write].Value
		})
	}
	for _, i := range operations {
		if i == none {
			continue
		}
		witness = append(witness, i)
		for j := range r.writes {
			w := &r.writes[j]
			if w.write == i && r.ops[i].Outcome == history.Info && w.lastRead != none && !proven(w) {
				witness = append(witness, w.lastRead)
			}
			if w.write != none && r.ops[i].Kind == lockmodel.Read && r.ops[w.write].Value == r.ops[i].Value {
				witness = append(witness, w.write)
			}
		}
	}
	slices.Sort(witness)
	return &Verdict{Status: Illegal, Reason: why, Witness: slices.Compact(witness)}
}
