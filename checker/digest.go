package checker

import (
	"fmt"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
)

// digest is a case in the making.
type digest struct {
	*Case
	clients map[string]*client
	faults  map[string]*Fault // by process
	places  map[place]int32   // of accesses, numbered from 1

	last          *client // of the latest event, which often is that of the next
	lastLock      string  // the lock of the latest event, since most histories are about one
	lastLockName  name
	lastPlace     place
	lastPlaceData int32
}

// client is what is known of a client so far.
type client struct {
	process string
	name    name
	careful bool // it checks its lease
	open    *Call
	holding []*Grant // not yet given up, the latest last

	lease     string // the one it used last
	leaseName name
	granted   name // the lease that it was granted last, given up or not
}

// place is where a resource keeps data.
type place struct{ process, data string }

// newDigest makes room for all that will come: Calls and Grants must not move.
func newDigest(events []history.Event) *digest {
	d := &digest{Case: &Case{Events: events}, clients: map[string]*client{}, faults: map[string]*Fault{},
		places: map[place]int32{}}
	var calls, grants, accesses int
	for i := range events {
		switch e := &events[i]; {
		case e.Role == history.Resource:
			accesses++
		case e.Role != history.Client:
		case e.Type == history.Invoke:
			calls++
		case e.Op == history.Acquire && e.Type == history.Ok:
			grants++
		}
		if e := &events[i]; e.Role == history.Client && e.Op == history.Check {
			d.clients[e.Process] = &client{process: e.Process, careful: true}
		}
	}
	d.Calls, d.Grants, d.Accesses = make([]Call, 0, calls), make([]Grant, 0, grants), make([]access, 0, accesses)
	d.names = newNames(grants + len(d.clients) + 8)
	d.granted = make([]int32, 0, cap(d.texts))
	for process, c := range d.clients {
		c.name = d.intern(process)
	}
	return d
}

func (d *digest) client(process string) *client {
	c := d.known(process)
	if c == nil {
		c = &client{process: process, name: d.intern(process)}
		d.clients[process] = c
	}
	d.last = c
	return c
}

// known finds a client that has been seen; nil if it has not.
func (d *digest) known(process string) *client {
	if d.last != nil && d.last.process == process {
		return d.last
	}
	return d.clients[process]
}

func (d *digest) add(e *history.Event) error {
	switch e.Role {
	case history.Client:
		return d.addClient(e, d.client(e.Process))
	case history.Node:
		d.Keys = append(d.Keys, e)
	case history.Resource:
		d.addAccess(e)
	case history.Nemesis:
		return d.addFault(*e)
	case history.Harness:
		return d.addHarness(e)
	default:
		return fmt.Errorf("%v is no role", e.Role)
	}
	return nil
}

func (d *digest) addHarness(e *history.Event) (err error) {
	switch e.Op {
	case history.Begin:
		d.Plan, err = history.ParsePlan(e.Detail)
	case history.End:
		d.Complete = true
	}
	return err
}

// addAccess names what an event of a resource is about. Most are by a client under the lease that it used last. One that
// names no lease is under the one that its client was granted last, however late: nothing else tells its sections apart.
func (d *digest) addAccess(e *history.Event) {
	a := access{event: int32(e.Index), version: e.Version, kind: accessKindOf(e)}
	if c := d.known(e.By); c != nil {
		a.by, a.lease = c.name, c.granted
		if e.Lease != "" {
			a.lease = d.leaseName(c, e.Lease)
		}
	} else {
		a.by, a.lease = d.intern(e.By), d.intern(e.Lease)
	}
	if at := (place{e.Process, e.Resource}); at != d.lastPlace || d.lastPlaceData == 0 {
		known := d.places[at]
		if known == 0 {
			known = int32(len(d.places) + 1)
			d.places[at] = known
		}
		d.lastPlace, d.lastPlaceData = at, known
	}
	a.data = d.lastPlaceData
	d.Accesses = append(d.Accesses, a)
}

func (d *digest) leaseName(c *client, lease string) name {
	if lease == "" {
		return 0
	}
	if lease != c.lease {
		c.lease, c.leaseName = lease, d.intern(lease)
	}
	return c.leaseName
}

func (d *digest) lockName(lock string) name {
	if lock != d.lastLock {
		d.lastLock, d.lastLockName = lock, d.intern(lock)
	}
	return d.lastLockName
}

func (d *digest) addClient(e *history.Event, c *client) error {
	switch {
	case e.Op == history.Died:
		d.Deaths = append(d.Deaths, e)
		for _, g := range c.holding {
			g.observe(e, c.careful)
		}
		return nil
	case e.Op == history.Panic:
		d.Panics = append(d.Panics, e)
		if c.open != nil {
			c.open.Panicked = true
		}
		return nil
	case e.Op == history.Lost:
		lease := d.leaseOf(e, c)
		if lease == 0 && c.open != nil && c.open.Kind == release {
			lease = c.open.Lease // it is told of the loss while it gives the lease back
		}
		d.losses = append(d.losses, loss{lease, e.Time})
		d.observe(e, c, lease)
		return nil
	case e.Type == history.Invoke:
		return d.invoke(e, c)
	}
	return d.complete(e, c)
}

func (d *digest) invoke(e *history.Event, c *client) error {
	if c.open != nil && !c.open.Panicked {
		return fmt.Errorf("%s invokes %s while its %s of %v is open", e.Process, e.Op, d.op(c.open), c.open.Asked)
	}
	call := Call{Client: c.name, Lock: d.lockName(e.Resource), Kind: kindOf(e.Op), Invoke: int32(e.Index), Asked: e.Time,
		Done: -1}
	call.Lease = d.leaseName(c, e.Lease)
	if call.Kind != acquire {
		call.Lease = d.leaseOf(e, c)
	}
	d.Calls = append(d.Calls, call)
	c.open = &d.Calls[len(d.Calls)-1]
	g := d.grantOf(call.Lease)
	if g != nil && call.Kind == release && !g.released() {
		g.Release = c.open
	}
	d.observe(e, c, call.Lease)
	return nil
}

func (d *digest) complete(e *history.Event, c *client) error {
	call := c.open
	if call == nil || d.op(call) != e.Op {
		return fmt.Errorf("%s completes %s, which it had not invoked", e.Process, e.Op)
	}
	c.open = nil
	call.Done, call.Outcome = int32(e.Index), e.Type
	if e.Lease != "" {
		call.Lease = d.leaseName(c, e.Lease)
	}
	if call.Kind == acquire && e.Type == history.Ok {
		return d.grant(call, e, c)
	}
	d.observe(e, c, call.Lease)
	return nil
}

func (d *digest) grant(call *Call, e *history.Event, c *client) error {
	if e.Resource != "" {
		call.Lock = d.lockName(e.Resource)
	}
	if call.Lease == 0 { // a history recorded elsewhere
		call.Lease = d.leaseName(c, fmt.Sprintf("%s@%d", e.Process, e.Index))
	}
	if g := d.grantOf(call.Lease); g != nil {
		return fmt.Errorf("lease %q was granted before, at %v", d.text(call.Lease), d.ended(g.Call))
	}
	d.Grants = append(d.Grants, newGrant(call, e, c.careful))
	for len(d.granted) < len(d.texts) {
		d.granted = append(d.granted, 0)
	}
	d.granted[call.Lease] = int32(len(d.Grants))
	c.holding = append(c.holding, &d.Grants[len(d.Grants)-1])
	c.granted = call.Lease
	return nil
}

// observe lets the grant of a lease know what its holder did or learned, and forgets it when it is over.
func (d *digest) observe(e *history.Event, c *client, lease name) {
	g := d.grantOf(lease)
	if g == nil {
		return
	}
	g.observe(e, c.careful)
	if g.over {
		d.forget(g)
	}
}

// forget takes a grant that is over from those that its client holds.
func (d *digest) forget(g *Grant) {
	c := d.known(d.text(g.Client))
	for i, other := range c.holding {
		if other == g {
			c.holding = append(c.holding[:i], c.holding[i+1:]...)
			return
		}
	}
}

// leaseOf names the lease that an event is about: the one it names, else the latest that its client has not given up, of
// the lock that it names if it does. The resource of a read or a write is no lock.
func (d *digest) leaseOf(e *history.Event, c *client) name {
	if e.Lease != "" {
		return d.leaseName(c, e.Lease)
	}
	whichever := e.Resource == "" || e.Op == history.Read || e.Op == history.Write
	for _, g := range slices.Backward(c.holding) {
		if whichever || g.Lock == 0 || d.text(g.Lock) == e.Resource {
			return g.Lease
		}
	}
	return 0
}
