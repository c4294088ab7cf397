// Package nemesis knows the faults that a run can suffer, when they strike, and how they heal. It decides nothing about
// how a fault is made real: a testbed does that, as a Target.
//
// A Schedule is a pure value, read from a scenario file or drawn from a seed. To add a fault: one file with a type that
// implements Fault, and one method on Target.
package nemesis

import (
	"errors"
	"fmt"
	"time"
)

// Fault is one thing that goes wrong: a pure value that can be compared by reflect.DeepEqual. Inject makes it so at once and
// returns how to heal it; its errors are the Target's.
type Fault interface {
	Kind() string    // one word, such as "pause"
	Subject() string // whom it strikes, such as "A" or "A-n4,n5"
	Inject(Target) (Heal, error)
}

// Heal ends a fault and reports what it did while it lasted. For a fault that cannot be undone (a crash, a clock step)
// it only reports. It is called once.
type Heal func() (Evidence, error)

// Evidence is what a testbed measured of a fault: not that it was ordered, but that something felt it.
type Evidence struct {
	Effective bool              // false: nothing noticed the fault, so the run proves nothing about it
	Detail    map[string]string // measured figures, with their unit
}

// ErrUnsupported is wrapped by a Target that cannot do what a fault asks. The run is then reported as not supported,
// never as held.
var ErrUnsupported = errors.New("not supported here")

// Target is what a testbed lets a nemesis do. Names are those of the plan; links are (client, node), (client, Resource)
// or (Primary, Replica). Every method takes effect before it returns. Faults strike and heal from many goroutines: methods
// and the Heal that they return are safe for concurrent use. A name that is not there, like what a testbed cannot do, is an
// error that wraps ErrUnsupported.
type Target interface {
	// Pause stops the whole client: nothing it sends leaves, nothing it would read arrives, no step starts.
	Pause(client string) (Heal, error)
	// Kill ends the client for good. What it had handed to the network still arrives.
	Kill(client string) (Heal, error)
	// Stall starves the client's background work with the lock servers (renewals); its steps go on.
	Stall(client string) (Heal, error)
	// Disturb changes how the links carry bytes.
	Disturb(links []Link, d Disturbance) (Heal, error)
	// Reset breaks each connection of the links that has carried so many bytes more in one direction.
	Reset(links []Link, d Direction, after int64) (Heal, error)
	// CrashNode stops a node at once; Heal starts it again with the data that survive. Unsynced is what LoseSecond loses.
	CrashNode(node string, keep Survival, unsynced time.Duration) (Heal, error)
	// StepClock moves a node's wall clock; Heal reports only.
	StepClock(node string, by time.Duration) (Heal, error)
	// SetClockRate makes a node's wall clock run faster (>1) or slower; 0 stops it. Heal sets it back to 1.
	SetClockRate(node string, rate float64) (Heal, error)
	// Failover kills the primary and has its replica promoted with the data that had reached it; Heal reports only. By
	// Sentinel it returns when the primary is dead, and Heal when the replica has been promoted.
	Failover(by Promoter) (Heal, error)
	// SplitBrain parts the primary and the clients from everybody else, and has the replica promoted as by Sentinel; Heal
	// makes the old primary a replica.
	SplitBrain(clients []string) (Heal, error)
}

// Names of servers that are not numbered nodes.
const (
	Resource = "resource" // the protected resource
	Primary  = "primary"
	Replica  = "replica"
	Pivot    = "pivot" // the node that decides: n3 of five, else the only one or the primary
	AllNodes = "all"   // in a link: every lock server
)

// Link joins a client to a server, or the primary to its replica.
type Link struct {
	From, To string
}

func (l Link) String() string { return l.From + "-" + l.To }

// Direction says which way of a link a disturbance concerns.
type Direction uint8

const (
	Both     Direction = iota
	Requests           // from client to server
	Replies            // from server to client
)

var directionNames = [...]string{Both: "both", Requests: "requests", Replies: "replies"}

// String is the direction's name in a scenario file.
func (d Direction) String() string {
	if int(d) >= len(directionNames) {
		return fmt.Sprintf("Direction(%d)", uint8(d))
	}
	return directionNames[d]
}

// Disturbance is what happens to the bytes on a link. Exactly one of Cut, Drop, Delay and PerKB is set.
type Disturbance struct {
	Direction Direction
	Cut       bool          // held, and delivered in order on healing, also when the sender has given up meanwhile
	Drop      bool          // lost; connections that lost something are reset on healing
	Delay     time.Duration // added to each message
	Jitter    time.Duration // up to this much more, drawn per message
	PerKB     time.Duration // that a thousand bytes of one connection take
}

// Survival says what a crashed node still has when it comes back.
type Survival uint8

const (
	KeepAll    Survival = iota // everything acknowledged, as with appendfsync always
	LoseSecond                 // all but the last second, as with appendfsync everysec
	LoseAll                    // nothing, as without persistence
)
