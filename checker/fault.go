package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Kinds of faults that say something to a judge. Others are only asked whom they struck.
const (
	pause    history.Op = "pause"    // of a client
	crash    history.Op = "crash"    // of a node
	cut      history.Op = "cut"      // of links: bytes are held
	drop     history.Op = "drop"     // of links: bytes are lost
	failover history.Op = "failover" // of the primary

	splitBrain history.Op = "split-brain" // of the primary, with the clients on its side
)

// Names in links that are not single lock servers, as package nemesis writes them.
const (
	resourceEnd = "resource"
	allNodes    = "all"
)

// Fault is one thing that the nemesis did, or meant to do.
type Fault struct {
	Name     string // process of its events, such as "fault-1"
	Kind     history.Op
	Subject  string        // a client, a node, or links such as "A-n4 A-n5"
	Event    int           // index of its first event
	From     time.Duration // when it was injected
	To       time.Duration // when it was healed or reported; the greatest duration if never
	Injected bool          // it has an invocation
	Outcome  history.Type  // Ok: it took effect; Fail: it did not; 0 or Info: nobody knows
	Optional bool          // the plan says that a run which it did not touch shows something all the same
}

func (f *Fault) String() string {
	if f.Subject == "" {
		return fmt.Sprintf("%s (%s)", f.Name, f.Kind)
	}
	return fmt.Sprintf("%s (%s of %s)", f.Name, f.Kind, f.Subject)
}

// struck tells whether the fault may have been felt.
func (f *Fault) struck() bool { return f.Injected && f.Outcome != history.Fail }

// meets tells whether the fault may have been felt at some time between from and to.
func (f *Fault) meets(from, to time.Duration) bool { return f.struck() && f.From <= to && from <= f.To }

// replaces tells whether another server takes the place of the primary.
func (f *Fault) replaces() bool { return f.Kind == failover || f.Kind == splitBrain }

// strikes tells whether the fault is about a client, or about one of its links.
func (f *Fault) strikes(client string) bool {
	for _, name := range strings.Fields(f.Subject) {
		if name == client || strings.HasPrefix(name, client+"-") {
			return true
		}
	}
	return false
}

// names tells whether the fault is about a node.
func (f *Fault) names(node string) bool {
	return slices.ContainsFunc(strings.Fields(f.Subject), func(name string) bool {
		return name == allNodes || slices.Contains(strings.Split(name, ","), node)
	})
}

// Forgets tells whether a lock server may come back from the fault, or be replaced by one, with less than it had.
func (f *Fault) Forgets(node string) bool { return f.replaces() || f.Kind == crash && f.names(node) }

// takesAway lists the lock servers that a client cannot reach because of the fault; "all" may be among them.
func (f *Fault) takesAway(client string) []string {
	var nodes []string
	for _, name := range strings.Fields(f.Subject) {
		switch f.Kind {
		case crash:
			nodes = append(nodes, strings.Split(name, ",")...)
		case cut, drop: // in whichever direction: without a reply, no lock server grants
			if to, ok := strings.CutPrefix(name, client+"-"); ok {
				nodes = append(nodes, strings.Split(to, ",")...)
			}
		}
	}
	return slices.DeleteFunc(nodes, func(n string) bool { return n == resourceEnd })
}

// hinders tells whether a fault may keep a client from getting a free lock.
func (f *Fault) hinders(client string) bool {
	return f.struck() && (f.Kind == crash || f.replaces() || f.strikes(client))
}

// hindered tells whether a fault may have kept a client from getting a free lock between from and to.
func (c *Case) hindered(client name, from, to time.Duration) bool {
	return slices.ContainsFunc(c.Faults, func(f *Fault) bool { return f.meets(from, to) && f.hinders(c.text(client)) })
}

// pauseOf finds the last pause of a client that overlaps a stretch of time; nil if there is none.
func (c *Case) pauseOf(client name, from, to time.Duration) *Fault {
	for _, f := range slices.Backward(c.Faults) {
		if f.Kind == pause && f.strikes(c.text(client)) && f.struck() && f.From < to && from < f.To {
			return f
		}
	}
	return nil
}

func (d *digest) addFault(e history.Event) error {
	f := d.faults[e.Process]
	if e.Type == history.Invoke {
		if f != nil {
			return fmt.Errorf("fault %s is injected for the second time", e.Process)
		}
		d.newFault(e, forever).Injected = true
		return nil
	}
	switch {
	case f == nil && e.Type == history.Fail: // it never struck
		f = d.newFault(e, e.Time)
	case f == nil || f.Outcome != 0:
		return fmt.Errorf("fault %s completes, but is not under way", e.Process)
	case f.Kind != e.Op:
		return fmt.Errorf("fault %s was injected as %s and completes as %s", e.Process, f.Kind, e.Op)
	}
	f.To, f.Outcome, f.Optional = e.Time, e.Type, e.Detail["optional"] == "true"
	return nil
}

func (d *digest) newFault(e history.Event, to time.Duration) *Fault {
	f := &Fault{Name: e.Process, Kind: e.Op, Subject: e.Detail["subject"], Event: e.Index, From: e.Time, To: to}
	d.faults[e.Process] = f
	d.Faults = append(d.Faults, f)
	return f
}
