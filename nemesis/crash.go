package nemesis

// Crash stops a node at once; it comes back on healing with the data that survive.
type Crash struct {
	Node string
	Keep Survival
}

func (f Crash) Kind() string                  { return "crash" }
func (f Crash) Subject() string               { return f.Node }
func (f Crash) Inject(t Target) (Heal, error) { return t.CrashNode(f.Node, f.Keep) }
