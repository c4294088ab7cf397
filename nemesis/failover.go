package nemesis

// Failover kills the primary; its replica takes over with whatever had reached it. Hold the replication link back with
// Disturb to make it lag. It does not heal.
type Failover struct{ By Promoter }

// Promoter says who promotes the replica.
type Promoter uint8

const (
	ByHand     Promoter = iota // an operator, at once, before the primary dies
	BySentinel                 // a majority of Sentinels, once they have found the primary dead: that takes real seconds
)

// Kind implements Fault.
func (f Failover) Kind() string { return "failover" }

// Subject implements Fault.
func (f Failover) Subject() string { return Primary }

// Inject implements Fault.
func (f Failover) Inject(t Target) (Heal, error) { return t.Failover(f.By) }
