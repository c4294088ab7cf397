// Package recording is what a lock in production writes down, and reads it back: one JSON line for each acquire, release
// and guarded write, in any language, on as many hosts as there are. Package locks/recorder writes it for Go; package
// checker/certain judges it.
//
// # The line
//
// A line is written when a call has returned, whole (one write to a file opened for appending), and says when the call
// began and ended. Fields that do not apply are left out; no others are allowed.
//
//	field     value            which lines, and what it says
//	host      text             all: whose clock the times are from
//	process   text             all: one run of a program; never used again, such as host, process number and start
//	op        text             all: acquire, extend, release, write, lost; and start, end, dropped
//	client    text             acquire, extend, release, write, lost: whoever the lock takes for one holder, in its process: a worker
//	lock      text             the same: name of the lock
//	lease     text             the same: one grant and all that follows from it; never used again, by any client
//	outcome   text             all calls, that is, all but lost, start, end, dropped: ok (it happened), fail (certainly not), unknown (as after a time-out)
//	began     RFC 3339 time    all calls: before the call, on the host's wall clock, as exact as can be had
//	ended     RFC 3339 time    all: after the call; of the others, when it was
//	mono_ns   nanoseconds      all, if it can be had: the process's monotonic clock, read right after ended; shows that the wall clock jumped
//	until     RFC 3339 time    acquire, extend: when the lease ends as its holder knows; absent if the holder goes on until it
//	                           releases or is told of the loss, as with a lock that renews its leases
//	fence     number           acquire, write: fencing token
//	resource  text             write: the data written to; absent is the data named like the lock
//	version   number           write, if the data tells: how many writes it has applied, this one included
//	error     text             what went wrong, for a reader
//	dropped   number           dropped, end: how many lines of the process were not written, so far
//
// These lines are of a worker that was granted the lock, wrote once, and released it:
//
//	{"host":"web-1","process":"web-1/4711/1","op":"acquire","client":"web-1/w3","lock":"stock","lease":"web-1/4711/1#9","outcome":"ok","began":"2026-11-30T21:00:00.100Z","ended":"2026-11-30T21:00:00.102Z","fence":33,"until":"2026-11-30T21:00:10.1Z"}
//	{"host":"web-1","process":"web-1/4711/1","op":"write","client":"web-1/w3","lock":"stock","lease":"web-1/4711/1#9","outcome":"ok","began":"2026-11-30T21:00:00.105Z","ended":"2026-11-30T21:00:00.109Z","fence":33,"resource":"item-7"}
//	{"host":"web-1","process":"web-1/4711/1","op":"release","client":"web-1/w3","lock":"stock","lease":"web-1/4711/1#9","outcome":"ok","began":"2026-11-30T21:00:00.11Z","ended":"2026-11-30T21:00:00.111Z"}
//
// A process that cannot write a line counts it and says so with a dropped line as soon as it can. A start line at the
// beginning and an end line at the end say that nothing is missing. A process may crash: what it had not written is not
// there, and a last line that is cut off is left out.
package recording

import (
	"errors"
	"fmt"
	"time"
)

// Op is what a line tells of.
type Op string

// Operations.
const (
	Acquire Op = "acquire"
	Extend  Op = "extend"
	Release Op = "release"
	Write   Op = "write"
	Lost    Op = "lost" // the lock told its holder that the lease is over
	Start   Op = "start"
	End     Op = "end"
	Dropped Op = "dropped"
)

// Outcome says whether a call happened.
type Outcome string

// Outcomes.
const (
	Ok      Outcome = "ok"
	Fail    Outcome = "fail"
	Unknown Outcome = "unknown"
)

// Line is one line; see the package comment.
type Line struct {
	Host     string        `json:"host"`
	Process  string        `json:"process"`
	Op       Op            `json:"op"`
	Client   string        `json:"client,omitempty"`
	Lock     string        `json:"lock,omitempty"`
	Lease    string        `json:"lease,omitempty"`
	Outcome  Outcome       `json:"outcome,omitempty"`
	Began    time.Time     `json:"began,omitzero"`
	Ended    time.Time     `json:"ended"`
	Mono     time.Duration `json:"mono_ns,omitempty"`
	Until    time.Time     `json:"until,omitzero"`
	Fence    int64         `json:"fence,omitempty"`
	Resource string        `json:"resource,omitempty"`
	Version  int64         `json:"version,omitempty"`
	Error    string        `json:"error,omitempty"`
	Dropped  int64         `json:"dropped,omitempty"`

	File   string `json:"-"` // where it was read
	Number int    `json:"-"` // of the line there, from 1
}

// Place names the file and the line.
func (l *Line) Place() string { return fmt.Sprintf("%s:%d", l.File, l.Number) }

// check says what is wrong with a line.
func (l *Line) check() error {
	switch {
	case l.Host == "":
		return errors.New("no host")
	case l.Process == "":
		return errors.New("no process")
	case l.Ended.IsZero():
		return errors.New("no ended: write the time as in \"2026-11-30T21:00:00.102Z\"")
	case l.Dropped < 0:
		return fmt.Errorf("dropped %d", l.Dropped)
	}
	switch l.Op {
	case Start, End, Dropped:
		return nil
	case Acquire, Extend, Release, Write, Lost:
	default:
		return fmt.Errorf("op %q is none of acquire, extend, release, write, lost, start, end, dropped", l.Op)
	}
	switch {
	case l.Client == "":
		return fmt.Errorf("%s: no client", l.Op)
	case l.Lock == "":
		return fmt.Errorf("%s: no lock", l.Op)
	case l.Lease == "" && !(l.Op == Acquire && l.Outcome != Ok):
		return fmt.Errorf("%s: no lease: give each grant a name of its own, and its release and writes the same", l.Op)
	case l.Op == Lost:
		return nil
	case l.Outcome != Ok && l.Outcome != Fail && l.Outcome != Unknown:
		return fmt.Errorf("outcome %q is none of ok, fail, unknown", l.Outcome)
	case l.Began.IsZero():
		return errors.New("no began: write the time before the call")
	case l.Ended.Before(l.Began):
		return fmt.Errorf("it ended %v before it began: the wall clock was set back meanwhile; write that it ended when it "+
			"began then", l.Began.Sub(l.Ended))
	}
	return nil
}
