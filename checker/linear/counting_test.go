package linear

import (
	"cmp"
	"slices"
	"testing"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// countingRivals are the locks that an owner may acquire several times.
func countingRivals() []rival {
	var all []rival
	for _, refusal := range []lockmodel.Refusal{lockmodel.Lenient, lockmodel.Strict} {
		name := map[lockmodel.Refusal]string{lockmodel.Lenient: "lenient", lockmodel.Strict: "strict"}[refusal]
		excused := func(ops []lockmodel.Op) bool {
			return goesOn(ops) || bool(refusal) && (unsure(ops) || intricate(ops))
		}
		both := func(ops []lockmodel.Op) bool { return excused(ops) || reusesIdentity(ops) }
		middle := func(ops []lockmodel.Op) bool { return excused(ops) || bool(refusal) && refuses(ops) }
		for _, limit := range []int32{0, 1, 2} {
			all = append(all,
				rival{name + " reentrant " + string('0'+limit), lockmodel.Reentrant(limit, refusal),
					func(ops []lockmodel.Op) Verdict { return Reentrant(ops, limit, refusal) }, drawCounting, both},
				rival{name + " reentrant fenced " + string('0'+limit), lockmodel.ReentrantFenced(limit, refusal),
					func(ops []lockmodel.Op) Verdict { return ReentrantFenced(ops, limit, refusal) }, drawCounting,
					func(ops []lockmodel.Op) bool { return both(ops) || unsure(ops) }})
		}
		for _, permits := range []int{1, 2, 3} {
			all = append(all, rival{name + " semaphore " + string(rune('0'+permits)), lockmodel.Semaphore(permits, refusal),
				func(ops []lockmodel.Op) Verdict { return Semaphore(ops, permits, refusal) }, drawCounting,
				func(ops []lockmodel.Op) bool {
					return permits == 1 && (reusesIdentity(ops) || intricate(ops)) || permits > 1 && middle(ops)
				}})
		}
	}
	return all
}

// goesOn tells whether an owner goes on after an unknown release, or needs an unknown acquire to have happened.
func goesOn(ops []lockmodel.Op) bool {
	count, maybe, spent := map[int32]int{}, map[int32]bool{}, map[int32]bool{}
	for i := range ops {
		op := &ops[i]
		if op.Outcome != info && spent[op.Owner] {
			return true
		}
		switch {
		case op.Outcome == info && op.Kind == lockmodel.Release:
			spent[op.Owner] = true
		case op.Outcome == info:
			maybe[op.Owner] = true
		case op.Outcome == fail:
		case op.Kind == lockmodel.Acquire:
			count[op.Owner]++
		case count[op.Owner] > 0:
			count[op.Owner]--
		case maybe[op.Owner]:
			return true
		}
	}
	return false
}

// unsure tells whether an owner does anything after an unknown acquire, or has one while it may hold.
func unsure(ops []lockmodel.Op) bool {
	for i := range ops {
		for j := range ops {
			same := ops[i].Owner == ops[j].Owner && i != j
			if same && ops[i].Kind == lockmodel.Acquire && ops[i].Outcome == info && (j > i || ops[j].Outcome != fail) {
				return true
			}
		}
	}
	return false
}

func refuses(ops []lockmodel.Op) bool {
	return slices.ContainsFunc(ops, func(op lockmodel.Op) bool { return op.Kind == lockmodel.Acquire && op.Outcome == fail })
}

// drawCounting draws a small history of a lock that counts: half as of other locks, half from an order that some such lock
// allows, with a few changes.
func drawCounting(d dice) []lockmodel.Op {
	if d.IntN(3) == 0 {
		return drawLocking(d)
	}
	for {
		ops := spoil(d, drawCounts(d))
		slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
		if wellFormed(ops) {
			return ops
		}
	}
}

func drawCounts(d dice) []lockmodel.Op {
	var ops []lockmodel.Op
	clients, permits, doubt := 1+d.IntN(4), 1+d.IntN(3), pick(d, 100, 12, 4)
	shared := d.IntN(2) == 0
	free, counts, done := make([]int64, clients), make([]int, clients), make([]bool, clients)
	fence, width, now := int64(0), pick(d, 2, 5, 12), int64(12)
	for range 3 + d.IntN(10) {
		now += 1 + int64(d.IntN(3))
		c := d.IntN(clients)
		if free[c] > now || done[c] {
			continue
		}
		op := lockmodel.Op{Owner: int32(c), Call: max(free[c], now-int64(d.IntN(width))), Outcome: ok}
		if counts[c] > 0 && d.IntN(2) == 0 || d.IntN(12) == 0 {
			op.Kind = lockmodel.Release
		}
		total := 0
		for i, n := range counts {
			if shared || i == c {
				total += n
			} else if n > 0 {
				total = permits
			}
		}
		switch {
		case op.Kind == lockmodel.Release && counts[c] > 0:
			counts[c]--
		case op.Kind == lockmodel.Acquire && total < permits:
			if counts[c] == 0 {
				fence++
			}
			counts[c]++
			if d.IntN(4) > 0 {
				op.Value = fence
			}
		default:
			op.Outcome = fail
		}
		op.Return = now + int64(d.IntN(width))
		free[c] = op.Return + 1
		if d.IntN(doubt) == 0 {
			op.Outcome, op.Return, op.Value = info, lockmodel.Never, 0
			free[c] = op.Call + 1
			done[c] = d.IntN(3) > 0
		}
		ops = append(ops, op)
	}
	return ops
}

func FuzzCounting(f *testing.F) {
	var names []string
	for _, r := range countingRivals() {
		names = append(names, r.name)
	}
	fuzz(f, names...)
}
