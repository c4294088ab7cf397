package runner

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// recorder gives events their index and time, keeps them, and streams them out. Safe for concurrent use.
type recorder struct {
	now func() time.Duration
	// late: events may come later than others that happened after them. They are put in order at the end, and until then
	// written as they are heard where what is written can be written anew.
	late bool
	redo redoer // may be nil

	mu     sync.Mutex
	out    *history.Writer // may be nil
	failed error           // of redo
	events []history.Event
	open   map[string]opened // by client: invoked and not completed
	dead   map[string]bool
	closed bool
}

// opened is an invocation with its place among the events.
type opened struct {
	history.Event
	place int
}

// redoer is an io.Writer that can replace all that was written to it.
type redoer interface {
	Redo(write func(io.Writer) error) error
}

// newRecorder records to out, nil for nowhere.
func newRecorder(out io.Writer, now func() time.Duration, late bool) *recorder {
	r := &recorder{now: now, late: late, open: map[string]opened{}, dead: map[string]bool{}}
	if out != nil {
		r.out = history.NewWriter(out)
		r.redo, _ = out.(redoer)
	}
	return r
}

// record appends an event. What a dead client's code still does, and what happens after the end, is no part of the run.
func (r *recorder) record(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || (e.Role == history.Client && r.dead[e.Process]) {
		return
	}
	if e.Role == history.Client {
		switch e.Type {
		case history.Invoke:
			r.open[e.Process] = opened{e, len(r.events)}
		default:
			if r.open[e.Process].Op == e.Op {
				delete(r.open, e.Process)
			}
		}
	}
	r.append(e)
}

// append takes the event's own time if it has one and events may come late.
func (r *recorder) append(e history.Event) {
	if e.Time == 0 || !r.late {
		e.Time = r.now()
	}
	e.Index = len(r.events)
	r.events = append(r.events, e)
	if r.late && r.redo == nil {
		return
	}
	if r.late && e.Op == history.Begin {
		e = history.MarkHeard(e)
	}
	r.write(e)
}

func (r *recorder) write(e history.Event) {
	if r.out != nil {
		_ = r.out.Write(e) // the writer keeps its first error; Run returns it
	}
}

// began moves a client's open invocation to when the client itself began it.
func (r *recorder) began(client string, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.open[client]
	if ok && r.late && !r.closed && at > r.events[o.place].Time {
		r.events[o.place].Time = at
	}
}

// order puts events that came late into their places.
func (r *recorder) order() {
	slices.SortStableFunc(r.events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range r.events {
		r.events[i].Index = i
	}
	if r.redo == nil {
		r.writeAll()
		return
	}
	r.failed = r.redo.Redo(func(w io.Writer) error {
		r.out = history.NewWriter(w)
		r.writeAll()
		return r.out.Err()
	})
}

func (r *recorder) writeAll() {
	for _, e := range r.events {
		r.write(e)
	}
}

// err is why not everything could be written.
func (r *recorder) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil || r.out == nil {
		return r.failed
	}
	return r.out.Err()
}

// died ends a client: what it had open may or may not happen.
func (r *recorder) died(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.dead[client] {
		return
	}
	if o, ok := r.open[client]; ok {
		e := o.Event
		e.Type, e.Error = history.Info, "the client was killed"
		r.append(e)
		delete(r.open, client)
	}
	r.append(history.Event{Process: client, Type: history.Info, Op: history.Died})
	r.dead[client] = true
}

// finish records the end, if the run came to one, and takes nothing any more.
func (r *recorder) finish(whole bool) []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.events
	}
	if whole {
		r.append(history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.End})
	}
	r.closed = true
	if r.late {
		r.order()
	}
	return r.events
}
