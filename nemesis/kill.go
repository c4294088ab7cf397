package nemesis

// Kill ends a client for good, as SIGKILL does. What it had handed to the network still arrives.
type Kill struct{ Client string }

// Kind implements Fault.
func (f Kill) Kind() string { return "kill" }

// Subject implements Fault.
func (f Kill) Subject() string { return f.Client }

// Inject implements Fault.
func (f Kill) Inject(t Target) (Heal, error) { return t.Kill(f.Client) }
