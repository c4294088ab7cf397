package locks

import (
	"fmt"
	"strings"
)

// Find returns the entry of All with that name. The error lists the names that there are.
func Find(name string) (Entry, error) {
	for _, e := range All {
		if e.Name == name {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("no lock %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names lists the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, e := range All {
		names[i] = e.Name
	}
	return names
}

const redisPage = "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/"

// All lists the locks that lockfault knows, from the weakest on.
var All = []Entry{
	{
		Name: "none", Servers: NoServer, New: newNone,
		Summary: "no lock: every acquire is granted at once",
		Source:  "a control of the experiment",
		Limits:  "Excludes nobody. A workload that shows no violation with it proves nothing about a lock.",
	},
	{
		Name: "process-mutex", Servers: NoServer, New: newProcessMutex,
		Summary: "a mutex in the memory of each process",
		Source:  "sync.Mutex in a service that runs more than once",
		Limits:  "Excludes within one process only, and no two clients here share a process.",
	},
	{
		Name: "setnx-expire", Servers: OneNode, Fences: true, New: newSetnxExpire,
		Summary: "SETNX, then EXPIRE; a constant value; plain DEL",
		Source:  "https://redis.io/docs/latest/commands/setnx/; redis-py #554, #902",
		Limits: "A client that dies between the two commands leaves a lock for ever; release and extend hit anyone's lease. " +
			"The fence is minted after the grant: a holder that is late there gets a greater fence than its successor.",
	},
	{
		Name: "single-del", Servers: OneNode, Fences: true, New: newSingleDel,
		Summary: "SET NX PX with a random token, but plain DEL",
		Source:  redisPage + " (its counter-example); laravel #20709",
		Limits: "A holder that is late deletes its successor's lease; a lost reply leaves the lock taken for a TTL. " +
			"The fence goes back if the node loses data.",
	},
	{
		Name: "single-getdel", Servers: OneNode, Fences: true, New: newSingleGetDel,
		Summary: "SET NX PX with a random token; GET, compare in the client, DEL",
		Source:  "redis-py #1031",
		Limits: "A lease that passes on between GET and DEL is deleted; a lost reply leaves the lock taken for a TTL. " +
			"The fence goes back if the node loses data.",
	},
	{
		Name: "single", Servers: OneNode, Fences: true, New: newSingle,
		Summary: "SET NX PX with a random token; compare-and-delete in a script",
		Source:  redisPage,
		Limits: "No protection from work or a pause longer than the TTL, nor from one while the reply is under way; the node's " +
			"clock and data are trusted. The fence goes back if the node loses data.",
	},
	{
		Name: "single-watchdog", Servers: OneNode, Fences: true, New: newSingleWatchdog,
		Summary: "single, renewed every TTL/3 until released",
		Source:  "https://redisson.pro/docs/data-and-services/locks-and-synchronizers/",
		Limits: "The watchdog stands still with its process; work that hangs keeps the lock for ever; a holder that ignores the lost " +
			"signal works on without the lock. The fence goes back if the node loses data.",
	},
	{
		Name: "failover", Servers: PrimaryAndReplica, Fences: true, New: newFailover,
		Summary: "single on a primary with an asynchronous replica",
		Source:  redisPage + " (why failover-based implementations are not enough)",
		Limits: "As single; and a failover forgets grants and releases that were not replicated. The fence goes back with them, so " +
			"that two holders can have the same.",
	},
	{
		Name: "redlock", Servers: FiveNodes, Fences: true, New: newRedlock,
		Summary: "a majority of independent nodes, with elapsed-time check and drift allowance",
		Source:  redisPage + " (the Redlock algorithm)",
		Limits: "No protection from a pause after the elapsed-time check; clock steps beyond the allowance and a node that restarts " +
			"empty allow two majorities. The fence is the greatest of a majority's counters: it repeats or goes back when " +
			"later majorities are made of other nodes, even if none has lost its counter.",
	},
	{
		Name: "redlock-watchdog", Servers: FiveNodes, Fences: true, New: newRedlockWatchdog,
		Summary: "redlock, renewed by a majority every TTL/3 until released",
		Source:  redisPage + " (extending the lock); redsync, node-redlock",
		Limits: "As redlock and single-watchdog; keys lost in restarts are not set again, so that nodes restarting one after another " +
			"end the lease. The fence goes wrong as with redlock.",
	},
	{
		Name: "consensus", Servers: ConsensusService, Fences: true, New: newConsensus,
		Summary: "a session on a replicated lock service, kept alive every TTL/3",
		Source:  "https://pkg.go.dev/go.etcd.io/etcd/client/v3/concurrency; Burrows, The Chubby lock service, OSDI 2006",
		Limits: "No protection from a pause longer than the session, nor from one while the grant is under way; work that hangs keeps " +
			"the lock for ever. The fence is the grant's revision, which the service never gives out twice.",
	},
	{
		Name: "redsync", Servers: OneNode, New: newRedsync, Like: "single",
		Module:  "github.com/go-redsync/redsync/v4 v4.18.1",
		Summary: "the Go library redsync on one node",
		Source:  "https://pkg.go.dev/github.com/go-redsync/redsync/v4",
		Limits: "As single, but it compares the lease with the clock after the reply. It has no fences. A context that ends during an " +
			"attempt leaves the key behind for a TTL.",
	},
	{
		Name: "redsync-5", Servers: FiveNodes, New: newRedsync, Like: "redlock",
		Module:  "github.com/go-redsync/redsync/v4 v4.18.1",
		Summary: "the Go library redsync on five nodes, as a Redlock",
		Source:  "https://pkg.go.dev/github.com/go-redsync/redsync/v4",
		Limits:  "As redlock. It has no fences. A context that ends during an attempt leaves the keys behind for a TTL.",
	},
	{
		Name: "redislock", Servers: OneNode, New: newRedislock, Like: "single",
		Module:  "github.com/bsm/redislock v0.9.4",
		Summary: "the Go library bsm/redislock",
		Source:  "https://pkg.go.dev/github.com/bsm/redislock",
		Limits:  "As single. It has no fences, gives up at the first error of the connection, and undoes nothing after one.",
	},
	{
		Name: "rueidislock", Servers: OneNode, New: newRueidislock, Like: "single-watchdog",
		Module:  "github.com/redis/rueidis v1.0.79",
		Summary: "the Go library rueidislock on one node, renewed every TTL/2",
		Source:  "https://pkg.go.dev/github.com/redis/rueidis/rueidislock",
		Limits: "As single-watchdog. It has no fences, and sets the expiry by the client's wall clock. A holder that is cut off is told " +
			"so only half a TTL after its key is gone (A10). Run without client-side caching.",
	},
}
