package checker

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Loss says what became of leases that were over before their holder gave them back or died, whether it knew or not.
//
// A lease is over when the lock servers did not have it any more: as their logs tell, or, if there are none about its
// lock, at the until that its holder was told last. A renewal that no event tells of moves no until.
type Loss struct {
	Leases       int `json:"leases"`             // that were lost
	Of           int `json:"of"`                 // leases whose end, or that they did not end, is known
	InTime       int `json:"signalled_in_time"`  // the lost signal came no later than the loss
	Late         int `json:"signalled_late"`     // it came after the loss
	NotSignalled int `json:"not_signalled"`      // it never came
	Reads        int `json:"reads_after_loss"`   // invoked under a lease that was over
	Writes       int `json:"writes_after_loss"`  // the same
	Working      int `json:"leases_with_writes"` // lost leases under which writes were invoked afterwards

	Signal *Quantiles `json:"loss_to_signal_latency,omitempty"` // of those signalled late
}

// tenant is what the figures want to know of a grant.
type tenant struct {
	over   time.Duration // when the lease ended; forever if it did not, unheard if nobody tells
	until  time.Duration // as its holder was told last, 0 if it never was
	gone   time.Duration // when its holder gave it back or died
	signal time.Duration // the first lost signal
	wrote  bool          // after the loss
}

// unheard is the time of what nobody tells of.
const unheard = time.Duration(-1)

// measureLoss is nil if no lease's end is known.
func measureLoss(c *Case) *Loss {
	tenants := newTenants(c)
	servers := readServers(c)
	loss := Loss{}
	signals := newSamples()
	for i := range tenants {
		t := &tenants[i]
		t.over = servers.end(&c.Grants[i], t.until)
		if t.over == unheard {
			continue
		}
		loss.Of++
		if !t.lost(c) {
			continue
		}
		loss.Leases++
		switch {
		case t.signal == forever:
			loss.NotSignalled++
		case t.signal <= t.over:
			loss.InTime++
		default:
			loss.Late++
			signals.add(t.signal - t.over)
		}
	}
	if loss.Of == 0 {
		return nil
	}
	loss.Signal = signals.quantiles()
	loss.countWork(c, tenants)
	return &loss
}

// lost tells whether the lease ended under its holder, and before the history did.
func (t *tenant) lost(c *Case) bool { return t.over != unheard && t.over < t.gone && t.over <= c.End }

func (l *Loss) countWork(c *Case, tenants []tenant) {
	for i := range c.Calls {
		call := &c.Calls[i]
		op := c.op(call)
		if op != history.Read && op != history.Write {
			continue
		}
		t := c.tenantOf(tenants, call.Lease)
		if t == nil || !t.lost(c) || call.Asked < t.over {
			continue
		}
		if op == history.Read {
			l.Reads++
			continue
		}
		l.Writes++
		if !t.wrote {
			t.wrote = true
			l.Working++
		}
	}
}

// tenantOf is nil if the lease was not granted.
func (c *Case) tenantOf(tenants []tenant, lease name) *tenant {
	if place := c.placeOf(lease); place >= 0 {
		return &tenants[place]
	}
	return nil
}

// newTenants gathers, for each of the grants, what events tell of its end.
func newTenants(c *Case) []tenant {
	died := map[name]time.Duration{}
	for _, e := range c.Deaths {
		if who := c.find(e.Process); died[who] == 0 {
			died[who] = max(e.Time, 1)
		}
	}
	tenants := make([]tenant, len(c.Grants))
	for i := range c.Grants {
		g := &c.Grants[i]
		t := tenant{until: c.Events[g.Done].Until, gone: forever, signal: forever}
		if at := died[g.Client]; at > 0 {
			t.gone = at
		}
		if b := g.last(); b.Why == Told {
			t.signal = b.To
		}
		tenants[i] = t
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		t := c.tenantOf(tenants, call.Lease)
		switch {
		case t == nil:
		case call.Kind == release:
			t.gone = min(t.gone, call.Asked)
		case c.op(call) == history.Extend && call.Outcome == history.Ok && (t.until == 0 || c.ended(call) <= t.until):
			t.until = max(t.until, c.Events[call.Done].Until) // one that was over by then was lost, whatever came later
		}
	}
	for i := range c.Events {
		if e := &c.Events[i]; e.Role == history.Client && e.Op == history.Lost && e.Lease != "" {
			if t := c.tenantOf(tenants, c.find(e.Lease)); t != nil {
				t.signal = min(t.signal, e.Time)
			}
		}
	}
	return tenants
}
