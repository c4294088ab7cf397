package nemesis

import "strings"

// SplitBrain parts the primary, with some clients, from everybody else: from its replica, from the Sentinels and from the
// other clients. The Sentinels promote the replica, and the other clients follow, while the old primary goes on serving
// those on its side. Healing makes it a replica of the new primary: what it had taken in the meantime is gone.
type SplitBrain struct{ Clients []string } // on the old primary's side; at least one

// Kind implements Fault.
func (f SplitBrain) Kind() string { return "split-brain" }

// Subject implements Fault.
func (f SplitBrain) Subject() string { return strings.Join(f.Clients, " ") }

// Inject implements Fault.
func (f SplitBrain) Inject(t Target) (Heal, error) { return t.SplitBrain(f.Clients) }
