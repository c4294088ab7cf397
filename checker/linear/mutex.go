package linear

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Mutex decides whether a history of a lock that knows its owner, and cannot be entered again, is legal:
// lockmodel.Mutex. Operations come by their calls.
//
// Holds whose acquire is known to have succeeded have a core, from the acquire's return to the release's call. To start
// as late and to end as early as possible is best for all holds at once, so without refusals the history is legal
// exactly if the cores are disjoint and each hold that only its release proves finds an instant outside of them. The
// order of the cores is forced (zones of Gibbons and Korach 1997, "Testing shared memories"), but for holds whose acquire
// returned at the instant at which their release was called: those of one instant can come in any order, of which that
// by their fences is the best. That is O(n log n), and O(n) if the cores come in order.
//
// With strict refusals each refused acquire needs an instant at which somebody holds. Each hold may now reach from
// its acquire's call to its release's return, as far as its neighbours allow: see excuses. Which neighbours those are must
// be forced: with two holds that began and ended at one instant, it is left Undecided.
//
// Complete where each owner does one thing after the other: for operations with known outcome, and for unknown ones if no
// owner acquires after an unresolved one, nor, with unknown outcome, while it holds; that is why clients get a fresh
// identity then. Without that rule the question is NP-complete (see TestReusedIdentitiesAreHard). A history in which
// owners do otherwise is Illegal if the others alone make it so, else Undecided.
func Mutex(ops []lockmodel.Op, refusal lockmodel.Refusal) Verdict {
	return new(Judge).Mutex(ops, refusal)
}

// Fenced decides the same of lockmodel.Fenced: in the forced order of the holds, the fences that are known must grow.
// Those that are not known change nothing.
func Fenced(ops []lockmodel.Op, refusal lockmodel.Refusal) Verdict {
	return new(Judge).Fenced(ops, refusal)
}

// Judge keeps its memory from one history to the next. Not safe for concurrent use.
type Judge struct {
	blocks
	excuses excuses
	tied    bool // some holds began and ended at the same instant
}

// Mutex is the function of that name.
func (j *Judge) Mutex(ops []lockmodel.Op, refusal lockmodel.Refusal) Verdict {
	if !j.disjoint(ops, refusal) {
		return j.wrong
	}
	return j.rests()
}

// Fenced is the function of that name.
func (j *Judge) Fenced(ops []lockmodel.Op, refusal lockmodel.Refusal) Verdict {
	if !j.disjoint(ops, refusal) {
		return j.wrong
	}
	if j.tied {
		slices.SortStableFunc(j.holds, func(a, b hold) int {
			return cmp.Or(byGrant(a, b), cmp.Compare(ops[a.acquire].Value, ops[b.acquire].Value))
		})
	}
	var highest *hold
	for i := range j.holds {
		h := &j.holds[i]
		switch fence := ops[h.acquire].Value; {
		case fence == 0:
		case highest != nil && fence <= ops[highest.acquire].Value:
			j.illegal(FenceOrder, append(highest.events(), h.acquire)...)
			return j.wrong
		default:
			highest = h
		}
	}
	return j.rests()
}

// disjoint takes the history apart and tells whether the cores of its holds are disjoint.
func (j *Judge) disjoint(ops []lockmodel.Op, refusal lockmodel.Refusal) bool {
	if j.read(ops, refusal); j.wrong.Status == Illegal {
		return false
	}
	if !slices.IsSortedFunc(j.holds, byGrant) {
		slices.SortFunc(j.holds, byGrant)
	}
	j.tied = false
	for i := 1; i < len(j.holds); i++ {
		a, b := &j.holds[i-1], &j.holds[i]
		if a.held > b.granted {
			j.illegal(Overlap, slices.Concat(a.events(), b.events())...)
			return false
		}
		j.tied = j.tied || a.granted == b.granted && a.held == b.held
	}
	return true
}

// byGrant puts a hold that began and ended at one instant before one that began at that instant and lasted.
func byGrant(a, b hold) int {
	if a.granted != b.granted {
		return cmp.Compare(a.granted, b.granted)
	}
	return cmp.Compare(a.held, b.held)
}

// rests decides what is left once the cores are known to be disjoint.
func (j *Judge) rests() Verdict {
	if !j.placeTouches() {
		return j.wrong
	}
	if len(j.refusals) > 0 {
		if j.tied {
			return *undecided(Intricate)
		}
		switch v := j.excuses.find(&j.blocks); v.Status {
		case Illegal:
			return j.fewestRefusals(v)
		case Undecided:
			return v
		}
	}
	if j.apart > 0 {
		return *undecided(IdentityReuse)
	}
	return Verdict{Status: Legal}
}

// placeTouches finds the gaps that each touch can be in. Gap g lies before hold g and after hold g-1; the last is open.
func (b *blocks) placeTouches() bool {
	g := 0
	for i := range b.touches { // by their releases' calls
		t := &b.touches[i]
		for g < len(b.holds) && b.gapEnd(g) < t.from {
			g++
		}
		if b.gapStart(g) > t.to {
			b.illegal(NoRoom, append(b.holds[g-1].events(), t.acquire, t.release)...)
			return false
		}
		last := g
		for last < len(b.holds) && b.gapStart(last+1) < t.to {
			last++
		}
		t.first, t.last = int32(g), int32(last)
	}
	return true
}

func (b *blocks) gapStart(g int) int64 {
	if g == 0 {
		return always
	}
	return b.holds[g-1].held
}

func (b *blocks) gapEnd(g int) int64 {
	if g == len(b.holds) {
		return never
	}
	return b.holds[g].granted
}

// events are the operations of a hold that a witness needs: those between which it lasts.
func (h *hold) events() []int32 {
	if h.release == none {
		return []int32{h.acquire}
	}
	return []int32{h.acquire, h.release}
}
