package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

var exclusion = Property{
	Name:  Exclusion,
	Claim: "No two clients believe that they hold the lock at one instant.",
	Judge: guard(judgeExclusion, nothingGranted),
	violation: func(c *Case) (int, bool) {
		_, second := overlap(holdsByLock(c))
		return 0, second != nil
	},
}

// hold is one belief together with its grant.
type hold struct {
	*Grant
	*Belief
}

// since is when what started the belief was invoked, for the acquire; an extension revives it at once.
func (h *hold) since() time.Duration {
	if h.Belief == &h.first {
		return h.Asked
	}
	return h.From
}

// judgeExclusion looks for two beliefs of different clients that overlap. A client does not conflict with itself: it may
// re-enter the lock.
func judgeExclusion(c *Case) Verdict {
	byLock := holdsByLock(c)
	if first, second := overlap(byLock); second != nil {
		// Dropping a whole hold keeps a legal history of a mutex legal. So if the two alone are illegal, all are.
		return confirm(overlapVerdict(c, first, second), Mutex(), c.mutexOperations([]*hold{first, second}))
	}
	v := held("%s, and no two clients believed at once", count(len(c.Grants)+c.past.grants, "grant"))
	for _, lock := range byLock {
		if 2*len(lock) > confirmOperations {
			continue
		}
		if v = confirm(v, Mutex(), c.mutexOperations(lock)); v.Status != Held {
			return v
		}
	}
	return v
}

// overlap finds the overlap that begins first on any lock.
func overlap(byLock [][]*hold) (first, second *hold) {
	for _, lock := range byLock {
		a, b := firstOverlap(lock)
		if b != nil && (second == nil || b.From < second.From || b.From == second.From && b.Done < second.Done) {
			first, second = a, b
		}
	}
	return first, second
}

// holdsByLock lists the beliefs on each lock by their start. A belief that is over when it starts (a careful client was
// handed an expired lease) is none.
func holdsByLock(c *Case) [][]*hold {
	holds := make([]hold, 0, len(c.Grants)+countRevived(c))
	perLock := map[name]int{}
	var order []name
	for i := range c.Grants {
		g := &c.Grants[i]
		n, seen := perLock[g.Lock]
		if !seen {
			order = append(order, g.Lock)
		}
		for b := range g.Beliefs() {
			if b.From < b.To {
				holds = append(holds, hold{g, b})
				n++
			}
		}
		perLock[g.Lock] = n
	}
	locks := make([][]*hold, len(order))
	place := make(map[name]int, len(order))
	for i, lock := range order {
		place[lock] = i
		locks[i] = make([]*hold, 0, perLock[lock])
	}
	for i := range holds {
		at := place[holds[i].Lock]
		locks[at] = append(locks[at], &holds[i])
	}
	byStart := func(a, b *hold) int { return cmp.Compare(a.From, b.From) }
	for _, holds := range locks {
		if !slices.IsSortedFunc(holds, byStart) {
			slices.SortStableFunc(holds, byStart)
		}
	}
	return locks
}

func countRevived(c *Case) int {
	n := 0
	for i := range c.Grants {
		n += c.Grants[i].revivals()
	}
	return n
}

// firstOverlap finds the first belief that starts while another client's lasts, and that other one; nil if there is
// none. Holds come by their start. It is the sweep over the cores of a mutex history, in O(n) after sorting (Gibbons and
// Korach 1997, "Testing shared memories", for the idea of zones). Only the longest belief so far can be in the way: if
// it is the same client's and another's lasts as well, those two overlap, and were found before.
func firstOverlap(holds []*hold) (earlier, later *hold) {
	var longest *hold
	for _, h := range holds {
		switch {
		case longest == nil:
			longest = h
		case h.From < longest.To && h.Client != longest.Client:
			return longest, h
		case h.To > longest.To:
			longest = h
		}
	}
	return nil, nil
}

func overlapVerdict(c *Case, first, second *hold) Verdict {
	stopped := c.pauseOf(first.Client, first.From, second.From)
	granted := say("granted at %s", at(c.ended(first.Call)))
	if first.Fence != 0 {
		granted = say("%s, fence %d", granted, first.Fence)
	}
	late := c.pauseOf(second.Client, second.since(), second.From)
	verb := "was granted"
	if second.Belief != &second.first {
		verb = "extended its lease again"
	}
	sentence := say("%s%s %s at %s while %s%s still believed (%s)",
		c.text(second.Client), during(late), verb, at(second.From), c.text(first.Client), during(stopped), granted)
	events := []int{int(first.Done), int(second.Done), int(first.Event)}
	if stopped != nil {
		events[2] = stopped.Event
	}
	if late != nil {
		events = append(events, late.Event)
	}
	return violated(sentence, events...)
}

// Mutex models what beliefs must be like: those of a lock that its holder may enter again.
func Mutex() porcupine.Model { return lockmodel.Reentrant(0, lockmodel.Lenient).Porcupine() }

// mutexOperations tells the beliefs as operations on a Mutex. An acquire takes effect between its call and its return; a
// release not before its holder stops to believe. Porcupine's intervals are closed, so a belief that ends when another
// starts is in order, as in the sweep.
func (c *Case) mutexOperations(holds []*hold) []porcupine.Operation {
	var last int64 // time of which the holds tell
	for _, h := range holds {
		last = max(last, int64(h.From))
		if h.To < forever {
			last = max(last, int64(h.To))
		}
	}
	ops := make([]lockmodel.Op, 0, 2*len(holds))
	for _, h := range holds {
		end := lockmodel.Never
		if h.Why == Released {
			end = int64(c.ended(h.Release))
		}
		op := lockmodel.Op{Owner: int32(h.Client), Outcome: history.Ok}
		op.Kind, op.Call, op.Return = lockmodel.Acquire, int64(h.since()), int64(h.From)
		ops = append(ops, op)
		op.Kind, op.Call, op.Return = lockmodel.Release, min(int64(h.To), last+1), end
		ops = append(ops, op)
	}
	return lockmodel.Operations(ops)
}
