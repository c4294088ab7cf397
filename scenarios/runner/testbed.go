package runner

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
)

// Testbed is where plans run.
type Testbed interface {
	// Name as in "sim" or "docker".
	Name() string
	// Run builds what setup asks for, calls body with it, and takes everything down. An error says what the code under test
	// left behind, or why the testbed could not be had.
	// An error that wraps nemesis.ErrUnsupported says that this testbed cannot run such a plan; body was not called then.
	Run(setup Setup, body func(Cluster)) error
}

// Setup is what a plan needs of a testbed.
type Setup struct {
	Seed     uint64
	Servers  locks.Servers
	Program  string // command of a lock that is a program, to be started before the run begins; empty for one in Go
	Clients  []string
	Observer Observer
	TTL      time.Duration    // of a lease
	Resource string           // name of what is locked and protected
	Faults   nemesis.Schedule // what will strike
	Watched  []string         // clients of which somebody waits to hear that a server answered or granted
	Data     *scenarios.Data  // the protected resource, for testbeds that keep it in this process; see ServeData
}

// Observer hears what lock servers do, at the instant they do it.
type Observer interface {
	// Event reports what a lock server did to a key; the observer fills in index and time. It does not call the cluster.
	Event(history.Event)
	// Answered tells that a node has executed a command of the client and sent its answer; wrote, that it set a key.
	Answered(client, node string, wrote bool)
}

// Cluster is what a testbed has built for one run.
type Cluster interface {
	nemesis.Target
	// Now is the time since the start of the run.
	Now() time.Duration
	// Hands makes the hands of one client: NewHands with the addresses and connections of this testbed, or a process that
	// does the same.
	Hands(HandsConfig) (Hands, error)
	// Step waits until the client may take its next step: not while it is paused. It fails once the client is dead.
	Step(client string) error
	// Notice is Step for what a client learns beside its steps.
	Notice(client string) error
	// AlignNemesis waits for an instant at which nothing but the nemesis acts.
	AlignNemesis()
}

// Settler is a Cluster some of whose events come late, with times of their own: stamped in another process, or read from
// the log of a database. The history is then put in order of its times at the end.
type Settler interface {
	// Settle tells the observer what it has not heard yet. An error says why the history is not whole.
	Settle() error
}
