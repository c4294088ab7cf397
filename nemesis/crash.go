package nemesis

// Crash stops a node at once; it comes back on healing with the data that survive.
type Crash struct {
	Node string
	Keep Survival
}

// Kind implements Fault.
func (f Crash) Kind() string { return "crash" }

// Subject implements Fault.
func (f Crash) Subject() string { return f.Node }

// Inject implements Fault.
func (f Crash) Inject(t Target) (Heal, error) { return t.CrashNode(f.Node, f.Keep) }
