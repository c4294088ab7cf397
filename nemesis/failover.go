package nemesis

// Failover kills the primary and promotes its replica with whatever had reached it. Hold the replication link back with
// Disturb to make it lag. It does not heal.
type Failover struct{}

// Kind implements Fault.
func (f Failover) Kind() string { return "failover" }

// Subject implements Fault.
func (f Failover) Subject() string { return Primary }

// Inject implements Fault.
func (f Failover) Inject(t Target) (Heal, error) { return t.Failover() }
