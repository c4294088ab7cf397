package nemesis

import (
	"fmt"
	"slices"
	"time"
)

// Schedule is what the nemesis does in a run. A pure value; the order of its steps matters only for what is due at one
// instant.
type Schedule []Step

// Step is one fault with its time. It heals after For, or at Until, or, with neither, when the clients have finished.
type Step struct {
	Fault Fault
	When  Trigger
	For   time.Duration
	Until Trigger // zero: none
	// Optional: a lock that the fault does not touch is judged all the same. Otherwise a fault that nothing noticed leaves
	// the run undecided.
	Optional bool
}

// Scaled returns a copy of the schedule with every duration passed through scale; a clock's rate stays.
func (s Schedule) Scaled(scale func(time.Duration) time.Duration) Schedule {
	scaled := slices.Clone(s)
	for i := range scaled {
		step := &scaled[i]
		step.For, step.When.At, step.Until.At = scale(step.For), scale(step.When.At), scale(step.Until.At)
		switch f := step.Fault.(type) {
		case Disturb:
			f.Links = slices.Clone(f.Links)
			f.How.Delay, f.How.Jitter = scale(f.How.Delay), scale(f.How.Jitter)
			step.Fault = f
		case Reset:
			f.Links = slices.Clone(f.Links)
			step.Fault = f
		case Bandwidth:
			f.Links = slices.Clone(f.Links)
			f.PerKB = scale(f.PerKB)
			step.Fault = f
		case Crash:
			f.Unsynced = scale(f.Unsynced)
			step.Fault = f
		case ClockStep:
			f.By = scale(f.By)
			step.Fault = f
		}
	}
	return scaled
}

// Trigger says when something happens: at a time since the start of the run or, with a Moment, when that comes about.
// The zero value means at once.
type Trigger struct {
	At     time.Duration // with a Moment: so much later
	Moment Moment
}

// IsZero tells whether the trigger is unset.
func (t Trigger) IsZero() bool { return t == Trigger{} }

// Edge says which side of a client's operation a Moment means.
type Edge uint8

const (
	AtTime   Edge = iota // no moment
	Before               // the client is about to invoke the operation and has not
	After                // the operation completed
	Answered             // lock servers have executed a command of the operation and sent their answer
	Granted              // lock servers have written a key in an acquire and sent their answer
)

// Moment is a point of a run named by what a client does.
type Moment struct {
	Edge    Edge
	Client  string
	Op      string // "acquire", "write", ...
	Refused bool   // After: the operation failed; otherwise it succeeded
	Nth     int    // which such operation of the client, from 1; 0 means the first
	Nodes   int    // Answered, Granted: by how many different nodes; AllOfThem for all that must
	Node    string // Answered, Granted: by this node; then Nodes is 0
}

// AllOfThem in Moment.Nodes stands for every lock server of the run.
const AllOfThem = -1

func (t Trigger) String() string {
	if t.Moment.Edge == AtTime {
		return fmt.Sprintf("at %v", t.At)
	}
	if t.At != 0 {
		return fmt.Sprintf("%v + %v", t.Moment, t.At)
	}
	return t.Moment.String()
}

// String reads like "after A acquired", "before A writes (2)", "after all nodes answered A's acquire".
func (m Moment) String() string {
	nth := ""
	if m.Nth > 1 {
		nth = fmt.Sprintf(" (%d)", m.Nth)
	}
	verb := verbs[m.Op]
	switch m.Edge {
	case Before:
		return fmt.Sprintf("before %s %s%s", m.Client, verb.present, nth)
	case After:
		if m.Refused {
			return fmt.Sprintf("after %s was refused %s%s", m.Client, m.Op, nth)
		}
		return fmt.Sprintf("after %s %s%s", m.Client, verb.past, nth)
	case Answered, Granted:
		who := m.Node
		switch {
		case m.Nodes == AllOfThem:
			who = "all nodes"
		case m.Nodes == 1:
			who = "1 node"
		case m.Nodes > 1:
			who = fmt.Sprintf("%d nodes", m.Nodes)
		}
		if m.Edge == Granted {
			return fmt.Sprintf("after %s granted %s%s", who, m.Client, nth)
		}
		return fmt.Sprintf("after %s answered %s's %s%s", who, m.Client, m.Op, nth)
	}
	return "at a time"
}

// verbs of a client's operations, as triggers spell them.
var verbs = map[string]struct{ present, past string }{
	"acquire": {"acquires", "acquired"},
	"extend":  {"extends", "extended"},
	"check":   {"checks", "checked"},
	"read":    {"reads", "read"},
	"write":   {"writes", "wrote"},
	"release": {"releases", "released"},
}
