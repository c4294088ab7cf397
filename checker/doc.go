// Package checker judges histories. It runs nothing and knows no expectation: a verdict comes from the events alone.
//
// A history is digested once (NewCase) and then judged by each Property. How the properties that a history of any size is
// judged by are decided, n being the number of events:
//
//		property            decides completely                                  leaves to porcupine   time                          in a Stream (2)
//		exclusion           beliefs of clients, which have no unknown outcome   nothing (1)           O(n log n), O(n) in order     yes
//		effects             sections as atomic steps of all the data            nothing (1)           O(n), O(n log n) (3)          no
//		fence-order         fences that are known                               nothing               O(n log n), O(n) if they grow yes
//		fence-enforcement   the resource's own log                              nothing               O(n)                          yes
//		linearizable-...    see package linear                                  see package linear    O(n log n), or a search       no
//
//	 1. Asked for a second opinion where the history is small enough; a disagreement decides nothing.
//	 2. In memory that grows with what is open: calls, leases, the pieces of data and, for fence-order, the locks and the
//	    grants since the acquire was asked for that is open longest; and with the faults. Not where a client checks its
//	    lease, but for fence-enforcement: what it believed depends on what it does later.
//	 3. The latter where sections begin with a write, or overlap and use several pieces of data.
//
// The arguments: exclusion by the sweep over the cores of holds (firstOverlap; after Gibbons and Korach 1997); effects by
// two rules that hold exactly if sections are conflict-serialisable in each piece of data (judgeEffects; Papadimitriou 1979)
// and, over several, by the graph of what must come before what, time included, which has no cycle exactly if all sections
// have one order (order; Kahn 1962); fence order by the greatest fence returned so far (judgeFenceOrder); fence enforcement
// needs none. Belief, what the resource applied and what fence was granted are known, so no unknown outcome leaves any of
// them undecided. Each is compared with porcupine, and effects also with the transitive closure of the conflicts, on random
// histories. All four together take less than 100 bytes for each operation of a client on top of the events (BenchmarkJudge).
//
// A model of the data behind the lock is held against what its clients saw: each read and write of a register by itself; of
// a counter or an inventory each section as one step, from its first access to its last, in which it adds what it wrote
// beyond what it had found, or takes what it wrote, and in which each further read finds what the section has left. What a
// client does under no lease stands alone, each access by itself. What a section added that wrote without having read is not
// known, so a counter's history with one is undecided; a write that was refused is none. Where a client did something else
// to the data, or used what is no number, every model of it is undecided.
//
// The other properties (ownership, expiry, progress, availability) weigh what else may explain an outcome. Some of them
// compare each operation with all others: they are meant for histories of one run.
//
// Besides verdicts, Measure takes figures from the same Case: overlaps of belief and stale writes with their rates and
// 95 % intervals, leases lost and when their holders learned of it, what they did afterwards, waiting, fairness. What the
// history does not define is absent, never 0. WritePicture writes porcupine's own visualisation of the mutex that
// exclusion asks for, also and especially when it is violated; a large history is cut to the beliefs around the first
// violation.
package checker
