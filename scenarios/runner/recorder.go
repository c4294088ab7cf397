package runner

import (
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// recorder gives events their index and time, keeps them, and streams them out. Safe for concurrent use.
type recorder struct {
	now func() time.Duration

	mu     sync.Mutex
	out    *history.Writer // may be nil
	events []history.Event
	open   map[string]history.Event // by client: invoked and not completed
	dead   map[string]bool
	closed bool
}

func newRecorder(out *history.Writer, now func() time.Duration) *recorder {
	return &recorder{now: now, out: out, open: map[string]history.Event{}, dead: map[string]bool{}}
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
			r.open[e.Process] = e
		default:
			if r.open[e.Process].Op == e.Op {
				delete(r.open, e.Process)
			}
		}
	}
	r.append(e)
}

func (r *recorder) append(e history.Event) {
	e.Index, e.Time = len(r.events), r.now()
	r.events = append(r.events, e)
	if r.out != nil {
		_ = r.out.Write(e) // the writer keeps its first error; Run returns it
	}
}

// died ends a client: what it had open may or may not happen.
func (r *recorder) died(client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.dead[client] {
		return
	}
	if e, ok := r.open[client]; ok {
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
	if whole {
		r.append(history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.End})
	}
	r.closed = true
	return r.events
}
