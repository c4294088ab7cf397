// Package linear decides whether what clients saw of a lock, or of the data behind it, is linearizable: whether each
// operation can be given an instant between its call and its return, so that in the order of the instants the object
// behaves as lockmodel says (Herlihy and Wing 1990). Intervals are closed, as porcupine's are, so that operations of two
// clients that meet at one instant come in either order; those of one client come in its own.
//
// In general that takes exponential time (Gibbons and Korach 1997), and a search gives up just when a lock is broken: it has
// to try every order of everything that overlaps, and an operation with unknown outcome overlaps with all that follows. But
// the histories of locks have structure. What is decided without a search, if no owner does two things at once, n being the
// number of operations:
//
//		object            decided completely                          left to porcupine       time              argument
//		mutex, lenient    known outcomes; unknown ones under (1)      identities reused (2)   O(n log n)        Mutex
//		mutex, strict     the same, but for (3)                       (2), (3)                O(n log n), (4)   excuses
//		fenced            as mutex: the order of holds is forced      as mutex                as mutex          Fenced
//		reentrant         known outcomes; unknown ones under (5)      the rest                as mutex          Reentrant
//		reentrant fenced  the same                                    the rest                as mutex          Reentrant
//		semaphore         the same; with one permit, as mutex         the rest, and (6)       O(n log n)        Semaphore
//		fenced register   values written once, fences in order (7)    the rest                O(n log n)        FencedRegister
//		register          nothing                                     everything              exponential
//		counter           nothing                                     everything              exponential
//		inventory         nothing                                     everything              exponential
//
//	 1. No owner acquires after an operation with unknown outcome that nothing resolved. Clients get a fresh identity then.
//	 2. NP-complete, by reduction from satisfiability (TestReusedIdentitiesAreHard). Even so a history is found illegal
//	    if the other owners alone make it so.
//	 3. Refusals that only such an owner may excuse as was refused a release after an unknown one; gaps in which more than
//	    a few holds stand together that only their releases prove; and histories of which two holds began and ended at one
//	    instant. Rare: none in the benchmarks.
//	 4. Exponential only in the number of such holds that stand together where a refusal needs an excuse.
//	 5. An owner, which is the client here, does nothing after a release with unknown outcome, and needs no acquire with
//	    unknown outcome to have happened (see entries). A history is found illegal if the other owners alone make it so.
//	 6. Strict refusals at which it depends on the order whether all permits were held. That the lock may have refused, or
//	    cannot have, is decided where the holds for certain, or even all that are possible, tell (Semaphore).
//	 7. Writes of one fence, as of one holder, must be answered and must not overlap.
//
// Counters and inventories are always searched: where sections have unknown outcomes, the question is which amounts add up.
//
// Where a checker covers a history, one that is illegal never ends undecided, and has a witness: operations that are illegal
// by themselves, of which none can be left out (TestWitnessesAreMinimal: no hold with what ended it, no write with the
// reads of it, no refusal). Only with a refusal that lacks an excuse, more is told than it needs: the holds around it, which
// show that nobody held. That the arguments hold is tested against porcupine on millions of random histories (make
// check-slow), and the witnesses with them.
//
// Object.Check does it all: the special-purpose checker, then porcupine on what Prune leaves, within a Budget of time
// and memory. Where a client calls at the instant at which it was answered, porcupine is asked as well if the history
// has an order as the checkers see it, but none in which each call comes right after the answer that its client
// awaited.
package linear
