package linear

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// formula is a formula in conjunctive normal form: clauses of literals, v or -v for variables from 1 on.
type formula struct {
	variables int
	clauses   [][]int
}

// history is legal exactly if the formula can be satisfied. So to judge histories in which identities are reused after
// unknown outcomes is NP-hard: no special-purpose checker will cover them all.
//
// Each variable is an owner with two long holds, one for each literal, and one pair of an unknown acquire and an unknown
// release from before: with that it can cut one of its holds in two, which makes the literal true. Each clause is an owner
// with a short hold inside the long one of each of its literals, and one pair fewer than literals: so one of its
// holds stays whole, and needs a long hold that is cut.
func (f formula) history() []lockmodel.Op {
	var ops []lockmodel.Op
	add := func(owner int, kind lockmodel.Kind, call, done int64) {
		op := lockmodel.Op{Call: call, Return: done, Owner: int32(owner), Kind: kind, Outcome: ok}
		if done == lockmodel.Never {
			op.Outcome = info
		}
		ops = append(ops, op)
	}
	now := int64(0)
	pairs := func(owner, n int) {
		for range n {
			add(owner, lockmodel.Acquire, now, lockmodel.Never)
			add(owner, lockmodel.Release, now+1, lockmodel.Never)
			now += 2
		}
	}
	for v := range f.variables {
		pairs(v, 1)
	}
	for i, clause := range f.clauses {
		pairs(f.variables+i, len(clause)-1)
	}
	now += 100
	for v := 1; v <= f.variables; v++ {
		for _, literal := range []int{v, -v} {
			add(v-1, lockmodel.Acquire, now, now+10)
			add(v-1, lockmodel.Release, now+1000, now+1010)
			slot := now + 20
			for i, clause := range f.clauses {
				if slices.Contains(clause, literal) {
					add(f.variables+i, lockmodel.Acquire, now+2, slot)
					add(f.variables+i, lockmodel.Release, slot+5, now+1008)
					slot += 10
				}
			}
			now += 2000
		}
	}
	slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

func (f formula) satisfiable() bool {
	for assignment := range 1 << f.variables {
		satisfied := !slices.ContainsFunc(f.clauses, func(clause []int) bool {
			return !slices.ContainsFunc(clause, func(literal int) bool {
				v := max(literal, -literal)
				return assignment>>(v-1)&1 == 1 == (literal > 0)
			})
		})
		if satisfied {
			return true
		}
	}
	return false
}

func TestReusedIdentitiesAreHard(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	seen := map[bool]int{}
	for range 40 {
		f := formula{variables: 1 + rng.IntN(3)}
		for range 1 + rng.IntN(5) {
			var clause []int
			for _, v := range rng.Perm(f.variables)[:1+rng.IntN(f.variables)] {
				clause = append(clause, (v+1)*(1-2*rng.IntN(2)))
			}
			f.clauses = append(f.clauses, clause)
		}
		ops := f.history()
		if !wellFormed(ops) {
			t.Fatalf("%v gives an impossible history", f)
		}
		if v := Mutex(ops, lockmodel.Lenient); v.Status != Undecided || v.Reason != IdentityReuse {
			t.Fatalf("%v, reason %d: this is not for a special-purpose checker to say", v.Status, v.Reason)
		}
		v := Search(lockmodel.Mutex(lockmodel.Lenient), ops, Budget{Time: 2 * time.Second, Memory: 1 << 30})
		if v.Status == Undecided {
			continue
		}
		seen[v.Status == Legal]++
		if (v.Status == Legal) != f.satisfiable() {
			t.Fatalf("%v: %v", f, v.Status)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("nothing was shown: %v", seen)
	}
}
