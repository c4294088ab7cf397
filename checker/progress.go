package checker

import (
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
	for i := range c.Calls {
		if call := &c.Calls[i]; c.stuck(call) {
			sentence := say("%s's %s of %s had not ended when the history did, at %s",
				c.text(call.Client), c.op(call), at(call.Asked), at(c.End))
			return violated(sentence, int(call.Invoke), len(c.Events)-1)
		}
	}
	healed := c.healed()
	expired := c.expired(healed)
	var refused, early *Call
	probe := c.find(Probe)
	for i := range c.Calls {
		call := &c.Calls[i]
		switch {
		case call.Client != probe || call.Kind != acquire:
		case call.Outcome == history.Ok:
			return held("every operation ended, and the probe was granted the lock at %s", at(c.ended(call)))
		case call.Open() || call.Asked < healed:
		case c.ended(call) < expired:
			early = call
		default:
			refused = call
		}
	}
	if refused != nil {
		return outOfReach(c, refused, healed)
	}
	if early != nil {
		return undecided("the probe gave up at %s, before every lease had run out", at(c.ended(early)))
	}
	return undecided("every operation ended, but nobody tried after healing")
}

// stuck tells whether an operation has no end for which its client's death, a fault that lasts to the end of the
// history, or that end itself is to blame.
func (c *Case) stuck(call *Call) bool {
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

// expired is the time by which a probe must have been granted the lock: every lease that nobody renews has run out, also
// one born of what a link delivered late, when it healed. A holder that goes on for ever is no excuse for the lock beyond the
// TTL that it was granted.
func (c *Case) expired(healed time.Duration) time.Duration {
	var last time.Duration
	if len(c.Faults) > 0 && healed < forever {
		last = healed + c.Plan.TTL
	}
	for i := range c.Grants {
		if g := &c.Grants[i]; g.last().Why != Never {
			last = max(last, c.leaseEnd(g))
		} else {
			last = max(last, c.afterTTL(c.ended(g.Call)))
		}
	}
	probe := c.find(Probe)
	for i := range c.Calls {
		if call := &c.Calls[i]; call.Kind == acquire && call.Client != probe {
			last = max(last, c.ghostEnd(call))
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
