package nemesis

// Disturb changes how links carry bytes: cut (held back, delivered late), drop (lost) or delay.
type Disturb struct {
	Links []Link // at least one
	How   Disturbance
}

// Kind is cut, drop or delay.
func (f Disturb) Kind() string {
	switch {
	case f.How.Cut:
		return "cut"
	case f.How.Drop:
		return "drop"
	default:
		return "delay"
	}
}

// Subject implements Fault.
func (f Disturb) Subject() string { return subject(f.Links) }

// Inject implements Fault.
func (f Disturb) Inject(t Target) (Heal, error) { return t.Disturb(f.Links, f.How) }
