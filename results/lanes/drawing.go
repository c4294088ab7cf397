// Package lanes turns a history into a drawing, and the drawing into SVG, text for a terminal, a Chrome trace, and data
// for the page. There is one drawing and several writers: what each of them shows is what the checker judged.
//
// A Drawing has a lane for each client, lock server and protected resource. On a client's lane lie its leases twice: as
// their holder believed (checker.Grant.Beliefs, which exclusion judges) and as the lock servers had them
// (checker.Lifelines). Where the first outlasts the second is the gap in which locks break. Faults are bands over the
// lanes that they touch, operations are ticks, and what a witness names is marked.
package lanes

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Drawing is a history as lanes over time. It is a value: nothing in it points back into the history.
type Drawing struct {
	End     time.Duration // of the history
	Lanes   []Lane
	Bars    []Bar  // by lane, then by From
	Bands   []Band // by From
	Ticks   []Tick // by lane, then by From
	Stories []Story
	Events  int  // in the history
	Locks   bool // there is more than one lock, so a bar has to say which it is about
}

// Kind of a lane.
type Kind uint8

// Kinds of lanes, in the order in which they are drawn.
const (
	Client Kind = iota
	Node
	Resource
	Faults // what strikes none of the others by name
)

var kindNames = [...]string{"client", "node", "resource", "faults"}

func (k Kind) String() string { return kindNames[k] }

// Lane is one process.
type Lane struct {
	Name string
	Kind Kind
}

// Sort of a bar.
type Sort uint8

// Sorts of bars.
const (
	Believed Sort = iota // on a client's lane: it takes it that it holds the lock
	Served               // on a client's lane: enough lock servers had its lease
	Stay                 // on a node's lane: it had a client's value
)

var sortNames = [...]string{"believed", "served", "stay"}

func (s Sort) String() string { return sortNames[s] }

// Bar is a lease over a stretch of time, [From, To). To is at most the end of the history.
type Bar struct {
	Lane     int
	Sort     Sort
	From, To time.Duration
	Open     bool   // it had not ended by the end of the history
	Doubtful bool   // the log may not tell its end: the server crashed or failed over
	Client   string // whose lease it is
	Lock     string // for a Stay the key
	Lease    string // none for a Stay
	Fence    int64  // 0 if none
	Why      string // it ended
	Event    int    // that made it: the acquire's completion; -1 for a Stay
	Witness  bool
}

// Band is a fault.
type Band struct {
	Lanes    []int
	From, To time.Duration
	Open     bool   // nobody healed it
	Name     string // such as "fault-1"
	Kind     string // such as "pause"
	Subject  string // such as "A", "A-n4 A-n5"
	Outcome  string // "took effect", "had no effect", "no evidence"
	Evidence string // such as "held_back 1, stood_still 14.9s"
	Event    int
	Witness  bool
}

// Mark of a tick that deserves attention.
type Mark uint8

// Marks.
const (
	Plain    Mark = iota
	Rejected      // the resource refused it
	Stale         // the resource applied it over a version that its section had not seen
)

var markNames = [...]string{"", "rejected", "stale"}

func (m Mark) String() string { return markNames[m] }

// Tick is one operation of a client, from its invocation to its completion, or what a resource did at one instant.
type Tick struct {
	Lane     int
	From, To time.Duration
	Op       history.Op
	Outcome  history.Type // 0 if it never completed
	Lease    string
	By       string // at a resource: the client behind it
	Fence    int64
	Value    int64
	Version  int64
	Error    string
	Event    int // the completion; the invocation if there is none
	Invoke   int // the invocation; -1 if there is none
	Cause    int // at a resource: place in Ticks of the client's operation; -1 if it is not known
	Mark     Mark
	Witness  bool
}

// Story is a violation.
type Story struct {
	Property string
	Sentence string
	Events   []int         // indexes into the history
	From, To time.Duration // what to look at
}
