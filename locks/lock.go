// Package locks has the distributed locks under test, written as one would write them in production: plain time, plain
// go-redis. They run unchanged in virtual time and against real servers.
//
// To test a lock of your own, implement Lock and add an Entry; see the README.
package locks

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"
)

// Lock is one client's handle on a distributed lock. One goroutine calls it at a time.
//
// Every method says whether it happened: nil, it did; an error that wraps ErrNotAcquired or ErrNotHeld, it certainly did
// not; any other error, it is unknown.
type Lock interface {
	// Acquire waits until it is granted the lock on the resource or ctx is done.
	Acquire(ctx context.Context, resource string) (*Lease, error)
	// Extend prolongs the lease to a whole TTL from now and moves its Until.
	Extend(ctx context.Context, lease *Lease) error
	// Release gives the lease back.
	Release(ctx context.Context, lease *Lease) error
	// Close stops what the lock runs in the background and closes its connections. It does not release leases.
	Close() error
}

// Errors that say that an operation certainly did not happen. Wrap them with what is known beside.
var (
	// ErrNotAcquired: the lock was not granted, and nothing is held on the caller's behalf.
	ErrNotAcquired = errors.New("lock not acquired")
	// ErrNotHeld: the lease was over; nothing was released or extended.
	ErrNotHeld = errors.New("lease not held")
	// ErrUnsupported: the lock has no such operation, or cannot do it as asked (an Extend, a fence).
	ErrUnsupported = errors.New("not supported here")
	// ErrBroken: the lock did what no lock may, such as ending the process that it lives in. Its run is an error, like one in
	// which a lock panics.
	ErrBroken = errors.New("the lock is broken")
)

// Lease is what a successful Acquire returns. Fields do not change; Until may, and is safe for concurrent use.
type Lease struct {
	Resource string
	Token    string          // what the servers know the holder by; new for each Acquire
	Fence    int64           // fencing token, greater with each grant; 0 if the plan wants none
	Lost     <-chan struct{} // closed when the lock learns that the lease is over before it was released; nil if it never does

	until atomic.Pointer[time.Time]
}

// NewLease makes a lease that ends at until; the zero time stands for a lease without end.
func NewLease(resource, token string, fence int64, until time.Time) *Lease {
	l := &Lease{Resource: resource, Token: token, Fence: fence}
	l.SetUntil(until)
	return l
}

// Until is the time up to which the holder may count on the lease, on its own monotonic clock; zero if it has no end.
func (l *Lease) Until() time.Time { return *l.until.Load() }

// SetUntil moves Until, after an extension.
func (l *Lease) SetUntil(t time.Time) { l.until.Store(&t) }

// prolong moves Until forward, never back: of two renewals that cross, whichever the server ran last gave the lease at
// least a TTL from the later request.
func (l *Lease) prolong(t time.Time) {
	for {
		old := l.until.Load()
		if !t.After(*old) || l.until.CompareAndSwap(old, &t) {
			return
		}
	}
}

// Env is what a testbed gives to the lock of one client.
type Env struct {
	Client string   // name of the client, for tokens and messages
	Nodes  []string // lock servers as host:port, hosts being IP literals; see the Entry's Servers
	// Sentinels, as host:port like Nodes, know the primary as SentinelName; none where Nodes[0] always leads to it.
	Sentinels []string
	TTL       time.Duration // life of a lease
	Fencing   bool          // mint a fence with each grant
	Rand      *rand.Rand    // the only source of randomness, seeded by the plan; not safe for concurrent use
	// Dial opens a connection to a server; nil stands for the ordinary dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Servers says what a lock runs on.
type Servers uint8

const (
	NoServer          Servers = iota // nothing: the lock is in the process
	OneNode                          // one Redis
	PrimaryAndReplica                // one address that leads to the primary, with an asynchronous replica behind it
	FiveNodes                        // five independent Redis
	ConsensusService                 // members of a replicated lock service
)

// Entry describes a lock of All.
type Entry struct {
	Name    string
	Servers Servers
	Fences  bool   // it can mint fences
	Summary string // one line
	Source  string // where the algorithm is written down
	Limits  string // what it is known not to do, and when its fence can go wrong
	New     func(Env) (Lock, error)

	// Module is the path and version of the library that the lock is from, as in "example.org/lock v1.2.3"; empty if it is
	// written here.
	Module string
	// Command starts the lock as a program of its own, see locks/program; empty for a lock in Go.
	Command string
	// Like names the lock of All that this one is expected to behave as, for locks that scenarios do not know by name.
	Like string
}

// Known reports whether name is the entry's own or that of the lock it is like.
func (e Entry) Known(name string) bool { return name != "" && (name == e.Name || name == e.Like) }
