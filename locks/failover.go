package locks

// newFailover returns single, run on a primary with an asynchronous replica. The client goes to whichever of them leads, by
// one address or by asking Sentinels. What differs is that an acknowledged SET can be gone after a failover.
//
// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/, "Why failover-based implementations
// are not enough".
func newFailover(env Env) (Lock, error) { return newSingle(env) }
