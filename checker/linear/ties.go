package linear

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// What a client does comes one after the other, also where its clock is too coarse to tell. Closed intervals alone would
// let it be granted a lock before it was refused it, if it asked again at the instant of the refusal. So a history is
// judged with its instants as they are, which allows too much, and with others, which allow too little; porcupine is asked
// where that makes a difference.

// ties tells for each operation the one that its client awaited until it called, if it called at that very instant, else
// none. It is nil if there is no such operation.
func ties(ops []lockmodel.Op) []int32 {
	var awaited []int32
	most := int32(0)
	for i := range ops {
		most = max(most, ops[i].Client)
	}
	latest := slices.Repeat([]int32{none}, int(most)+1) // by client, what it was answered last
	for i := range ops {
		op := &ops[i]
		if op.Client == 0 {
			continue
		}
		if before := latest[op.Client]; before != none && ops[before].Return == op.Call {
			if awaited == nil {
				awaited = slices.Repeat([]int32{none}, len(ops))
			}
			awaited[i] = before
		}
		if op.Return != lockmodel.Never {
			latest[op.Client] = int32(i)
		}
	}
	return awaited
}

// untied gives each call and each return an instant of its own. Of one instant, calls come in the order of the operations,
// each right behind the return that its client awaited, and what else returns comes after them. An order that is legal then
// is one in which what each client did comes one after the other; but there may be others.
func untied(ops []lockmodel.Op, awaited []int32) []lockmodel.Op {
	type edge struct {
		at      int64
		late    bool  // a return that no call waited for
		call    int32 // of the operation, or of that which waited for the return
		returns int32 // the operation, none if it is called
	}
	edges := make([]edge, 0, 2*len(ops))
	waits := slices.Repeat([]int32{none}, len(ops))
	for i, before := range slices.Backward(awaited) {
		if before != none {
			waits[before] = int32(i)
		}
	}
	for i := range ops {
		op := &ops[i]
		edges = append(edges, edge{op.Call, false, int32(i), none})
		if op.Return != lockmodel.Never {
			edges = append(edges, edge{op.Return, waits[i] == none, max(waits[i], int32(i)), int32(i)})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.at == b.at && a.late && !b.late:
			return 1
		case a.at == b.at && b.late && !a.late:
			return -1
		case a.at == b.at && a.call == b.call: // the return comes first
			return -cmp.Compare(a.returns, b.returns)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call))
	})
	apart := slices.Clone(ops)
	for instant, e := range edges {
		if e.returns != none {
			apart[e.returns].Return = int64(instant)
		} else {
			apart[e.call].Call = int64(instant)
		}
	}
	return apart
}

// ordered is a state of an object with what happened at the present instant that others awaited.
type ordered struct {
	state any
	now   int64           // the latest call of what happened: all that returned before it did
	done  []*lockmodel.Op // awaited, and not returned before it
}

// inOrder is the model in which the operations of one client come one after the other.
func inOrder(m porcupine.Model, ops []lockmodel.Op) porcupine.Model {
	awaited, awaiting := map[*lockmodel.Op]*lockmodel.Op{}, map[*lockmodel.Op]bool{}
	for i, before := range ties(ops) {
		if before != none {
			awaited[&ops[i]], awaiting[&ops[before]] = &ops[before], true
		}
	}
	if len(awaited) == 0 {
		return m
	}
	init, step, hash := m.Init, m.Step, m.Hash
	m.Init = func() any { return ordered{state: init()} }
	m.Step = func(state, in, out any) (bool, any) {
		was, op := state.(ordered), in.(*lockmodel.Op)
		if before := awaited[op]; before != nil && before.Return >= was.now && !slices.Contains(was.done, before) {
			return false, state
		}
		possible, next := step(was.state, in, out)
		is := ordered{state: next, now: max(was.now, op.Call)}
		for _, before := range was.done {
			if before.Return >= is.now {
				is.done = append(is.done, before)
			}
		}
		if awaiting[op] {
			is.done = append(is.done, op)
		}
		return possible, is
	}
	// What has happened tells what is done, so states need not be told apart by it.
	m.Equal = func(a, b any) bool { return a.(ordered).state == b.(ordered).state }
	if hash != nil {
		m.Hash = func(state any) uint64 { return hash(state.(ordered).state) }
	}
	describe := m.DescribeState
	m.DescribeState = func(state any) string { return describe(state.(ordered).state) }
	return m
}
