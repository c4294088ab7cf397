package nemesis

// Failover kills the primary and promotes its replica with whatever had reached it. Hold the replication link back with
// Disturb to make it lag. It does not heal.
type Failover struct{}

func (f Failover) Kind() string                  { return "failover" }
func (f Failover) Subject() string               { return Primary }
func (f Failover) Inject(t Target) (Heal, error) { return t.Failover() }
