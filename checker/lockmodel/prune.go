package lockmodel

import "github.com/lockfault/lockfault/checker/history"

// Prune leaves out of a history of a lock with lenient refusals what cannot matter:
//
//   - refused acquires, which any state allows and which change none;
//   - all operations of owners of whom nothing is known to have succeeded. Whatever they may have held, they held instead
//     of others, and nothing needs it: without them the lock is free in more states, the grants and releases of others go
//     through as before (a fence that nobody knows raises nothing), and their own refused releases go with them.
//
// So what remains has a legal order if the whole has one. The converse holds as well: to a legal order of the rest, add
// each refused acquire anywhere, let the unknown operations do nothing, and add each refused release anywhere, since its
// owner never holds.
//
// Unknown outcomes are what makes the search exponential, and most are of owners who never came to anything.
func Prune(ops []Op) []Op {
	successful := make([]bool, Owners(ops))
	for i := range ops {
		if ops[i].Outcome == history.Ok {
			successful[ops[i].Owner] = true
		}
	}
	kept := make([]Op, 0, len(ops))
	for i := range ops {
		refused := ops[i].Kind == Acquire && ops[i].Outcome == history.Fail
		if successful[ops[i].Owner] && !refused {
			kept = append(kept, ops[i])
		}
	}
	return kept
}
