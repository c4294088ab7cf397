package nemesis

// Stall starves a client's renewals while its work goes on, as a blocked event loop or a starved timer thread does.
type Stall struct{ Client string }

// Kind implements Fault.
func (f Stall) Kind() string { return "stall" }

// Subject implements Fault.
func (f Stall) Subject() string { return f.Client }

// Inject implements Fault.
func (f Stall) Inject(t Target) (Heal, error) { return t.Stall(f.Client) }
