package checker

import (
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// visit is what one holder did to one piece of data, as the client tells of it.
type visit struct {
	first, last int32 // places in Calls
	reads       int
	found       int64 // by the first read that succeeded, if it came before all writes
	writes      int
	wrote       int64 // value of the last write that may have happened; of an inventory, all that may have been taken
	refused     int   // writes
	outcome     history.Type
	returned    bool // its client was in another section meanwhile

	// What the next read of an atomic step must find, and 1 + the place in Calls of the access that says so, 0 if none does.
	next int64
	says int32
	torn *tear
}

// tear is a read that found something else than its own section had left.
type tear struct {
	left int64
	by   int32 // place in Calls
	read int32 // place in Calls
}

// sectionOperations tells sections as operations on an object that each section changes in one atomic step: a counter to
// which it adds the difference of what it found and what it wrote, an inventory from which it takes. A section lasts from
// its first access to its last. One whose writes were refused only read.
func (c *Case) sectionOperations(object linear.Object) []*objectHistory {
	type key struct {
		data    name
		section sectionKey
	}
	histories := map[name]*objectHistory{}
	var all []*objectHistory
	visits := map[key]*visit{}
	var order []key
	latest := map[turn]*visit{}
	for i := range c.Calls {
		call := &c.Calls[i]
		if op := c.op(call); op != history.Read && op != history.Write {
			continue
		}
		k := key{call.Lock, sectionOf(call.Lease, int32(i))}
		v := visits[k]
		if v == nil {
			v = &visit{first: int32(i), last: int32(i), outcome: history.Ok}
			visits[k] = v
			order = append(order, k)
		} else if latest[turn{call.Client, call.Lock}] != v {
			v.returned = true
		}
		latest[turn{call.Client, call.Lock}] = v
		c.visit(v, int32(i), object)
	}
	for _, k := range order {
		h := histories[k.data]
		if h == nil {
			h = &objectHistory{resource: k.data}
			histories[k.data] = h
			all = append(all, h)
		}
		c.addSection(h, visits[k], object)
	}
	for _, h := range all {
		h.sort()
	}
	c.leaveGaps(all)
	return all
}

// visit takes an access into its section.
func (c *Case) visit(v *visit, place int32, object linear.Object) {
	call := &c.Calls[place]
	if c.ended(&c.Calls[v.last]) > call.Asked {
		v.says = 0 // two at once
	}
	v.last = place
	switch {
	case c.op(call) == history.Read:
		if call.Outcome == history.Ok {
			v.read(place, c.Events[call.Done].Value)
		}
	case call.Outcome == history.Fail:
		v.refused++
	default:
		v.writes++
		value := c.Events[call.Invoke].Value
		switch {
		case call.Outcome != history.Ok: // and may happen later
			v.outcome, v.says = history.Info, 0
		case !object.Takes:
			v.next, v.says = value, place+1
		case v.says != 0:
			v.next, v.says = v.next-value, place+1
		}
		if object.Takes {
			value += v.wrote
		}
		v.wrote = value
	}
}

// read takes the value of a read into its section.
func (v *visit) read(place int32, value int64) {
	if v.says != 0 && value != v.next && v.torn == nil {
		v.torn = &tear{v.next, v.says - 1, place}
	}
	if v.writes == 0 {
		if v.reads++; v.reads == 1 {
			v.found = value
		}
	}
	if v.outcome == history.Ok {
		v.next, v.says = value, place+1
	}
}

// addSection tells a section as an operation.
func (c *Case) addSection(h *objectHistory, v *visit, object linear.Object) {
	first, last := &c.Calls[v.first], &c.Calls[v.last]
	op := lockmodel.Op{Call: int64(first.Asked), Return: int64(c.ended(last)), Owner: int32(len(h.ops)), Outcome: v.outcome}
	op.Value = v.found
	if !v.returned {
		op.Client = int32(first.Client)
	}
	switch {
	case v.torn != nil && v.writes == 0 && v.refused > 0:
		return // aborted, see section.aborted
	case v.torn != nil:
		h.tear(c, v.torn)
		return
	case v.writes == 0 && v.reads == 0:
		return
	case v.writes == 0:
		op.Kind = lockmodel.Read
		if last.Open() {
			op.Return = int64(c.End)
		}
	case object.Takes && (v.writes == 1 || v.outcome == history.Ok):
		op.Kind, op.Arg = lockmodel.Take, v.wrote
		op.Untold = v.reads == 0
	case v.reads == 0 && !object.Takes:
		h.gap = say("%s wrote at %s without having read, so nobody knows what it added", c.text(first.Client), at(first.Asked)).String()
		return
	case v.writes > 1 && v.outcome == history.Info:
		h.gap = say("some of the writes of %s's section at %s may not have happened", c.text(first.Client), at(first.Asked)).String()
		return
	default:
		op.Kind, op.Arg = lockmodel.Add, v.wrote-v.found
	}
	if v.outcome == history.Info {
		op.Return = lockmodel.Never
	}
	h.ops, h.calls = append(h.ops, op), append(h.calls, v.last)
	h.opened = append(h.opened, v.first)
}

// tear says that a section was no single step, if none was found before.
func (h *objectHistory) tear(c *Case, t *tear) {
	if h.torn.Status == Violated {
		return
	}
	by, read := &c.Calls[t.by], &c.Calls[t.read]
	h.torn = violated(say("%s read %d at %s, where its own section had left %d at %s, so that it was no single step",
		c.text(read.Client), c.Events[read.Done].Value, at(c.ended(read)), t.left, at(c.ended(by))),
		int(by.Invoke), int(by.Done), int(read.Invoke), int(read.Done))
}
