package locks

// newFailover returns single, run on a primary with an asynchronous replica behind one address. Nothing in the client
// differs; what differs is that an acknowledged SET can be gone after a failover.
//
// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/, "Why failover-based implementations
// are not enough".
func newFailover(env Env) (Lock, error) { return newSingle(env) }
