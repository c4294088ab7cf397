package linear

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Object is something whose histories can be decided, by a special-purpose checker, by porcupine, or by both.
type Object struct {
	Name  string
	Model lockmodel.Model
	Judge func([]lockmodel.Op) Verdict // in O(n log n); nil if there is none

	Lock      bool // it is acquired and released; else it is data
	Reentrant bool // an owner may acquire it again
	Sections  bool // it is data that a section changes in one step, by what it found
	Takes     bool // a write says how much to take
	Lenient   bool // it may refuse an acquire at any time
}

// Options are what the objects leave open.
type Options struct {
	Refusal lockmodel.Refusal
	Limit   int32 // of re-entry, 0 for none
	Permits int   // of a semaphore
	Stock   int64 // of an inventory
}

// Objects lists all there are.
func Objects(o Options) []Object {
	lock := func(m lockmodel.Model, judge func([]lockmodel.Op) Verdict) Object {
		return Object{Name: m.Name(), Model: m, Judge: judge, Lock: true, Lenient: o.Refusal == lockmodel.Lenient}
	}
	counting := func(m lockmodel.Model, judge func([]lockmodel.Op) Verdict) Object {
		object := lock(m, judge)
		object.Reentrant = true
		return object
	}
	data := func(m lockmodel.Model, judge func([]lockmodel.Op) Verdict) Object {
		return Object{Name: m.Name(), Model: m, Judge: judge}
	}
	sections := func(m lockmodel.Model, takes bool) Object {
		return Object{Name: m.Name(), Model: m, Sections: true, Takes: takes}
	}
	return []Object{
		lock(lockmodel.Mutex(o.Refusal), func(ops []lockmodel.Op) Verdict { return Mutex(ops, o.Refusal) }),
		counting(lockmodel.Reentrant(o.Limit, o.Refusal), func(ops []lockmodel.Op) Verdict { return Reentrant(ops, o.Limit, o.Refusal) }),
		lock(lockmodel.Fenced(o.Refusal), func(ops []lockmodel.Op) Verdict { return Fenced(ops, o.Refusal) }),
		counting(lockmodel.ReentrantFenced(o.Limit, o.Refusal), func(ops []lockmodel.Op) Verdict {
			return ReentrantFenced(ops, o.Limit, o.Refusal)
		}),
		counting(lockmodel.Semaphore(o.Permits, o.Refusal), func(ops []lockmodel.Op) Verdict {
			return Semaphore(ops, o.Permits, o.Refusal)
		}),
		data(lockmodel.Register(), nil),
		data(lockmodel.FencedRegister(), FencedRegister),
		sections(lockmodel.Counter(), false),
		sections(lockmodel.Inventory(o.Stock), true),
	}
}

// Find returns the object of a name.
func Find(name string, o Options) (Object, bool) {
	for _, object := range Objects(o) {
		if object.Name == name {
			return object, true
		}
	}
	return Object{}, false
}

// Check decides a history, whose operations come by their calls, and those of one client in their order: by the
// special-purpose checker where that covers it, else by porcupine within the budget.
func (o Object) Check(ops []lockmodel.Op, budget Budget) Verdict {
	var judged Verdict
	if o.Judge != nil {
		var sure bool
		if judged, sure = o.judge(ops); sure {
			return judged
		}
	}
	searched := ops
	if o.Lenient {
		searched = lockmodel.Prune(ops)
	}
	start := time.Now()
	v := Search(o.Model, searched, budget)
	if v.Status != Illegal {
		return v
	}
	if budget.Time > 0 {
		budget.Time = max(time.Millisecond, budget.Time-time.Since(start))
	}
	switch {
	case judged.Status == Illegal && Search(o.Model, choose(ops, judged.Witness), budget).Status == Illegal:
		return judged
	case o.Lenient:
		v.Witness = o.fewestOwners(ops, budget)
	}
	return v
}

// judge asks the special-purpose checker, and tells whether its answer is sure: that a history is illegal is not, if it
// depends on what came first at one instant.
func (o Object) judge(ops []lockmodel.Op) (v Verdict, sure bool) {
	v = o.Judge(ops)
	if awaited := ties(ops); awaited != nil && v.Status != Illegal {
		v = o.Judge(untied(ops, awaited))
		return v, v.Status == Legal
	}
	return v, v.Status != Undecided
}

func choose(ops []lockmodel.Op, which []int32) []lockmodel.Op {
	var chosen []lockmodel.Op
	for _, i := range which {
		chosen = append(chosen, ops[i])
	}
	return chosen
}

// fewestOwners finds owners of a lock with lenient refusals whose operations are illegal by themselves, none of whom can be
// left out: what an owner held it held instead of others, so to leave it out keeps a legal history legal. It stops
// when the budget is used up, with those that are left then.
func (o Object) fewestOwners(ops []lockmodel.Op, budget Budget) []int32 {
	left := make([]bool, lockmodel.Owners(ops))
	matters := func(op *lockmodel.Op) bool {
		return !left[op.Owner] && (op.Kind != lockmodel.Acquire || op.Outcome != history.Fail)
	}
	deadline := time.Now().Add(budget.Time)
	for owner := range left {
		if budget.Time > 0 && time.Now().After(deadline) {
			break
		}
		left[owner] = true
		var rest []lockmodel.Op
		for i := range ops {
			if matters(&ops[i]) {
				rest = append(rest, ops[i])
			}
		}
		left[owner] = Search(o.Model, rest, budget).Status == Illegal
	}
	var witness []int32
	for i := range ops {
		if matters(&ops[i]) {
			witness = append(witness, int32(i))
		}
	}
	return witness
}
