package checker

import (
	"fmt"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Case is a history digested once for all judges, who only read it.
type Case struct {
	Events   []history.Event
	Plan     history.Plan    // zero if the history has no begin event
	Calls    []*Call         // operations of clients, by invocation
	Grants   []*Grant        // one per acquire that ended ok, by return
	Accesses []history.Event // reads and writes as the protected resources saw them, in their order
	Keys     []history.Event // key changes on lock servers
	Deaths   []history.Event // died events of clients
	Panics   []history.Event // panics of the lock under test
	Faults   []*Fault        // by first event
	End      time.Duration   // time of the last event
	Complete bool            // there is an end event: nothing was cut off
}

// NewCase digests a history. It fails on one that is malformed: a completion without an invocation, two open operations
// of one process, events out of order, a lease granted twice, a begin event that cannot be read. The error names the
// event's index.
func NewCase(events []history.Event) (*Case, error) {
	d := digest{
		Case:    &Case{Events: events},
		open:    map[string]*Call{},
		leases:  map[string]*Grant{},
		holding: map[string][]*Grant{},
		careful: carefulClients(events),
		faults:  map[string]*Fault{},
	}
	for i, e := range events {
		if e.Index != i {
			return nil, fmt.Errorf("event %d has index %d: events must be numbered from 0 in order", i, e.Index)
		}
		if e.Time < d.End {
			return nil, fmt.Errorf("event %d at %v comes before its predecessor at %v", i, e.Time, d.End)
		}
		d.End = e.Time
		if err := d.add(e); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return d.Case, nil
}

// digest is a case in the making.
type digest struct {
	*Case
	open    map[string]*Call    // by client
	leases  map[string]*Grant   // by lease
	holding map[string][]*Grant // by client: grants not yet given up, the latest last
	careful map[string]bool     // clients that check their lease
	faults  map[string]*Fault   // by process
}

func (d *digest) add(e history.Event) error {
	switch e.Role {
	case history.Client:
		return d.addClient(e)
	case history.Node:
		d.Keys = append(d.Keys, e)
	case history.Resource:
		d.Accesses = append(d.Accesses, e)
	case history.Nemesis:
		return d.addFault(e)
	case history.Harness:
		return d.addHarness(e)
	default:
		return fmt.Errorf("role %q is none of client, node, resource, nemesis, harness", e.Role)
	}
	return nil
}

func (d *digest) addHarness(e history.Event) (err error) {
	switch e.Op {
	case history.Begin:
		d.Plan, err = history.ParsePlan(e.Detail)
	case history.End:
		d.Complete = true
	}
	return err
}

func (d *digest) addClient(e history.Event) error {
	switch {
	case e.Op == history.Died:
		d.Deaths = append(d.Deaths, e)
		for _, g := range d.holding[e.Process] {
			g.observe(e, d.careful[e.Process])
		}
		return nil
	case e.Op == history.Panic:
		d.Panics = append(d.Panics, e)
		if call := d.open[e.Process]; call != nil {
			call.Panicked = true
		}
		return nil
	case e.Op == history.Lost:
		d.observe(e, d.leaseOf(e))
		return nil
	case e.Type == history.Invoke:
		return d.invoke(e)
	}
	return d.complete(e)
}

func (d *digest) invoke(e history.Event) error {
	if open := d.open[e.Process]; open != nil && !open.Panicked {
		return fmt.Errorf("%s invokes %s while its %s of event %d is open", e.Process, e.Op, open.Op, open.Invoke)
	}
	call := &Call{Client: e.Process, Op: e.Op, Lock: e.Resource, Invoke: e.Index, Asked: e.Time, Done: -1, Ended: forever}
	call.Lease = e.Lease
	if e.Op != history.Acquire {
		call.Lease = d.leaseOf(e)
	}
	d.open[e.Process] = call
	d.Calls = append(d.Calls, call)
	if g := d.leases[call.Lease]; g != nil && e.Op == history.Release && !g.released() {
		g.Release = call
	}
	d.observe(e, call.Lease)
	return nil
}

func (d *digest) complete(e history.Event) error {
	call := d.open[e.Process]
	if call == nil || call.Op != e.Op {
		return fmt.Errorf("%s completes %s, which it had not invoked", e.Process, e.Op)
	}
	delete(d.open, e.Process)
	call.Done, call.Ended, call.Outcome = e.Index, e.Time, e.Type
	if e.Lease != "" {
		call.Lease = e.Lease
	}
	if e.Op == history.Acquire && e.Type == history.Ok {
		return d.grant(call, e)
	}
	d.observe(e, call.Lease)
	return nil
}

func (d *digest) grant(call *Call, e history.Event) error {
	if e.Resource != "" {
		call.Lock = e.Resource
	}
	if call.Lease == "" { // a history recorded elsewhere
		call.Lease = fmt.Sprintf("%s@%d", e.Process, e.Index)
	}
	if g := d.leases[call.Lease]; g != nil {
		return fmt.Errorf("lease %q was granted before, by event %d", call.Lease, g.Call.Done)
	}
	g := newGrant(call, e, d.careful[e.Process])
	d.leases[call.Lease] = g
	d.holding[e.Process] = append(d.holding[e.Process], g)
	d.Grants = append(d.Grants, g)
	return nil
}

// observe lets the grant of a lease know what its holder did or learned, and forgets it when it is over.
func (d *digest) observe(e history.Event, lease string) {
	g := d.leases[lease]
	if g == nil {
		return
	}
	g.observe(e, d.careful[e.Process])
	if g.over {
		held := d.holding[g.Client]
		for i, other := range held {
			if other == g {
				d.holding[g.Client] = append(held[:i:i], held[i+1:]...)
				break
			}
		}
	}
}

// leaseOf names the lease that an event is about: the one it names, else the latest that its client has not given up.
func (d *digest) leaseOf(e history.Event) string {
	if held := d.holding[e.Process]; e.Lease == "" && len(held) > 0 {
		return held[len(held)-1].Lease
	}
	return e.Lease
}

func carefulClients(events []history.Event) map[string]bool {
	careful := map[string]bool{}
	for _, e := range events {
		if e.Role == history.Client && e.Op == history.Check {
			careful[e.Process] = true
		}
	}
	return careful
}
