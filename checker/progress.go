package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Probe is the name of the client with which the harness asks for the lock at the end, when every fault has healed.
const Probe = "probe"

var progress = Property{
	Name:  Progress,
	Claim: "Every operation ends; once faults are healed the lock can be had.",
	Judge: guard(judgeProgress),
}

// judgeProgress asks for an end of every operation, without a panic, and then for what TigerBeetle's simulator does:
// heal everything, and demand progress.
func judgeProgress(c *Case) Verdict {
	if len(c.Panics) > 0 {
		return panicked(c)
	}
	var open *Call
	for i := range c.Calls {
		call := &c.Calls[i]
		if !c.unended(call) {
			continue
		}
		if c.overdue(call) {
			return violated(c.notEnded(call), int(call.Invoke), len(c.Events)-1)
		}
		open = call
	}
	v := c.judgeProbes()
	if v.Status != Violated && open != nil {
		return undecided("%s, and may have been about to", c.notEnded(open))
	}
	return v
}

func (c *Case) notEnded(call *Call) saying {
	return say("%s's %s of %s had not ended when the history did, at %s",
		c.text(call.Client), c.op(call), at(call.Asked), at(c.End))
}

// judgeProbes asks of each lock that somebody asked for whether it could be had again. That another could says nothing.
func (c *Case) judgeProbes() Verdict {
	probe := c.find(Probe)
	var locks []name // in the order in which they were asked for
	tries := map[name][]*Call{}
	for i := range c.Calls {
		call := &c.Calls[i]
		if call.Kind != acquire {
			continue
		}
		if _, seen := tries[call.Lock]; !seen {
			locks = append(locks, call.Lock)
			tries[call.Lock] = nil
		}
		if call.Client == probe && !call.Open() {
			tries[call.Lock] = append(tries[call.Lock], call)
		}
	}
	verdict := undecided("every operation ended, but nobody tried after healing")
	for i, lock := range locks {
		v := c.judgeProbe(tries[lock])
		if v.Status == Violated {
			return v
		}
		if i == 0 || verdict.Status == Held {
			verdict = v
		}
	}
	return verdict
}

// judgeProbe goes by what the probe was told of a lock last.
func (c *Case) judgeProbe(tries []*Call) Verdict {
	var granted, refused, early *Call
	healed := c.healed()
	for _, call := range tries {
		switch {
		case call.Outcome == history.Ok && c.ended(call) >= healed:
			granted, refused = call, nil
		case call.Asked < healed:
		case c.ended(call) < c.expired(call, healed):
			early = call
		default:
			refused = call
		}
	}
	switch {
	case refused != nil:
		return outOfReach(c, refused, healed)
	case granted != nil:
		return held("every operation ended, and the probe was granted the lock at %s", at(c.ended(granted)))
	case early != nil:
		return undecided("the probe gave up at %s, before every lease had run out", at(c.ended(early)))
	}
	return undecided("every operation ended, but nobody tried after healing")
}

// unended tells whether an operation has no end for which its client's death, a fault that lasts to the end of the
// history, or that end itself is to blame.
func (c *Case) unended(call *Call) bool {
	if !c.Complete || !call.Open() || call.Panicked || c.diedAt(call.Client) != forever {
		return false
	}
	for _, f := range c.Faults {
		if f.To == forever && f.strikes(c.text(call.Client)) {
			return false
		}
	}
	return true
}

// overdue tells whether an operation without an end was open for a TTL in which nothing explains that: no fault and, if it
// is an acquire, nobody else who may have had the lock. For less, it may have been on its way.
func (c *Case) overdue(call *Call) bool {
	if c.Plan.TTL <= 0 || c.End-call.Asked < c.Plan.TTL {
		return false
	}
	var excuses []spell
	for _, f := range c.Faults {
		if f.hinders(c.text(call.Client)) {
			excuses = append(excuses, spell{f.From, f.To})
		}
	}
	if call.Kind == acquire {
		excuses = slices.AppendSeq(excuses, c.obstacles(call, unnamed))
	}
	slices.SortFunc(excuses, func(a, b spell) int { return cmp.Compare(a.from, b.from) })
	last := call.Asked // end of an excuse
	for _, e := range append(excuses, spell{c.End, forever}) {
		if min(e.from, c.End)-last >= c.Plan.TTL {
			return true
		}
		last = max(last, e.to)
	}
	return false
}

// healed is the time from which no fault was under way.
func (c *Case) healed() time.Duration {
	var last time.Duration
	for _, f := range c.Faults {
		if f.Injected {
			last = max(last, f.To)
		}
	}
	return last
}

// expired is the time by which a probe must have been granted the lock: every lease that was asked for before it gave up,
// and that nobody renews, has run out, also one born of what a link delivered late, when it healed. A holder that goes on
// for ever is no excuse for the lock beyond the TTL that it was granted, or asked for last.
func (c *Case) expired(probe *Call, healed time.Duration) time.Duration {
	var last time.Duration
	if len(c.Faults) > 0 && healed < forever {
		last = c.afterTTL(healed)
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		g := c.grantOf(call.Lease)
		switch {
		case call.Asked >= c.ended(probe):
		case g == nil && call.Kind == acquire && call.Lock == probe.Lock && call.Client != probe.Client:
			last = max(last, c.ghostEnd(call))
		case g == nil || g.Lock != probe.Lock:
		case g.last().Why != Never:
			last = max(last, c.leaseEnd(g))
		case g.Call == call:
			last = max(last, c.afterTTL(c.ended(call)), g.told+c.allowance())
		case c.op(call) == history.Extend && call.Outcome != history.Fail:
			last = max(last, c.afterTTL(c.ended(call)))
		}
	}
	return last
}

func panicked(c *Case) Verdict {
	e := c.Panics[0]
	what, invoke := "the lock", -1
	who := c.find(e.Process)
	for i := range c.Calls {
		if call := &c.Calls[i]; call.Client == who && int(call.Invoke) < e.Index && call.Panicked {
			what, invoke = string(c.op(call)), int(call.Invoke)
		}
	}
	sentence := say("%s's %s panicked at %s: %s", e.Process, what, at(e.Time), e.Error)
	return violated(sentence, invoke, e.Index)
}

func outOfReach(c *Case, probe *Call, healed time.Duration) Verdict {
	outcome := "was refused"
	if probe.Outcome == history.Info {
		outcome = "did not get an answer about"
	}
	sentence := say("the probe, asking since %s, %s the lock at %s", at(probe.Asked), outcome, at(c.ended(probe)))
	if len(c.Faults) > 0 {
		sentence = say("%s, though every fault had healed by %s", sentence, at(healed))
	}
	events := []int{int(probe.Invoke), int(probe.Done)}
	if name, set, ok := c.lastSet(int(probe.Done)); ok {
		sentence = say("%s; %v still has what %s set at %s", sentence, name, set.by, at(set.time))
		events = append(events, set.event)
	}
	return violated(sentence, events...)
}

// lastSet finds the key set last of those that still had their value when an event happened.
func (c *Case) lastSet(index int) (keyName, setting, bool) {
	now := keys{}
	for _, e := range c.Keys {
		if e.Index < index {
			now.apply(e)
		}
	}
	var name keyName
	last := setting{event: -1}
	for k, s := range now {
		if s.event > last.event {
			name, last = k, s
		}
	}
	return name, last, last.event >= 0
}
