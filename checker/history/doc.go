// Package history holds what happened in a run, in order: every operation's invocation and completion, every fault, and
// what the servers saw. Checkers judge a history and nothing else.
//
// The vocabulary is Jepsen's: a process invokes an operation, which completes as ok (it happened), fail (it certainly did
// not) or info (unknown). One process has at most one operation open.
//
// # JSON lines
//
// A Writer writes, and a Reader reads, one JSON object per line (UTF-8, at most MaxLine bytes), in the order in which
// things happened. These are the fields; no others are allowed, and whatever does not apply is left out.
//
//	field     value                  who writes it, and what it says
//	index     number                 all: 0, 1, 2, ... without a gap
//	time_ns   nanoseconds            all: since the start, on one monotonic clock; never less than in the line before
//	process   text                   all: who it is about: "A", "n3", "stock-db", "fault-1", "harness"
//	role      text                   all but clients, which have none: node, resource, nemesis, harness
//	type      text                   all: invoke; then ok, fail or info
//	op        text                   all: see below
//	resource  text                   clients: the lock, or the data read or written; a resource: the data; a node: the key
//	lease     text                   clients, a resource: one acquire call and all that follows from it; never used again
//	by        text                   a node, a resource: the client on whose behalf it acted
//	value     number                 clients, a resource: what was read or written
//	version   number                 a resource: how many writes it has applied, this one included
//	fence     number                 clients, a resource: fencing token; 0 or absent is none
//	until_ns  nanoseconds            clients: when the lease ends as its holder knows, on the clock of time_ns
//	error     text                   clients: what went wrong
//	detail    object of text values  nemesis: evidence; node: a key's value and owner; harness: the plan; a client whose
//	                                 release failed before the lock could refuse it: refused=unknown
//
// Numbers are integers of 64 bits, and no field is there twice. The operations, each with the types that it has:
//
//	role      op                      types                  says
//	(client)  acquire, release        invoke, ok fail info   ok: granted, given back; fail: refused, was not its own
//	          extend                  invoke, ok fail info   the lease now ends at until_ns
//	          check                   invoke, ok fail        a careful client compares its clock with until_ns; ok: still valid
//	          read, write             invoke, ok fail info   of the protected data
//	          lost                    info                   the lock told its holder that the lease is over
//	          died                    info                   the client was killed; nothing of it happens later
//	          panic                   info                   the lock panicked in the open operation
//	resource  read, write             ok, fail               applied, refused (as a stale fence is)
//	node      key-set, key-ttl        ok                     a key got a value, another expiry
//	          key-deleted             ok                     a command removed a key
//	          key-expired             ok                     a key ran out
//	nemesis   pause, cut, crash, ...  invoke, ok fail info   injected; healed, with evidence (ok) or without effect (fail)
//	harness   begin                   any                    first line; detail is the Plan, of which nothing is required;
//	                                                         order=heard in it: the lines stand as they were heard, and
//	                                                         time_ns may be less than in the line before
//	          trouble                 info                   what the harness could not do; no checker judges it
//	          end                     any                    last line; without it nothing counts as held, since the rest
//	                                                         may be missing
//
// Of others checkers know nothing, and lockfault check warns of them.
//
// # Logging from another language
//
// Write one such line before each call to the lock and one after it, whole and at once, under one mutex per process or by
// one process for all, so that the numbers and the times grow:
//
//	{"index":0,"time_ns":0,"process":"test","role":"harness","type":"info","op":"begin","detail":{"lock":"mine","ttl":"10s"}}
//	{"index":1,"time_ns":120500,"process":"worker-1","type":"invoke","op":"acquire","resource":"stock","lease":"worker-1/1"}
//	{"index":2,"time_ns":983000,"process":"worker-1","type":"ok","op":"acquire","resource":"stock","lease":"worker-1/1","fence":33}
//	{"index":3,"time_ns":991000,"process":"db","role":"resource","type":"ok","op":"write","resource":"stock","lease":"worker-1/1","by":"worker-1","version":1,"fence":33}
//	{"index":4,"time_ns":1200000,"process":"worker-1","type":"invoke","op":"release","resource":"stock","lease":"worker-1/1"}
//	{"index":5,"time_ns":1900000,"process":"worker-1","type":"ok","op":"release","resource":"stock","lease":"worker-1/1"}
//	{"index":6,"time_ns":2000000,"process":"test","role":"harness","type":"info","op":"end"}
//
// A call that times out or breaks off is info, not fail: it may have happened. Who logs without leases is understood as
// long as each client releases what it acquired last, of the lock that the release names if it names one; what a resource
// did for a client is taken for part of what followed from its last grant. Exclusion needs only acquire and release; effects
// and fence enforcement need the lines of the resource, in its own order, as from a trigger or its log. Fields in another
// order, or with spaces, are read too, but some fifteen times as slowly.
//
// # Jepsen
//
// A Reader also reads history.edn as Jepsen and Knossos write it: a map per operation, one after the other or in one
// vector, with or without a record's tag. Each operation becomes one event:
//
//	:process         a number: the client of that name, so that a process after an :info is another client, as in Jepsen;
//	                 a keyword: the nemesis
//	:f               :acquire and :lock, :release and :unlock; :read, :write and others keep their name
//	:type            as it is. A :release that ends :fail did not happen, and nobody knows why: whoever held holds on
//	:time, :index    :time in nanoseconds. If no operation has one, they are 1 ms apart (see Untimed). A time up to a second
//	                 behind that of the line before is taken as equal, with a warning, for in old Jepsens threads raced to
//	                 append. :index has to grow and may leave gaps; events are numbered anew
//	:value           of a lock operation: nil; an owner (:client, :owner or :uid of a map, or text), which goes to By if it
//	                 is not the process; :fence or :token of a map, or the number with which an :acquire came back, as Fence;
//	                 [KEY VALUE], a tuple of jepsen.independent, as operation on the lock KEY. Of other operations: a number
//	                 as Value, anything else as text in Detail, also nil where it was read or written
//	:error           as text
//
// And the history implies events:
//
//   - what is open at the end completes as info there;
//   - a process that holds a lock when an operation of it ends :info has died: in Jepsen it never acts again;
//   - from the first operation of the nemesis to the end lasts one fault that may have struck anything. Jepsen records no
//     evidence, and does not say what heals what; so the fault counts as proven (nothing is undecided for lack of evidence)
//     and excuses what any fault could excuse (no lock is blamed for what the nemesis did). The operations themselves are
//     notes of the harness, which no checker judges;
//   - the end, unless the file is cut off.
//
// [WriteEDN] writes what Jepsen and Knossos read.
package history
