package history

import (
	"errors"
	"fmt"
	"time"
)

// order is what each event of a history must satisfy, seen from those before it. Writer and Reader share it: what one
// writes the other accepts.
type order struct {
	events int           // so far
	last   time.Duration // Time of the latest event
	heard  bool          // events stand as they were heard
}

// accept counts the event in or says why it cannot come next.
func (o *order) accept(e *Event) error {
	switch {
	case e.Type == 0:
		return errors.New("no type")
	case e.Type > Info:
		return fmt.Errorf("%v is no type of event", e.Type)
	case e.Process == "":
		return errors.New("no process")
	case e.Op == "":
		return errors.New("no op")
	case e.Role > Harness:
		return fmt.Errorf("%v is no role", e.Role)
	case e.Index != o.events:
		return fmt.Errorf("index %d does not follow: expected %d, as events are numbered from 0", e.Index, o.events)
	case e.Time < o.last && !o.heard:
		return fmt.Errorf("time runs backwards: %d ns after %d ns", e.Time, o.last)
	}
	if o.events == 0 {
		o.heard = e.Role == Harness && e.Op == Begin && e.Detail[orderKey] == asHeard
	}
	o.events++
	o.last = e.Time
	return nil
}
