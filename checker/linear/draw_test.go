package linear

import (
	"cmp"
	"slices"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// dice draws what a random history is made of: *rand.Rand, rapid, or the bytes of a fuzzer.
type dice interface{ IntN(n int) int }

type rapidDice struct{ t *rapid.T }

func (d rapidDice) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "die") }

// fuzzDice takes each throw from the next byte; after the last all are 0.
type fuzzDice struct{ bytes []byte }

func (d *fuzzDice) IntN(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % n
}

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// drawLocking draws a small history of a lock: half are made from the shapes that owners can have, at random times; half
// from a legal order, with a few changes.
func drawLocking(d dice) []lockmodel.Op {
	for {
		var ops []lockmodel.Op
		if d.IntN(2) == 0 {
			ops = drawShapes(d)
		} else {
			ops = spoil(d, drawOrder(d))
		}
		slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
		if wellFormed(ops) {
			return ops
		}
	}
}

const (
	ok   = history.Ok
	fail = history.Fail
	info = history.Info
)

type step struct {
	kind    lockmodel.Kind
	outcome history.Type
}

var (
	aOk, aFail, aInfo = step{lockmodel.Acquire, ok}, step{lockmodel.Acquire, fail}, step{lockmodel.Acquire, info}
	rOk, rFail, rInfo = step{lockmodel.Release, ok}, step{lockmodel.Release, fail}, step{lockmodel.Release, info}
)

// shapes are what an owner can do, with all the ways in which an unknown outcome can be resolved or not.
var shapes = [][]step{
	{aOk, rOk}, {aOk, rOk, aOk, rOk}, {aOk}, {aOk, rInfo}, {aOk, rInfo, rOk}, {aOk, rInfo, rFail},
	{aOk, rInfo, rInfo, rFail}, {aOk, rInfo, aOk, rOk}, {aInfo, rOk}, {aInfo, rInfo, rOk}, {aInfo, rFail, rOk},
	{aInfo, rInfo, rFail, rOk}, {aInfo, rOk, rFail}, {aInfo, rOk, aOk, rOk}, {aInfo, rOk, aInfo, rOk}, {aInfo},
	{aInfo, rInfo}, {aInfo, rInfo, rFail}, {aInfo, rFail}, {aInfo, rFail, rInfo}, {aInfo, rInfo, rFail, rFail},
	{aInfo, rFail, rInfo, rFail}, {aFail, aOk, rOk}, {aFail, aInfo, rOk}, {aOk, rInfo, rFail, aOk, rOk},
	{aOk, rOk, aInfo, rOk}, {aOk, rOk, aInfo, rInfo}, {rInfo, aFail}, {rFail, aOk}, {aOk, rInfo, rOk, rFail},
}

func drawShapes(d dice) []lockmodel.Op {
	var ops []lockmodel.Op
	span := pick(d, 8, 14, 30, 60)
	owners := 1 + d.IntN(4)
	for owner := range owners {
		shape := shapes[d.IntN(len(shapes))]
		if d.IntN(6) == 0 { // anything at all, reused identities included
			shape = nil
			for range 1 + d.IntN(4) {
				shape = append(shape, pick(d, aOk, aFail, aInfo, rOk, rFail, rInfo))
			}
		}
		ops = append(ops, drawShape(d, int32(owner), shape, span)...)
	}
	for i := range d.IntN(4) {
		ops = append(ops, drawShape(d, int32(owners+i), []step{aFail}, span)...)
	}
	return ops
}

func drawShape(d dice, owner int32, shape []step, span int) []lockmodel.Op {
	var ops []lockmodel.Op
	now := int64(d.IntN(span))
	width := pick(d, 4, 4, span)
	for _, s := range shape {
		op := lockmodel.Op{Call: now, Return: lockmodel.Never, Owner: owner, Kind: s.kind, Outcome: s.outcome}
		if s.outcome == info {
			now += 1 + int64(d.IntN(3))
		} else {
			op.Return = now + int64(d.IntN(width))
			now = op.Return + 1 + int64(d.IntN(4))
		}
		if s == aOk {
			op.Value = int64(d.IntN(4))
		}
		ops = append(ops, op)
	}
	return ops
}

// drawOrder draws a legal order, and intervals around its instants. Most owners are replaced after an unknown outcome.
func drawOrder(d dice) []lockmodel.Op {
	var ops []lockmodel.Op
	clients := 1 + d.IntN(4)
	owners, free := make([]int32, clients), make([]int64, clients)
	for i := range owners {
		owners[i] = int32(i)
	}
	fresh, holder, fence := int32(clients), int32(-1), int64(0)
	width, doubt := pick(d, 2, 5, 12), pick(d, 12, 5, 2)
	now := int64(12)
	for range 3 + d.IntN(9) {
		now += 1 + int64(d.IntN(3))
		c := d.IntN(clients)
		if free[c] > now {
			continue
		}
		op := lockmodel.Op{Owner: owners[c], Call: max(free[c], now-int64(d.IntN(width))), Outcome: ok}
		if holder == op.Owner || d.IntN(8) == 0 {
			op.Kind = lockmodel.Release
		}
		unknown := d.IntN(doubt) == 0
		switch {
		case unknown && d.IntN(2) == 0:
		case op.Kind == lockmodel.Release && holder == op.Owner:
			holder = -1
		case op.Kind == lockmodel.Acquire && holder == -1:
			holder = op.Owner
			if fence++; d.IntN(4) > 0 && !unknown {
				op.Value = fence
			}
		default:
			op.Outcome = fail
		}
		op.Return = now + int64(d.IntN(width))
		free[c] = op.Return + 1
		if unknown {
			op.Outcome, op.Return = info, lockmodel.Never
			free[c] = op.Call + 1
			if d.IntN(3) > 0 {
				owners[c] = fresh
				fresh++
			}
		}
		ops = append(ops, op)
	}
	return ops
}

// spoil changes a few things.
func spoil(d dice, ops []lockmodel.Op) []lockmodel.Op {
	for range d.IntN(3) {
		if len(ops) == 0 {
			break
		}
		op := &ops[d.IntN(len(ops))]
		switch d.IntN(5) {
		case 0:
			if op.Outcome != info {
				op.Outcome = pick(d, ok, fail)
			}
		case 1:
			if op.Outcome != info {
				op.Outcome, op.Return, op.Value = info, lockmodel.Never, 0
			}
		case 2:
			if op.Outcome != info {
				op.Return = op.Call + int64(d.IntN(20))
			}
		case 3:
			op.Call = max(0, op.Call+int64(d.IntN(20)-10))
			op.Return = max(op.Call, op.Return)
		case 4:
			op.Owner = int32(d.IntN(6))
		}
	}
	return ops
}

// wellFormed tells whether each owner does one thing at a time.
func wellFormed(ops []lockmodel.Op) bool {
	busy := map[int32]int64{}
	for i := range ops {
		until, known := busy[ops[i].Owner]
		if known && ops[i].Call <= until {
			return false
		}
		busy[ops[i].Owner] = ops[i].Call
		if ops[i].Outcome != info {
			busy[ops[i].Owner] = ops[i].Return
		}
	}
	return true
}

// drawClose draws a small history of a lock in which an owner may do several things at one instant, as with a coarse clock,
// and in which leases may lapse while their owners wait for an answer.
func drawClose(d dice) []lockmodel.Op {
	draw := pick(d, drawShapes, drawOrder, drawCounts)
	ops := draw(d)
	if d.IntN(3) == 0 {
		ops = spoil(d, ops)
	}
	tick := pick(d, int64(1), 2, 4, 8)
	for i := range ops {
		ops[i].Call /= tick
		if ops[i].Return != lockmodel.Never {
			ops[i].Return /= tick
		}
	}
	for range d.IntN(3) {
		if op := ops[d.IntN(max(1, len(ops)))]; op.Return != lockmodel.Never {
			then := pick(d, op.Call, op.Return, op.Call+int64(d.IntN(int(op.Return-op.Call)+1)))
			ops = append(ops, lockmodel.Lapse(op.Owner, then))
		}
	}
	slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// drawAccesses draws a small history of a register that enforces fences.
func drawAccesses(d dice) []lockmodel.Op {
	var ops []lockmodel.Op
	var value, highest, fence int64
	width, doubt := pick(d, 2, 5, 12), pick(d, 100, 5, 2)
	now := int64(12)
	for i := range 2 + d.IntN(10) {
		now += int64(d.IntN(3))
		op := lockmodel.Op{Owner: int32(i), Call: now - int64(d.IntN(width)), Return: now + int64(d.IntN(width)), Outcome: ok}
		unknown, lost := d.IntN(doubt) == 0, d.IntN(2) == 0
		if d.IntN(2) == 0 {
			op.Kind, op.Value = lockmodel.Read, value
		} else {
			op.Kind, op.Value = lockmodel.Write, int64(i+1)
			fence += int64(pick(d, 0, 2, 2, 2, 2, 2, 2, 2))
			op.Arg = max(0, fence-int64(pick(d, 0, 0, 0, 0, 2, 3, 3, 5)))
			switch {
			case unknown && lost:
			case op.Arg >= highest:
				value, highest = op.Value, op.Arg
			default:
				op.Outcome = fail
			}
		}
		if unknown {
			op.Outcome, op.Return = info, lockmodel.Never
		}
		ops = append(ops, op)
	}
	for range d.IntN(3) {
		op := &ops[d.IntN(len(ops))]
		switch {
		case op.Kind == lockmodel.Read:
			op.Value = int64(d.IntN(8))
		case op.Outcome != info && d.IntN(2) == 0:
			op.Outcome = pick(d, ok, fail)
		case d.IntN(2) == 0:
			op.Arg = int64(d.IntN(12))
		}
		if op.Outcome != info {
			op.Return += int64(d.IntN(8))
		}
	}
	slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}
