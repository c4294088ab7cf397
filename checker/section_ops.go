package checker

import (
	"fmt"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// visit is what one holder did to one piece of data, as the client tells of it.
type visit struct {
	first, last int32 // places in Calls
	reads       int
	found       int64 // by the first read that succeeded
	torn        bool  // another read, before it wrote, found something else
	writes      int
	wrote       int64 // value of the last write that may have happened; of an inventory, all that may have been taken
	outcome     history.Type
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
	for i := range c.Calls {
		call := &c.Calls[i]
		if op := c.op(call); op != history.Read && op != history.Write {
			continue
		}
		k := key{call.Lock, sectionKey(i)*3 + 2} // under no lease it stands alone: nothing tells where a section would end
		if call.Lease != 0 {
			k.section = sectionKey(call.Lease) * 3
		}
		v := visits[k]
		if v == nil {
			v = &visit{first: int32(i), outcome: history.Ok}
			visits[k] = v
			order = append(order, k)
		}
		v.last = int32(i)
		c.visit(v, call, object)
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
	return all
}

// visit takes an access into its section.
func (c *Case) visit(v *visit, call *Call, object linear.Object) {
	known := call.Outcome == history.Ok
	switch {
	case c.op(call) == history.Read:
		if !known || v.writes > 0 {
			break
		}
		value := c.Events[call.Done].Value
		v.torn = v.torn || v.reads > 0 && value != v.found
		if v.reads++; v.reads == 1 {
			v.found = value
		}
	case call.Outcome == history.Fail:
	default:
		v.writes++
		value := c.Events[call.Invoke].Value
		if object.Takes {
			value += v.wrote
		}
		v.wrote = value
		if !known {
			v.outcome = history.Info
		}
	}
}

// addSection tells a section as an operation.
func (c *Case) addSection(h *objectHistory, v *visit, object linear.Object) {
	first, last := &c.Calls[v.first], &c.Calls[v.last]
	op := lockmodel.Op{Call: int64(first.Asked), Return: int64(c.ended(last)), Owner: int32(len(h.ops)), Outcome: v.outcome}
	op.Value = v.found
	switch {
	case v.torn:
		h.gap = fmt.Sprintf("%s's section at %s read one value and then another, so that it was no single step", c.text(first.Client), at(first.Asked))
		return
	case v.writes == 0 && v.reads == 0:
		return
	case v.writes == 0:
		op.Kind = lockmodel.Read
		if last.Open() || last.Outcome == history.Info {
			op.Return = int64(c.End)
		}
	case object.Takes && (v.writes == 1 || v.outcome == history.Ok):
		op.Kind, op.Arg = lockmodel.Take, v.wrote
		op.Untold = v.reads == 0
	case v.reads == 0 && !object.Takes:
		h.gap = fmt.Sprintf("%s wrote at %s without having read, so nobody knows what it added", c.text(first.Client), at(first.Asked))
		return
	case v.writes > 1 && v.outcome == history.Info:
		h.gap = fmt.Sprintf("some of the writes of %s's section at %s may not have happened", c.text(first.Client), at(first.Asked))
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
