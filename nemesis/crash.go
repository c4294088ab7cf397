package nemesis

import "time"

// Crash stops a node at once; it comes back on healing with the data that survive.
type Crash struct {
	Node     string
	Keep     Survival
	Unsynced time.Duration // what was written so shortly before is lost, with LoseSecond
}

// Kind implements Fault.
func (f Crash) Kind() string { return "crash" }

// Subject implements Fault.
func (f Crash) Subject() string { return f.Node }

// Inject implements Fault.
func (f Crash) Inject(t Target) (Heal, error) { return t.CrashNode(f.Node, f.Keep, f.Unsynced) }
