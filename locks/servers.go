package locks

// Names are those of the servers that clients dial, in order, on every testbed.
func (s Servers) Names() []string {
	switch s {
	case OneNode:
		return []string{"redis"}
	case PrimaryAndReplica:
		return []string{"primary"}
	case FiveNodes, ConsensusService:
		return []string{"n1", "n2", "n3", "n4", "n5"}
	}
	return nil
}
