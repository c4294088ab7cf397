package checker

import (
	"github.com/lockfault/lockfault/checker/history"
)

var ownership = Property{
	Name:  Ownership,
	Claim: "Release and extend touch only the caller's own lease.",
	Judge: guard(judgeOwnership, nothingGranted),
}

// judgeOwnership follows, key by key, whose value each lock server holds, and looks at who deletes or prolongs it.
func judgeOwnership(c *Case) Verdict {
	if len(c.Keys) == 0 {
		return undecided("the history does not tell what happened to the keys on the lock servers")
	}
	faults := map[string]*Fault{}
	for _, f := range c.Faults {
		faults[f.Name] = f
	}
	now := keys{}
	own := 0
	for i := range c.Events {
		e := &c.Events[i]
		switch {
		case e.Role == history.Nemesis:
			now.forget(faults[e.Process])
		case e.Role != history.Node:
		case e.By != "" && (e.Op == history.KeyDeleted || e.Op == history.KeyTTL):
			set, known := now.setting(e)
			if known && set.by != "" && set.by != e.By {
				return trespass(c, e, set)
			}
			if known && set.by == e.By {
				own++
			}
			now.apply(e)
		default:
			now.apply(e)
		}
	}
	if own == 0 {
		return undecided("no lease was released or extended on a lock server")
	}
	return held("%s by the holder of the lease, none by another", count(own, "key change"))
}

func trespass(c *Case, e *history.Event, set setting) Verdict {
	what, done := "release", "deleted"
	switch {
	case e.Op == history.KeyTTL:
		what, done = "extend", "prolonged"
	case c.acquiring(e.By, e.Index):
		what = "acquire" // one that gives back what it got before it fails
	}
	since := say("which %s had set", set.by)
	if set.event >= 0 {
		since = say("%s at %s", since, at(set.time))
	}
	sentence := say("%s's %s at %s %s %v, %s", e.By, what, at(e.Time), done, keyOf(e), since)
	return violated(sentence, set.event, e.Index)
}

// acquiring tells whether a client had an acquire open when an event happened.
func (c *Case) acquiring(client string, index int) bool {
	who := c.find(client)
	for i := range c.Calls {
		call := &c.Calls[i]
		if call.Client == who && call.Kind == acquire && int(call.Invoke) < index && (call.Open() || index < int(call.Done)) {
			return true
		}
	}
	return false
}
