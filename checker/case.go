package checker

import (
	"fmt"
	"math"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Case is a history digested once for all judges, who only read it.
type Case struct {
	names
	Events   []history.Event
	Plan     history.Plan     // zero if the history has no begin event
	Calls    []Call           // operations of clients, by invocation
	Grants   []Grant          // one per acquire that ended ok, by return
	Accesses []access         // reads and writes as the protected resources saw them, in their order
	Keys     []*history.Event // key changes on lock servers
	Deaths   []*history.Event // died events of clients
	Panics   []*history.Event // panics of the lock under test
	losses   []loss           // in their order
	Faults   []*Fault         // by first event
	End      time.Duration    // time of the last event
	Complete bool             // there is an end event: nothing was cut off

	past    past
	granted []int32 // for each name: 1 + the place in Grants of the grant of that lease, or nothing
}

// EventError tells what is wrong with an event of a history.
type EventError struct {
	Event int // index
	Err   error
}

func (e *EventError) Error() string { return fmt.Sprintf("event %d: %v", e.Event, e.Err) }

// Unwrap is what is wrong.
func (e *EventError) Unwrap() error { return e.Err }

// NewCase digests a history, which must not change any more. It fails on one that is malformed: a completion without an
// invocation, two open operations of one process, events out of order, a lease granted twice, a begin event that cannot
// be read. Then the error is an *EventError.
func NewCase(events []history.Event) (*Case, error) {
	d, err := digestOf(events, past{})
	if err != nil {
		return nil, err
	}
	return d.Case, nil
}

func digestOf(events []history.Event, before past) (*digest, error) {
	if len(events) > math.MaxInt32 {
		return nil, fmt.Errorf("%d events are more than can be judged, %d", len(events), math.MaxInt32)
	}
	d := newDigest(events)
	d.past = before
	for i := range events {
		e := &events[i]
		if e.Index != i {
			return nil, &EventError{i, fmt.Errorf("its index is %d: events must be numbered from 0 in order", e.Index)}
		}
		if e.Time < d.End {
			return nil, &EventError{i, fmt.Errorf("its time, %v, is before that of its predecessor, %v", e.Time, d.End)}
		}
		d.End = e.Time
		if err := d.add(e); err != nil {
			return nil, &EventError{i, err}
		}
	}
	return d, nil
}

// grantOf returns the grant of a lease; nil if it was not granted.
func (c *Case) grantOf(lease name) *Grant {
	if place := c.placeOf(lease); place >= 0 {
		return &c.Grants[place]
	}
	return nil
}

// placeOf is the place in Grants of the grant of a lease, -1 if it was not granted.
func (c *Case) placeOf(lease name) int {
	if lease <= 0 || int(lease) >= len(c.granted) {
		return -1
	}
	return int(c.granted[lease]) - 1
}
