package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
)

var exclusion = Property{
	Name:  Exclusion,
	Claim: "No two clients believe that they hold the lock at one instant.",
	Judge: guard(judgeExclusion, nothingGranted),
}

// hold is one belief together with its grant.
type hold struct {
	*Grant
	Belief
}

// judgeExclusion looks for two beliefs of different clients that overlap. A client does not conflict with itself: it may
// re-enter the lock.
func judgeExclusion(c *Case) Verdict {
	var first, second *hold
	byLock := holdsByLock(c)
	for _, lock := range byLock {
		if a, b := firstOverlap(lock); b != nil && (second == nil || b.From < second.From) {
			first, second = a, b
		}
	}
	if second != nil {
		// Dropping a whole hold keeps a legal history of a mutex legal. So if the two alone are illegal, all are.
		return confirm(overlapVerdict(c, first, second), Mutex(), mutexOperations([]*hold{first, second}))
	}
	v := held("%s, and no two clients believed at once", count(len(c.Grants), "grant"))
	for _, lock := range byLock {
		if v = confirm(v, Mutex(), mutexOperations(lock)); v.Status != Held {
			return v
		}
	}
	return v
}

// holdsByLock lists the beliefs on each lock by their start. A belief that is over when it starts (a careful client was
// handed an expired lease) is none.
func holdsByLock(c *Case) [][]*hold {
	index := map[string]int{}
	var locks [][]*hold
	for _, g := range c.Grants {
		i, ok := index[g.Lock]
		if !ok {
			i = len(locks)
			index[g.Lock] = i
			locks = append(locks, nil)
		}
		for _, b := range g.Beliefs {
			if b.From < b.To {
				locks[i] = append(locks[i], &hold{g, b})
			}
		}
	}
	for _, holds := range locks {
		slices.SortStableFunc(holds, func(a, b *hold) int { return cmp.Compare(a.From, b.From) })
	}
	return locks
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
	granted := "granted at " + at(first.Call.Ended)
	if first.Fence != 0 {
		granted += fmt.Sprintf(", fence %d", first.Fence)
	}
	late := c.pauseOf(second.Client, second.Asked, second.From)
	verb := "was granted"
	if second.From != second.Call.Ended {
		verb = "extended its lease again"
	}
	subject := second.Client + during(late)
	sentence := fmt.Sprintf("%s %s at %s while %s%s still believed (%s)",
		subject, verb, at(second.From), first.Client, during(stopped), granted)
	events := []int{first.Call.Done, second.Call.Done, first.Event}
	if stopped != nil {
		events[2] = stopped.Event
	}
	if late != nil {
		events = append(events, late.Event)
	}
	return violated(sentence, events...)
}

// mutexOperations tells the beliefs as operations on a Mutex. An acquire takes effect between its call and its return; a
// release not before its holder stops to believe. Porcupine's intervals are closed, so a belief that ends when another
// starts is in order, as in the sweep.
func mutexOperations(holds []*hold) []porcupine.Operation {
	var operations []porcupine.Operation
	for i, h := range holds {
		end := forever
		if h.Why == Released {
			end = h.Release.Ended
		}
		operations = append(operations,
			porcupine.Operation{ClientId: i, Input: MutexStep{history.Acquire, h.Client}, Call: int64(h.Asked), Return: int64(h.From)},
			porcupine.Operation{ClientId: i, Input: MutexStep{history.Release, h.Client}, Call: int64(h.To), Return: int64(end)},
		)
	}
	return operations
}
