package linear

import (
	"slices"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Reentrant decides whether a history of a mutex that its holder may enter again is legal: lockmodel.Reentrant.
// Operations come by their calls.
//
// An owner excludes the others from its first acquire to the release that gives back the last; what it does in between
// must only fit its own count. So the outermost acquires and releases are a history of a Mutex, which decides the rest.
//
// Complete for known outcomes, and for the unknown ones that entries covers.
func Reentrant(ops []lockmodel.Op, limit int32, refusal lockmodel.Refusal) Verdict {
	return outermost(ops, limit, refusal, Mutex, nil)
}

// ReentrantFenced decides the same of lockmodel.ReentrantFenced: the known fences within a hold must be the same, and grow
// from hold to hold.
func ReentrantFenced(ops []lockmodel.Op, limit int32, refusal lockmodel.Refusal) Verdict {
	return outermost(ops, limit, refusal, Fenced, func(e *entries, b *nest, i int32) {
		switch known := ops[i].Value; {
		case known == 0:
		case b.fenced == none:
			b.fenced = i
		case ops[b.fenced].Value != known:
			e.illegal(FenceOrder, b.fenced, i)
		}
	})
}

// nest is a hold with those within it.
type nest struct {
	acquire, release int32 // the outermost ones; release is none if there is none
	fenced           int32 // the first acquire in it whose fence is known
}

// outermost reduces a history to the outermost acquires and releases, and has it judged. It shows each acquire within a
// hold to follow.
func outermost(ops []lockmodel.Op, limit int32, refusal lockmodel.Refusal,
	judge func([]lockmodel.Op, lockmodel.Refusal) Verdict, follow func(*entries, *nest, int32)) Verdict {
	e := readEntries(ops, rules{limit: int(limit), fenced: follow != nil, strict: bool(refusal)})
	if e.wrong.Status == Illegal {
		return e.wrong
	}
	nests := e.nests(follow)
	if e.wrong.Status == Illegal {
		return e.wrong
	}
	if e.apart > 0 {
		refusal = lockmodel.Lenient // nothing is known of who excuses a refusal
	}
	outer, origin := e.outer(nests)
	v := judge(outer, refusal)
	switch {
	case v.Status == Illegal:
		v.Witness = witnessOf(v, origin, nests)
	case e.apart > 0:
		return *undecided(IdentityReuse)
	}
	return v
}

// nests finds the outermost holds. Entries come by their acquires, and what gives an owner's last one back ends the hold.
func (e *entries) nests(follow func(*entries, *nest, int32)) []nest {
	var nests []nest
	current := make([]int32, len(e.owners)) // 1 + place of the owner's latest
	for i := range e.entries {
		h := &e.entries[i]
		at := &current[e.ops[h.acquire].Owner]
		if *at == 0 || nests[*at-1].release != none && nests[*at-1].release < h.acquire {
			nests = append(nests, nest{acquire: h.acquire, release: none, fenced: none})
			*at = int32(len(nests))
		}
		b := &nests[*at-1]
		b.release = h.release // the latest, as those of an owner come in their order
		if follow != nil {
			follow(e, b, h.acquire)
		}
	}
	return nests
}

// outer tells the outermost holds, and what else matters, as operations on a mutex, with where each comes from.
func (e *entries) outer(nests []nest) (ops []lockmodel.Op, origin []int32) {
	fences := map[int32]int64{} // by acquire, those learned within the hold
	for i := range nests {
		b := &nests[i]
		origin = append(origin, b.acquire)
		if b.release != none {
			origin = append(origin, b.release)
		}
		if b.fenced != none && b.fenced != b.acquire {
			fences[b.acquire] = e.ops[b.fenced].Value
		}
	}
	origin = append(append(origin, e.refusals...), e.maybe...)
	slices.Sort(origin)
	for _, i := range origin {
		op := e.ops[i]
		if fence := fences[i]; fence != 0 {
			op.Value = fence
		}
		ops = append(ops, op)
	}
	return ops, origin
}

// witnessOf tells a witness among the outermost operations as operations of the history. If it is about fences, the acquire
// that tells its fence stands for the hold.
func witnessOf(v Verdict, origin []int32, nests []nest) []int32 {
	var all []int32
	for _, i := range v.Witness {
		all = append(all, origin[i])
		for j := 0; j < len(nests) && v.Reason == FenceOrder; j++ {
			if b := &nests[j]; b.acquire == origin[i] && b.fenced != none {
				all[len(all)-1] = b.fenced
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
