package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

var expiry = Property{
	Name:  Expiry,
	Claim: "The lock is free again within TTL and allowance after its last holder died.",
	Judge: guard(judgeExpiry),
}

// death is a client's end while it held a lock, or while the servers may have thought so.
type death struct {
	client name
	lock   name
	at     time.Duration
	event  int
	grant  *Grant        // the last that it had not given back; nil if it died acquiring
	since  time.Duration // by when it had been granted the lock, if it was
	sign   time.Duration // when a server last set or prolonged a key for it, or may have: what it had sent before may land later
	until  time.Duration // the latest end of its lease that it was told, 0 if none
}

// judgeExpiry measures by those who ask for the lock: each attempt after a death is evidence for the lock, against it,
// or, if anything else explains its outcome, none.
func judgeExpiry(c *Case) Verdict {
	deaths := deathsHolding(c)
	if len(deaths) == 0 {
		return undecided("no holder died")
	}
	if c.Plan.TTL <= 0 {
		return undecided("a holder died, but the history does not tell the TTL")
	}
	measured := 0
	var unmeasured *death
	for _, d := range deaths {
		switch found, a := d.measure(c); found {
		case late:
			return d.violation(c, a)
		case inTime:
			measured++
		case unknown:
			unmeasured = d
		}
	}
	if d := unmeasured; d != nil {
		return undecided("nobody's wait shows when the lock was free again after %s died at %s", c.text(d.client), at(d.at))
	}
	if measured == 0 {
		return undecided("whoever died was not the last holder")
	}
	return held("the lock was had again in time after %s", count(measured, "death"))
}

// deathsHolding lists the deaths that matter, one for each client and lock.
func deathsHolding(c *Case) []*death {
	var all []*death
	for _, e := range c.Deaths {
		client := c.find(e.Process)
		byLock := map[name]*death{}
		find := func(lock name) *death {
			d := byLock[lock]
			if d == nil {
				d = &death{client: client, lock: lock, at: e.Time, event: e.Index, sign: e.Time}
				byLock[lock] = d
				all = append(all, d)
			}
			return d
		}
		for i := range c.Grants {
			if g := &c.Grants[i]; g.Client == client && g.mayLive() {
				d := find(g.Lock)
				d.grant, d.since = g, c.ended(g.Call)
			}
		}
		for i := range c.Calls {
			if call := &c.Calls[i]; call.Client == client && call.Kind == acquire && (call.Open() || call.Outcome == history.Info) {
				d := find(call.Lock)
				d.since = max(d.since, c.ended(call))
			}
		}
	}
	for _, d := range all {
		if d.grant != nil {
			d.until = d.grant.told // it may have asked for more than a TTL
		}
		for _, f := range c.Faults { // where no server tells, what the dead had sent may land until its link heals
			if len(c.Keys) == 0 && f.strikes(c.text(d.client)) && f.meets(d.at, d.at) {
				d.sign = max(d.sign, min(f.To, c.End))
			}
		}
		for _, e := range c.Keys {
			if e.By == c.text(d.client) && (e.Op == history.KeySet || e.Op == history.KeyTTL) && e.Time > d.sign {
				d.sign = e.Time
			}
		}
	}
	return all
}

// measurement is what the attempts after a death show.
type measurement uint8

const (
	unknown    measurement = iota
	inTime                 // the lock was free again by the time promised
	superseded             // another held it meanwhile: the dead client was not the last holder
	late
)

// free is the time at which the lease has run out, as promised.
func (d *death) free(c *Case) time.Duration { return max(d.sign+c.Plan.TTL, d.until) }

// due is the time by which the lock should be free for whoever asked for it at a time.
func (d *death) due(c *Case, asked time.Duration) time.Duration {
	return max(d.free(c), asked) + c.allowance()
}

// measure goes through the attempts that ended after the death, until someone is granted the lock: what comes then is
// about that holder. An attempt counts against the lock if it was open from when the lock should have been free until
// the allowance had passed, or if it was refused and began after that.
func (d *death) measure(c *Case) (measurement, *Call) {
	if d.succeeded(c) {
		return superseded, nil
	}
	due := d.due(c, 0)
	for _, a := range d.attempts(c) {
		end := min(c.ended(a), c.End)
		overdue := end > d.due(c, a.Asked)
		switch {
		case a.Outcome == history.Ok && !overdue && a.Asked <= due:
			return inTime, a
		case a.Outcome == history.Ok && !overdue:
			return unknown, nil
		case a.Outcome == history.Info: // perhaps it was granted
			continue
		case !overdue && (a.Open() || a.Asked < due):
			continue
		}
		from := max(d.free(c), a.Asked)
		obstructed := c.obstructed(a, from, end, d.client)
		switch {
		case !obstructed && !c.hindered(a.Client, from, end):
			return late, a
		case a.Outcome == history.Ok && obstructed:
			return superseded, nil
		case a.Outcome == history.Ok:
			return unknown, nil
		}
	}
	return unknown, nil
}

// succeeded tells whether another was granted the lock after the dead client had been, and before it died.
func (d *death) succeeded(c *Case) bool {
	return d.sign == d.at && slices.ContainsFunc(c.Grants, func(g Grant) bool {
		return g.Lock == d.lock && g.Client != d.client && g.Asked >= d.since && c.ended(g.Call) <= d.at
	})
}

// attempts lists the acquires of others that ended after the death, by their end; those that never did come last.
func (d *death) attempts(c *Case) []*Call {
	var all []*Call
	for i := range c.Calls {
		a := &c.Calls[i]
		lives := !a.Open() || c.diedAt(a.Client) == forever
		if a.Kind == acquire && a.Lock == d.lock && a.Client != d.client && c.ended(a) > d.at && lives {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *Call) int { return cmp.Compare(c.ended(a), c.ended(b)) })
	return all
}

func (d *death) violation(c *Case, a *Call) Verdict {
	outcome := "was refused the lock"
	switch {
	case a.Outcome == history.Ok:
		outcome = "was granted the lock only"
	case a.Open():
		outcome = "still waited for the lock"
	}
	doing := say("acquiring it")
	events := []int{d.event, int(a.Invoke), int(a.Done)}
	if d.grant != nil {
		how := "without releasing it"
		if d.grant.last().Why == Killed {
			how = "holding it"
		}
		doing = say("%s (granted at %s)", how, at(c.ended(d.grant.Call)))
		events = append(events, int(d.grant.Done))
	}
	sentence := say("%s, asking since %s, %s at %s: %s had died at %s %s, and the lock was to be free by %s",
		c.text(a.Client), at(a.Asked), outcome, at(min(c.ended(a), c.End)), c.text(d.client), at(d.at), doing, at(d.due(c, 0)))
	return violated(sentence, events...)
}
