package nemesis

import "time"

// Bandwidth makes links slow: each connection carries a thousand bytes, one way, in PerKB, one message after the other.
type Bandwidth struct {
	Links     []Link // at least one
	Direction Direction
	PerKB     time.Duration // positive; 1 ms is 1000 KB/s
}

// Kind implements Fault.
func (f Bandwidth) Kind() string { return "bandwidth" }

// Subject implements Fault.
func (f Bandwidth) Subject() string { return subject(f.Links) }

// Inject implements Fault.
func (f Bandwidth) Inject(t Target) (Heal, error) {
	return t.Disturb(f.Links, Disturbance{Direction: f.Direction, PerKB: f.PerKB})
}
