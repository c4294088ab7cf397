package checker

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// operations tells what was done with each lock, or with each piece of data, as operations on an object.
func (c *Case) operations(object linear.Object) []*objectHistory {
	if object.Sections {
		return c.sectionOperations(object)
	}
	index := map[name]*objectHistory{}
	var all []*objectHistory
	owners := c.newOwners(object)
	for i := range c.Calls {
		call := &c.Calls[i]
		op, ok := c.operation(call, object)
		if !ok {
			owners.follow(call)
			continue
		}
		resource := call.Lock
		if object.Lock {
			op.Owner, resource = owners.of(call)
		}
		h := index[resource]
		if h == nil {
			h = &objectHistory{resource: resource}
			index[resource] = h
			all = append(all, h)
		}
		owners.began(call, h, op.Owner, i)
		if call.Kind == release {
			owners.gaveBack(call, h, op.Owner, int32(len(h.ops)))
		}
		h.ops, h.calls = append(h.ops, op), append(h.calls, int32(i))
	}
	owners.lapse()
	for _, h := range all {
		h.sort()
	}
	if !object.Lock {
		c.leaveGaps(all)
	}
	return all
}

// leaveGaps finds what was done with data that cannot be told as reads and writes of numbers.
func (c *Case) leaveGaps(histories []*objectHistory) {
	byData := map[name]*objectHistory{}
	for _, h := range histories {
		byData[h.resource] = h
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		switch op := c.op(call); op {
		case history.Acquire, history.Release, history.Extend, history.Check:
		case history.Read, history.Write:
			value, noNumber := c.Events[call.Invoke].Detail["value"]
			if op == history.Read && call.Outcome == history.Ok {
				value, noNumber = c.Events[call.Done].Detail["value"]
			}
			if h := byData[call.Lock]; h != nil && noNumber && call.Outcome != history.Fail {
				h.torn, h.gap = Verdict{}, say("the %s at %s is of %s, which is no number", op, at(call.Asked), value).String()
			}
		default:
			if call.Outcome == history.Fail {
				continue
			}
			for _, h := range histories {
				h.torn, h.gap = Verdict{}, say("the %s at %s may have changed it", op, at(call.Asked)).String()
			}
		}
	}
}

// operation tells a call as an operation, if it is one on the object.
func (c *Case) operation(call *Call, object linear.Object) (lockmodel.Op, bool) {
	op := lockmodel.Op{Call: int64(call.Asked), Return: lockmodel.Never, Owner: int32(call.Client), Client: int32(call.Client),
		Outcome: history.Info}
	if call.Outcome == history.Ok || call.Outcome == history.Fail {
		op.Outcome, op.Return = call.Outcome, int64(c.ended(call))
	}
	asked := &c.Events[call.Invoke]
	answered := asked
	if !call.Open() {
		answered = &c.Events[call.Done]
	}
	switch kind := asked.Op; {
	case object.Lock && kind == history.Acquire:
		op.Kind = lockmodel.Acquire
		if op.Outcome == history.Ok {
			op.Value = answered.Fence
		}
	case object.Lock && kind == history.Release:
		op.Kind = lockmodel.Release
		return op, op.Outcome != history.Fail || answered.Refused()
	case !object.Lock && kind == history.Read:
		op.Kind, op.Value = lockmodel.Read, answered.Value
	case !object.Lock && kind == history.Write:
		op.Kind, op.Value, op.Arg = lockmodel.Write, asked.Value, asked.Fence
	default:
		return op, false
	}
	return op, true
}

// owners tells the owners of locks apart. An owner is a lease, or in a history without leases what follows from one
// acquire: so no owner acquires twice, and after an unknown outcome a client has a fresh identity. A lock that can be
// entered again knows its clients.
//
// A release without a lease name is by the owner that the latest acquire made which was not certainly refused, so that one
// tried again after an unknown outcome is by the same owner.
//
// A lease that ends by itself lapses: from the death of its client on, from the end that its client knew last, or from when
// its client was told that it was lost. One that nobody knows to have been granted may end a TTL after it was asked for: else
// it would hold for ever once it had refused the lock to others.
type owners struct {
	*Case
	reentrant bool
	strict    bool // refusals need somebody who holds
	fresh     int32
	leases    map[name]*ownedLease
	latest    map[turn]*ownedLease  // by what a client asked for last; of whichever lock, if that is unnamed
	owned     map[int32]*ownedLease // by owner, of a lock that does not know its clients
	order     []*ownedLease
}

// ownedLease is what an owner may have got from one acquire.
type ownedLease struct {
	client  name
	owner   int32
	call    int
	history *objectHistory
	until   int64 // the end that its client knew last, lockmodel.Never if none

	releases []int32 // places in the history; not of a lock that knows its clients
	again    bool    // its owner acquired more than once, or released before
	given    bool    // back, of a lock that knows its clients
}

func (c *Case) newOwners(object linear.Object) *owners {
	return &owners{Case: c, reentrant: object.Reentrant, strict: !object.Lenient, fresh: int32(len(c.texts)), leases: map[name]*ownedLease{},
		latest: map[turn]*ownedLease{}, owned: map[int32]*ownedLease{}}
}

// of is the owner in a call on a lock, and the lock. A release that names none gives back the one that its lease is of.
func (o *owners) of(call *Call) (owner int32, lock name) {
	lock = call.Lock
	var gives *ownedLease
	if call.Kind == release {
		gives = o.givenBack(call)
	}
	if gives != nil && (lock == 0 || gives.history.resource == 0) {
		lock = gives.history.resource
	}
	switch {
	case o.reentrant:
		return int32(call.Client), lock
	case call.Lease != 0:
		return int32(call.Lease), lock
	case gives != nil:
		return gives.owner, lock
	}
	o.fresh++
	return o.fresh - 1, lock
}

// givenBack is what a release is about: the lease that it names or that its client still holds, else what the client's
// latest acquire may have got; nil if no acquire can have got it.
func (o *owners) givenBack(call *Call) *ownedLease {
	if call.Lease != 0 {
		return o.leases[call.Lease]
	}
	lock := call.Lock
	if lock == 0 {
		lock = unnamed
	}
	if l := o.latest[turn{call.Client, lock}]; l != nil {
		return l
	}
	return o.latest[turn{call.Client, 0}]
}

// began takes note of an acquire that may have succeeded.
func (o *owners) began(call *Call, h *objectHistory, owner int32, place int) {
	if call.Kind != acquire || call.Outcome == history.Fail {
		return
	}
	l := &ownedLease{client: call.Client, owner: owner, call: place, history: h, until: lockmodel.Never}
	o.order = append(o.order, l)
	o.latest[turn{call.Client, h.resource}], o.latest[turn{call.Client, unnamed}] = l, l
	if !o.reentrant {
		if before := o.owned[owner]; before != nil {
			before.again, l.again = true, true
		}
		o.owned[owner] = l
	}
	if call.Lease != 0 {
		o.leases[call.Lease] = l
	}
	if ttl := o.Plan.TTL; o.strict && call.Outcome != history.Ok && 0 < ttl && ttl < forever-call.Asked {
		l.until = int64(call.Asked + ttl)
	}
	o.extend(l, call)
}

// gaveBack takes note of a release that was tried.
func (o *owners) gaveBack(call *Call, h *objectHistory, owner, place int32) {
	if o.reentrant {
		if l := o.givenBack(call); l != nil && call.Outcome == history.Ok {
			l.given = true
		}
		return
	}
	switch l := o.owned[owner]; {
	case l == nil:
		o.owned[owner] = &ownedLease{again: true}
	case l.history == h:
		l.releases = append(l.releases, place)
	}
}

// follow takes note of an extension.
func (o *owners) follow(call *Call) {
	if l := o.leases[call.Lease]; l != nil {
		o.extend(l, call)
	}
}

func (o *owners) extend(l *ownedLease, call *Call) {
	if call.Outcome != history.Ok {
		return
	}
	if until := o.Events[call.Done].Until; until > 0 {
		l.until = int64(max(until, o.ended(call)))
	}
}

// lapse adds the ends of leases by themselves. One that its holder gave back ends nothing more: not what a client that the
// lock knows by its name acquired later.
func (o *owners) lapse() {
	for _, lost := range o.losses {
		if l := o.leases[lost.lease]; l != nil {
			l.until = min(l.until, int64(lost.at))
		}
	}
	for _, l := range o.order {
		then := l.until
		if died := o.diedAt(l.client); died != forever {
			then = min(then, int64(died))
		}
		if then != lockmodel.Never && !(o.reentrant && l.given) {
			l.lapse(then, o.Calls[l.call].Outcome == history.Ok)
		}
	}
}

// lapse adds the end of a lease by itself. An owner's operations come one after the other, and so must its lapse with its
// releases. Of an owner that acquired once, and before it released:
//
//   - If a release succeeded, it took the only hold there was, so that the lease did not lapse before it, and after it had
//     nothing to end.
//   - If a release with unknown outcome was called before then, it can end the hold whenever the lapse can.
//   - Else, if the acquire succeeded, nothing but the lapse can end the hold, so a release that was refused while it was
//     due was refused after it: it may as well have been called then.
func (l *ownedLease) lapse(then int64, granted bool) {
	h, refused := l.history, none
	if !l.again {
		for _, i := range l.releases {
			switch op := &h.ops[i]; {
			case op.Outcome == history.Ok, op.Outcome == history.Info && op.Call < then:
				return
			case granted && op.Outcome == history.Fail && op.Call <= then && then <= op.Return:
				refused = i
			}
		}
	}
	op, call := lockmodel.Lapse(l.owner, then), int32(l.call)
	if refused != none { // it takes the other's place, so as to come before it
		h.ops[refused].Call = then
		op, h.ops[refused] = h.ops[refused], op
		call, h.calls[refused] = h.calls[refused], call
	}
	h.ops, h.calls = append(h.ops, op), append(h.calls, call)
}

// none is the place of no operation.
const none = int32(-1)

// longest is the longest that a history of an object may last, in nanoseconds: 73 years. Its judges double instants.
const longest = int64(1)<<61 - 2

// fromStart counts the time from the first call on, so that it does not matter how late that was. A lapse after all that
// there can be is put last.
func (h *objectHistory) fromStart() {
	if len(h.ops) == 0 {
		return
	}
	start := h.ops[0].Call
	since := func(instant int64) int64 { return int64(min(uint64(instant)-uint64(start), uint64(longest+1))) }
	for i := range h.ops {
		op := &h.ops[i]
		op.Call = since(op.Call)
		if op.Return == lockmodel.Never {
			op.Call = min(op.Call, longest)
			continue
		}
		if op.Return = since(op.Return); op.Return > longest {
			h.gap = "it lasts more than 73 years"
		}
	}
}

// sort puts the operations in the order of their calls, those of one client as it called them, and numbers the owners.
func (h *objectHistory) sort() {
	order := make([]int32, len(h.ops))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(h.ops[a].Call, h.ops[b].Call), cmp.Compare(h.calls[a], h.calls[b]))
	})
	ops, calls, opened := make([]lockmodel.Op, len(order)), make([]int32, len(order)), []int32(nil)
	numbers := map[int32]int32{}
	for i, from := range order {
		ops[i], calls[i] = h.ops[from], h.calls[from]
		if h.opened != nil {
			opened = append(opened, h.opened[from])
		}
		number, known := numbers[ops[i].Owner]
		if !known {
			number = int32(len(numbers))
			numbers[ops[i].Owner] = number
		}
		ops[i].Owner = number
	}
	h.ops, h.calls, h.opened = ops, calls, opened
}
