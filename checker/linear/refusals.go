package linear

import (
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// refusalsMax bounds how many refusals a witness is tried without.
const refusalsMax = 64

// fewestRefusals leaves those refusals out of a witness without which the others lack excuses all the same. The holds around
// them stay: without them even more would be wrong, but they show why nobody held.
func (j *Judge) fewestRefusals(v Verdict) Verdict {
	refused := func(i int32) bool {
		return j.ops[i].Kind == lockmodel.Acquire && j.ops[i].Outcome == history.Fail
	}
	var refusals []int32
	for _, i := range v.Witness {
		if refused(i) {
			refusals = append(refusals, i)
		}
	}
	if len(refusals) == 1 || len(refusals) > refusalsMax {
		return v
	}
	var again Judge
	for _, refusal := range refusals {
		var rest []lockmodel.Op
		var places []int32
		for _, i := range v.Witness {
			if i != refusal {
				rest, places = append(rest, j.ops[i]), append(places, i)
			}
		}
		if again.disjoint(rest, lockmodel.Strict) && again.placeTouches() && again.excuses.find(&again.blocks).Status == Illegal {
			v.Witness = slices.Clone(places)
		}
	}
	return v
}
