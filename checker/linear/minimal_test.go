package linear

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// parts are what of a witness is left out at once: a refusal by itself; a hold with what gave it back, which without it
// would be wrong for another reason; a write with the reads of it, for the same reason.
func parts(ops []lockmodel.Op, witness []int32) [][]int32 {
	var all [][]int32
	holds := map[int32][]int{} // by owner: parts that began with an acquire
	given := map[int32]int{}   // how many of them were given back
	for _, i := range witness {
		op := &ops[i]
		switch {
		case op.Kind == lockmodel.Acquire && op.Outcome != fail:
			holds[op.Owner] = append(holds[op.Owner], len(all))
			all = append(all, []int32{i})
		case op.Kind == lockmodel.Release && op.Outcome != fail && len(holds[op.Owner]) > 0:
			n := holds[op.Owner]
			at := n[min(given[op.Owner], len(n)-1)]
			given[op.Owner]++
			all[at] = append(all[at], i)
		case op.Kind == lockmodel.Write:
			part := []int32{i}
			for _, j := range witness {
				if ops[j].Kind == lockmodel.Read && ops[j].Value == op.Value {
					part = append(part, j)
				}
			}
			all = append(all, part)
		default:
			all = append(all, []int32{i})
		}
	}
	return all
}

// A witness is as small as it can be: without any part of it, the rest does not show the same. Of a refusal what is
// around it is told although it would be wrong without that all the more; there, no refusal is too many.
func TestWitnessesAreMinimal(t *testing.T) {
	for k, r := range rivals() {
		t.Run(r.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(k), 9))
			for range histories(t, 2000) {
				ops := r.draw(rng)
				v := r.judge(ops)
				if v.Status != Illegal {
					continue
				}
				for _, part := range parts(ops, v.Witness) {
					refusal := ops[part[0]].Outcome == fail && ops[part[0]].Kind != lockmodel.Release
					if (v.Reason == RefusedFree || v.Reason == RefusedWrite) && !refusal {
						continue
					}
					rest := slices.DeleteFunc(slices.Clone(v.Witness), func(i int32) bool { return slices.Contains(part, i) })
					if w := r.judge(choose(ops, rest)); w.Status == Illegal && w.Reason == v.Reason {
						t.Fatalf("without %v of %v the rest shows the same (reason %d):\n%s", part, v.Witness, v.Reason, literal(choose(ops, v.Witness)))
					}
				}
			}
		})
	}
}
