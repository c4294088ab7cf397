package nemesis

// Pause stops a client as a whole, as a long garbage collection or SIGSTOP does. Its watchdog stops with it.
type Pause struct{ Client string }

// Kind implements Fault.
func (f Pause) Kind() string { return "pause" }

// Subject implements Fault.
func (f Pause) Subject() string { return f.Client }

// Inject implements Fault.
func (f Pause) Inject(t Target) (Heal, error) { return t.Pause(f.Client) }
