package linear

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// told reads operations written for people: "owner op outcome call-return", such as "0 acquire ok 1-2" or "0 release info 3",
// with ", fence N" behind.
func told(t *testing.T, text string) []lockmodel.Op {
	t.Helper()
	var ops []lockmodel.Op
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var op lockmodel.Op
		var kind, outcome, span string
		if _, err := fmt.Sscan(line, &op.Owner, &kind, &outcome, &span); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if kind == "release" {
			op.Kind = lockmodel.Release
		}
		if err := op.Outcome.UnmarshalText([]byte(outcome)); err != nil {
			t.Fatal(err)
		}
		op.Return = lockmodel.Never
		if n, _ := fmt.Sscanf(span, "%d-%d", &op.Call, &op.Return); n == 0 {
			t.Fatalf("%q: no time", line)
		}
		if _, fence, found := strings.Cut(line, "fence "); found {
			fmt.Sscan(fence, &op.Value)
		}
		ops = append(ops, op)
	}
	slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// Traps into which checkers of locks have fallen, and minimised disagreements found while this one was written.
func TestMutexLaws(t *testing.T) {
	strict, lenient := lockmodel.Strict, lockmodel.Lenient
	for _, l := range []struct {
		name    string
		refusal lockmodel.Refusal
		ops     string
		want    Status
		reason  Reason
	}{
		// Maelstrom, pull request 36: the order of the answers is not the order of the lock.
		{"a release that is answered late", lenient, "0 acquire ok 0-1 \n 0 release ok 2-9 \n 1 acquire ok 3-4 \n 1 release ok 5-6", Legal, None},
		{"a release that is called late", lenient, "0 acquire ok 0-1 \n 0 release ok 5-6 \n 1 acquire ok 2-4 \n 1 release ok 7-8", Illegal, Overlap},
		{"hand-over at one instant", lenient, "0 acquire ok 0-1 \n 0 release ok 5-6 \n 1 acquire ok 2-5", Legal, None},
		{"a hold without length", lenient, "0 acquire ok 0-5 \n 0 release ok 5-6 \n 1 acquire ok 2-5 \n 1 release ok 9-9", Legal, None},
		{"released by another", lenient, "0 acquire ok 0-1 \n 1 release ok 2-3", Illegal, ReleasedNone},
		{"refused its release", lenient, "0 acquire ok 0-1 \n 0 release fail 2-3", Illegal, RefusedRelease},
		{"not reentrant", lenient, "0 acquire ok 0-1 \n 0 acquire ok 2-3", Illegal, Reacquired},
		{"an unknown release may have happened", lenient, "0 acquire ok 0-1 \n 0 release info 2 \n 1 acquire ok 3-4", Legal, None},
		{"but not before it was called", lenient, "0 acquire ok 0-1 \n 0 release info 4 \n 1 acquire ok 2-3", Illegal, Overlap},
		{"an unknown release that a later one disproves", lenient, "0 acquire ok 0-1 \n 0 release info 2 \n 0 release ok 6-7 \n 1 acquire ok 3-4", Illegal, Overlap},
		{"an unknown release that a refusal proves", lenient, "0 acquire ok 0-1 \n 0 release info 2 \n 0 release fail 6-7 \n 1 acquire ok 3-4", Legal, None},
		{"an unknown acquire may never have happened", lenient, "0 acquire info 0 \n 1 acquire ok 1-2", Legal, None},
		{"an unknown acquire that its release proves", lenient, "1 acquire ok 0-1 \n 0 acquire info 2 \n 0 release ok 3-4 \n 1 release ok 5-6", Illegal, NoRoom},
		{"refused for nothing", strict, "0 acquire fail 0-1", Illegal, RefusedFree},
		{"refused for nothing, leniently", lenient, "0 acquire fail 0-1", Legal, None},
		{"refused because of a ghost", strict, "0 acquire info 0 \n 1 acquire fail 1-2", Legal, None},
		{"one ghost for two refusals apart", strict, "0 acquire info 0 \n 1 acquire fail 1-2 \n 2 acquire ok 3-4 \n 2 release ok 5-6 \n 1 acquire fail 7-8", Illegal, RefusedFree},
		// "A touch not yet placed is better than one placed" is not true: one forced late cuts its left neighbour.
		{"a touch cuts its neighbour", strict, "0 acquire ok 0-1 \n 0 release ok 2-20 \n 1 acquire info 1 \n 1 release ok 5-6 \n 2 acquire fail 8-9", Illegal, RefusedFree},
		// Found by the search for disagreements: what a witness needs.
		{"a touch that a refused release puts off", strict, "0 acquire info 3 \n 3 acquire fail 3-5 \n 0 release fail 7-7 \n 0 release ok 10-11", Illegal, RefusedFree},
		{"the refusal that is left", strict, "1 acquire info 1 \n 5 acquire fail 1-1 \n 1 release ok 2-2 \n 2 acquire fail 6-8", Illegal, RefusedFree},
		{"a refusal in one gap or another in the next", strict, "1 acquire info 12 \n 1 release ok 14-32 \n 2 acquire fail 19-21 \n 0 acquire ok 23-23 \n 0 release ok 25-25 \n 4 acquire fail 26-29", Illegal, RefusedFree},
		{"an owner that acquires again after an unknown acquire", lenient, "0 acquire info 0 \n 0 acquire ok 1-2", Undecided, IdentityReuse},
		{"but the others overlap", lenient, "0 acquire info 0 \n 0 acquire ok 1-2 \n 1 acquire ok 3-4 \n 2 acquire ok 5-6", Illegal, Overlap},
	} {
		t.Run(l.name, func(t *testing.T) {
			ops := told(t, l.ops)
			v := Mutex(ops, l.refusal)
			if v.Status != l.want || v.Reason != l.reason {
				t.Fatalf("%v, reason %d; want %v, reason %d", v.Status, v.Reason, l.want, l.reason)
			}
			model := lockmodel.Mutex(l.refusal).Porcupine()
			if v.Status == Illegal && porcupine.CheckOperations(model, lockmodel.Operations(choose(ops, v.Witness))) {
				t.Errorf("the witness %v does not show it", v.Witness)
			}
		})
	}
}

func TestFencesGrowFromHoldToHold(t *testing.T) {
	for text, want := range map[string]Status{
		"0 acquire ok 0-1, fence 5 \n 0 release ok 2-3 \n 1 acquire ok 4-5, fence 6":                                         Legal,
		"0 acquire ok 0-1, fence 5 \n 0 release ok 2-3 \n 1 acquire ok 4-5, fence 5":                                         Illegal,
		"0 acquire ok 0-1, fence 5 \n 0 release ok 2-3 \n 1 acquire ok 4-5 \n 1 release ok 6-7":                              Legal,
		"0 acquire ok 0-1, fence 5 \n 0 release ok 2-3 \n 1 acquire ok 4-5 \n 1 release ok 6-7 \n 2 acquire ok 8-9, fence 4": Illegal,
	} {
		if v := Fenced(told(t, text), lockmodel.Lenient); v.Status != want {
			t.Errorf("%v, want %v:\n%s", v.Status, want, text)
		}
	}
}

// Definite histories in which owners do several things at one instant.
func TestTiesWithinAnOwner(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	model := lockmodel.Mutex(lockmodel.Lenient)
	for range histories(t, 5000) {
		var ops []lockmodel.Op
		for owner := range 1 + rng.IntN(3) {
			now := int64(rng.IntN(5))
			for i := range 2 * (1 + rng.IntN(2)) {
				then := now + int64(rng.IntN(3))
				ops = append(ops, lockmodel.Op{Call: now, Return: then, Owner: int32(owner), Kind: lockmodel.Kind(i % 2), Outcome: ok})
				now = then + int64(rng.IntN(3))
			}
		}
		slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
		legal := porcupine.CheckOperations(model.Porcupine(), lockmodel.Operations(ops))
		if v := Mutex(ops, lockmodel.Lenient); (v.Status == Legal) != legal {
			t.Fatalf("%v, porcupine says legal %v\n%s", v.Status, legal, literal(ops))
		}
	}
}

// oneByOne is a model for porcupine in which what one and the same did at one instant happened in the order of the
// operations, which closed intervals do not tell. Lapses await nothing.
func oneByOne(m porcupine.Model, ops []lockmodel.Op, same func(a, b *lockmodel.Op) bool) porcupine.Model {
	before := map[any]uint64{} // by operation, those that come before it
	place := map[any]int{}
	for i := range ops {
		op := &ops[i]
		place[op] = i
		for j := range i {
			p := &ops[j]
			lapse := op.Kind == lockmodel.Release && op.Outcome == info
			if same(p, op) && p.Return == op.Call && !lapse {
				before[op] |= 1 << j
			}
		}
	}
	type counted struct {
		state any
		done  uint64
	}
	init, step := m.Init, m.Step
	m.Init = func() any { return counted{state: init()} }
	m.Hash, m.Equal = nil, nil
	m.Step = func(state, in, out any) (bool, any) {
		now := state.(counted)
		if now.done&before[in] != before[in] {
			return false, state
		}
		if i, known := place[in]; known {
			now.done |= 1 << i
		}
		possible, next := step(now.state, in, out)
		return possible, counted{next, now.done}
	}
	return m
}

func sameOwner(a, b *lockmodel.Op) bool { return a.Owner == b.Owner }

// Where an owner does several things at one instant, or its lease lapses while it waits for an answer, a verdict may be
// left to porcupine. It must never be wrong: what is called legal is so to porcupine, and what is called illegal is so if
// an owner's operations come in their order.
func TestTiesAndLapsesMisleadNobody(t *testing.T) {
	for k, r := range rivals() {
		if r.name == "fenced register" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(k), 13))
			seen := map[Status]int{}
			wrong := func(ops []lockmodel.Op) bool {
				switch m := r.model.Porcupine(); r.judge(ops).Status {
				case Legal:
					return !porcupine.CheckOperations(m, lockmodel.Operations(ops))
				case Illegal:
					return porcupine.CheckOperations(oneByOne(m, ops, sameOwner), lockmodel.Operations(ops))
				}
				return false
			}
			for range histories(t, 3000) {
				ops := drawClose(rng)
				seen[r.judge(ops).Status]++
				if !wrong(ops) {
					continue
				}
				for i := 0; i < len(ops); i++ {
					if fewer := slices.Delete(slices.Clone(ops), i, i+1); wrong(fewer) {
						ops, i = fewer, -1
					}
				}
				t.Fatalf("%v (reason %d)\n%s", r.judge(ops).Status, r.judge(ops).Reason, literal(ops))
			}
			if seen[Legal] == 0 || seen[Illegal] == 0 {
				t.Errorf("nothing was decided: %v", seen)
			}
			t.Log(seen)
		})
	}
}

func TestBudgetsEndASearch(t *testing.T) {
	ops := traffic{clients: 20, ops: 20_000, doubt: 0.1, seed: 1}.generate()
	if !violate(ops) {
		t.Fatal("no place for a violation")
	}
	model := lockmodel.Mutex(lockmodel.Lenient)
	start := time.Now()
	if v := Search(model, ops, Budget{Time: 50 * time.Millisecond}); v.Status != Undecided || v.Reason != OutOfTime {
		t.Errorf("without time: %v, reason %d", v.Status, v.Reason)
	}
	if v := Search(model, ops, Budget{Time: time.Minute, Memory: 16 << 20}); v.Status != Undecided || v.Reason != OutOfMemory {
		t.Errorf("without memory: %v, reason %d", v.Status, v.Reason)
	}
	if spent := time.Since(start); spent > 30*time.Second {
		t.Errorf("the budgets were overdrawn: %v", spent)
	}
	if v := Mutex(ops, lockmodel.Lenient); v.Status != Illegal || v.Reason != Overlap {
		t.Errorf("the special-purpose checker says %v, reason %d", v.Status, v.Reason)
	}
}

func TestObjectsSearchWhatNothingElseCovers(t *testing.T) {
	object, found := Find("reentrant", Options{Limit: 2})
	if !found {
		t.Fatal("no reentrant lock")
	}
	ops := told(t, `
		0 acquire ok 0-1
		0 release info 2
		0 acquire ok 3-4
		3 acquire info 4
		0 release ok 5-6
		1 acquire ok 7-8
		2 acquire fail 8-9
		0 acquire ok 20-21`)
	if v := object.Judge(ops); v.Status != Undecided || v.Reason != IdentityReuse {
		t.Errorf("who goes on after an unknown release is %v, reason %d", v.Status, v.Reason)
	}
	v := object.Check(ops, DefaultBudget)
	if v.Status != Illegal || v.Reason != Searched || !slices.Equal(v.Witness, []int32{0, 1, 2, 4, 5, 7}) {
		t.Errorf("%v, reason %d, witness %v; want all that the two did who were granted it", v.Status, v.Reason, v.Witness)
	}
	reused := told(t, "0 acquire info 0 \n 0 acquire ok 1-2 \n 1 acquire ok 3-4")
	mutex, _ := Find("mutex", Options{})
	if v := mutex.Check(reused, DefaultBudget); v.Status != Illegal || v.Reason != Searched {
		t.Errorf("a reused identity gives %v, reason %d", v.Status, v.Reason)
	}
	if _, found := Find("spinlock", Options{}); found {
		t.Error("found an object that does not exist")
	}
}
