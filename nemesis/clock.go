package nemesis

import "time"

// ClockStep moves a node's wall clock forward or, if By is negative, back. It does not heal.
type ClockStep struct {
	Node string
	By   time.Duration
}

// Kind implements Fault.
func (f ClockStep) Kind() string { return "clock-step" }

// Subject implements Fault.
func (f ClockStep) Subject() string { return f.Node }

// Inject implements Fault.
func (f ClockStep) Inject(t Target) (Heal, error) { return t.StepClock(f.Node, f.By) }

// ClockRate makes a node's wall clock run Rate times as fast as time, from 0 (it stands still) to 1000; healing sets the rate
// back to 1 and leaves the clock where it is.
type ClockRate struct {
	Node string
	Rate float64
}

// Kind implements Fault.
func (f ClockRate) Kind() string { return "clock-rate" }

// Subject implements Fault.
func (f ClockRate) Subject() string { return f.Node }

// Inject implements Fault.
func (f ClockRate) Inject(t Target) (Heal, error) { return t.SetClockRate(f.Node, f.Rate) }
