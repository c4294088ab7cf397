package history

import (
	"fmt"
	"time"
)

// Type says what an event tells about its operation.
type Type uint8

const (
	Invoke Type = iota + 1 // the process asked for it
	Ok                     // it happened
	Fail                   // it certainly did not happen
	Info                   // it may or may not have happened, or may still happen
)

var typeNames = [...]string{Invoke: "invoke", Ok: "ok", Fail: "fail", Info: "info"}

func (t Type) String() string {
	if t < Invoke || t > Info {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return typeNames[t]
}

// MarshalText writes the lower-case name; an unset type is an error.
func (t Type) MarshalText() ([]byte, error) {
	if t < Invoke || t > Info {
		return nil, fmt.Errorf("event type %d is none of invoke, ok, fail, info", uint8(t))
	}
	return []byte(typeNames[t]), nil
}

// UnmarshalText reads the lower-case name.
func (t *Type) UnmarshalText(text []byte) error {
	for i := Invoke; i <= Info; i++ {
		if typeNames[i] == string(text) {
			*t = i
			return nil
		}
	}
	return fmt.Errorf("event type %q is none of invoke, ok, fail, info", text)
}

// Role says what kind of process an event comes from. A file leaves that of clients out.
type Role uint8

const (
	Client   Role = iota // a process that uses the lock
	Node                 // a lock server: what it saw happen to its keys
	Resource             // the protected resource: what it applied and refused, in its own order
	Nemesis              // a fault: invoke when injected, ok (with evidence) or fail (no effect) when healed
	Harness              // the run itself: the plan at the start, the end
)

var roleNames = [...]string{Client: "", Node: "node", Resource: "resource", Nemesis: "nemesis", Harness: "harness"}

func (r Role) String() string {
	if r > Harness {
		return fmt.Sprintf("Role(%d)", uint8(r))
	}
	return roleNames[r]
}

// MarshalText writes the lower-case name, nothing for a client; one that there is not is an error.
func (r Role) MarshalText() ([]byte, error) {
	if r > Harness {
		return nil, fmt.Errorf("%v is no role", r)
	}
	return []byte(roleNames[r]), nil
}

// UnmarshalText reads the lower-case name. One that checkers do not know is an error: under it an event would be evidence
// that nobody looks at.
func (r *Role) UnmarshalText(text []byte) error {
	for i, name := range roleNames {
		if name == string(text) {
			*r = Role(i)
			return nil
		}
	}
	return fmt.Errorf("role %q is none of node, resource, nemesis, harness (a client has none)", text)
}

// Op names an operation. Faults use the fault's kind as their operation.
type Op string

// Operations of clients.
const (
	Acquire Op = "acquire"
	Extend  Op = "extend"
	Check   Op = "check" // a careful client compares the clock with its lease's until: ok means still valid
	Read    Op = "read"
	Write   Op = "write"
	Release Op = "release"
	Lost    Op = "lost"  // info: the lock told its holder that the lease is over
	Died    Op = "died"  // info: the client was killed; nothing of it happens later
	Panic   Op = "panic" // info: the lock under test panicked
)

// Operations of the other roles. A resource uses Read and Write.
const (
	Begin      Op = "begin"       // harness: first event; Detail describes the plan, see Plan
	End        Op = "end"         // harness: last event; nothing was cut off
	Trouble    Op = "trouble"     // harness: what it could not do; judged by nobody
	KeySet     Op = "key-set"     // node: a key came to be or got another value
	KeyTTL     Op = "key-ttl"     // node: a key kept its value and got another expiry
	KeyDeleted Op = "key-deleted" // node: a command removed a key
	KeyExpired Op = "key-expired" // node: a key ran out; noticed at the node's next command
)

// Event is one line of a history. The zero value of an optional field means "does not apply".
type Event struct {
	Index   int           `json:"index"`   // position in the history, from 0
	Time    time.Duration `json:"time_ns"` // since the start of the run, on one monotonic clock
	Process string        `json:"process"`
	Role    Role          `json:"role,omitempty"`
	Type    Type          `json:"type"`
	Op      Op            `json:"op"`

	Resource string        `json:"resource,omitempty"` // lock or data the operation is about; for a node the key
	Lease    string        `json:"lease,omitempty"`    // one acquire call and all that follows from it; never reused
	By       string        `json:"by,omitempty"`       // servers: the client they acted for; clients of Jepsen: the owner that the lock knew
	Value    int64         `json:"value,omitempty"`    // data read or written; for a write that takes stock, how much
	Version  int64         `json:"version,omitempty"`  // resource: number of writes applied so far, this one included
	Fence    int64         `json:"fence,omitempty"`    // fencing token, 0 if none
	Until    time.Duration `json:"until_ns,omitempty"` // when the lease ends as its holder knows, on the clock of Time

	Error  string            `json:"error,omitempty"`
	Detail map[string]string `json:"detail,omitempty"` // evidence of a fault, the plan, a key's value
}

const refusedKey = "refused" // in the Detail of a release that failed

// Refused tells whether an operation failed because its object said no. A release may have failed on its way there: then its
// caller may hold all the same.
func (e *Event) Refused() bool { return e.Type == Fail && e.Detail[refusedKey] != "unknown" }

// Known tells whether checkers know the operation of an event. Of a fault they take any.
func (e *Event) Known() bool {
	switch e.Role {
	case Client:
		switch e.Op {
		case Acquire, Extend, Check, Read, Write, Release, Lost, Died, Panic:
			return true
		}
	case Node:
		switch e.Op {
		case KeySet, KeyTTL, KeyDeleted, KeyExpired:
			return true
		}
	case Resource:
		return e.Op == Read || e.Op == Write
	case Harness:
		return e.Op == Begin || e.Op == End || e.Op == Trouble
	}
	return e.Role == Nemesis
}
