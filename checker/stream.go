package checker

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// ErrWhole is what a Stream says of a history that it cannot judge.
var ErrWhole = errors.New("the history must be judged as a whole: a client checks its lease, and so what it believed " +
	"before depends on what comes later")

// Stream judges a history of any length, event by event, in memory that grows with what is open and not with what was.
// Its verdicts are those of the properties' Judge on the whole history (TestStreamsAgreeWithTheWhole), save that it does
// not notice a lease that is granted a second time after it was over. Not safe for concurrent use.
//
// It keeps a history of what can still matter, to which it adds a window of events at a time, and leaves out again:
//
//   - calls that completed, unless they granted or gave back a lease that is kept;
//   - leases that are over. Who is granted the lock later does not overlap with their belief. The greatest fence of each
//     lock stays, and so do the leases from the time on at which the acquire was asked for that is open longest: these are
//     all that the fence of a later answer is compared with. A grant known to be a re-entry stays one;
//   - writes of the protected resource, except the latest one with the highest fence of each piece of data, of a client that
//     is known if there is one.
//
// At the first violation of a property (for fence order: of one lock) all that is there is kept for good, with what becomes
// of the calls and leases in it; so at the end Judge finds the same violation in what was kept, and what explains it. A
// window ends only where time moves on, so that all that comes later is later.
type Stream struct {
	properties []Property
	beliefs    bool // some property asks who holds
	fences     bool // fence order is asked for

	window  int             // events
	events  []history.Event // that can still matter, numbered anew
	origins []origin        // of them
	limit   int             // number of events at which to leave out
	total   int             // events so far
	now     time.Duration
	pinned  []bool // of events: kept for good
	ranks   []int  // of the violations of properties so far
	past    past
}

// past is what is known of the part of a history that was left out.
type past struct {
	grants    int
	fenced    int            // grants with a fence of their own
	writes    int            // with a fence, applied
	reentered map[int32]bool // by completion of an acquire that is kept: it was a re-entry
}

// origin is where an event comes from.
type origin struct{ index, line int }

// streamWindow is large enough for its digest to cost little for each event, and small against a history that is long.
const streamWindow = 1 << 15

// NewStream judges by some properties, each of which must be one that streams.
func NewStream(properties []Property) (*Stream, error) { return newStream(properties, streamWindow) }

func newStream(properties []Property, window int) (*Stream, error) {
	s := &Stream{properties: properties, window: window, limit: window, ranks: make([]int, len(properties))}
	for i, p := range properties {
		s.ranks[i] = math.MaxInt
		if !p.Streams() {
			return nil, fmt.Errorf("property %s needs the whole history", p.Name)
		}
		s.beliefs = s.beliefs || p.Name != FenceEnforcement
		s.fences = s.fences || p.Name == FenceOrder
	}
	return s, nil
}

// Add takes in the next event, which stands in a line of its file. It returns an *EventError for an event with which the
// history is malformed, as NewCase does, though later than at that event; and ErrWhole.
func (s *Stream) Add(e history.Event, line int) error {
	switch {
	case e.Index != s.total:
		return &EventError{s.total, fmt.Errorf("its index is %d: events must be numbered from 0 in order", e.Index)}
	case e.Time < s.now:
		return &EventError{s.total, fmt.Errorf("its time, %v, is before that of its predecessor, %v", e.Time, s.now)}
	case s.beliefs && e.Role == history.Client && e.Op == history.Check:
		return ErrWhole
	}
	if len(s.events) >= s.limit && e.Time > s.now {
		if err := s.leaveOut(); err != nil {
			return err
		}
		s.limit = max(s.window, 2*len(s.events))
	}
	s.now = e.Time
	s.total++
	if e.Role == history.Node || e.Role == history.Harness && e.Op != history.Begin && e.Op != history.End {
		return nil
	}
	s.origins = append(s.origins, origin{e.Index, line})
	e.Index = len(s.events)
	s.events = append(s.events, e)
	return nil
}

// Verdicts gives the verdict of each property after the last event, by name. Witnesses name events of the whole history.
func (s *Stream) Verdicts() (map[string]Verdict, error) {
	d, err := s.digest()
	if err != nil {
		return nil, err
	}
	verdicts := make(map[string]Verdict, len(s.properties))
	for _, p := range s.properties {
		v := p.Judge(d.Case)
		if v.Witness != nil {
			for i, event := range v.Witness.Events {
				v.Witness.Events[i] = s.origins[event].index
			}
		}
		verdicts[p.Name] = v
	}
	return verdicts, nil
}

// LineOf is the line of an event of a witness or an *EventError; of one that was left out, that of the next that was not.
func (s *Stream) LineOf(event int) int {
	i, _ := slices.BinarySearchFunc(s.origins, event, func(o origin, event int) int { return o.index - event })
	if i == len(s.origins) {
		return 0
	}
	return s.origins[i].line
}

func (s *Stream) digest() (*digest, error) {
	d, err := digestOf(s.events, s.past)
	var wrong *EventError
	if errors.As(err, &wrong) {
		return nil, &EventError{s.origins[wrong.Event].index, wrong.Err}
	}
	return d, err
}

// leaveOut drops what cannot matter any more.
func (s *Stream) leaveOut() error {
	d, err := s.digest()
	if err != nil {
		return err
	}
	for len(s.pinned) < len(s.events) {
		s.pinned = append(s.pinned, false)
	}
	for i, p := range s.properties {
		if rank, found := p.violation(d.Case); found && rank < s.ranks[i] {
			s.ranks[i] = rank
			for i := range s.pinned {
				s.pinned[i] = true
			}
		}
	}
	s.keepOnly(newRetention(s, d))
	return nil
}

// keepOnly moves what is kept to the front.
func (s *Stream) keepOnly(r *retention) {
	s.past.reentered = r.reentered()
	n := 0
	for i, keep := range r.keep {
		if !keep {
			continue
		}
		if s.past.reentered[int32(i)] {
			delete(s.past.reentered, int32(i))
			s.past.reentered[int32(n)] = true
		}
		s.events[n], s.origins[n], s.pinned[n] = s.events[i], s.origins[i], s.pinned[i]
		s.events[n].Index = n
		n++
	}
	clear(s.events[n:])
	s.events, s.origins, s.pinned = s.events[:n], s.origins[:n], s.pinned[:n]
}
