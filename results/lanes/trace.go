package lanes

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// traceEvent is one event of Chrome's trace event format ("Trace Event Format", Google 2016), which Perfetto reads. Times
// are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Category string         `json:"cat,omitempty"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       int            `json:"id,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// WriteTrace writes the drawing in Chrome's trace event format, to be opened in Perfetto or chrome://tracing. A process of
// the trace stands for a kind of lane, a thread for one row: the calls of a client, its beliefs, what the servers had of
// it. Arrows lead from writes to what a resource made of them. What a witness names has "witness": true.
func (d *Drawing) WriteTrace(w io.Writer) error {
	t := &tracer{Drawing: d, threads: map[threadKey]int{}}
	for kind, name := range []string{"clients", "lock servers", "resources", "faults"} {
		t.add(traceEvent{Name: "process_name", Phase: "M", Process: kind + 1, Args: map[string]any{"name": name}})
	}
	for i := range d.Bands {
		t.band(&d.Bands[i])
	}
	for i := range d.Bars {
		t.bar(&d.Bars[i])
	}
	for i := range d.Ticks {
		t.tick(i)
	}
	encoder := json.NewEncoder(w)
	return encoder.Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": t.events})
}

type tracer struct {
	*Drawing
	threads map[threadKey]int
	events  []traceEvent
}

// threadKey is a row of the trace. Rows of one lane stand together.
type threadKey struct {
	process int
	name    string
}

func (t *tracer) add(e traceEvent) { t.events = append(t.events, e) }

// thread numbers rows, and names them.
func (t *tracer) thread(process int, name string) int {
	key := threadKey{process, name}
	n, known := t.threads[key]
	if !known {
		n = len(t.threads) + 1
		t.threads[key] = n
		t.add(traceEvent{Name: "thread_name", Phase: "M", Process: process, Thread: n, Args: map[string]any{"name": name}})
	}
	return n
}

func micros(t time.Duration) float64 { return float64(t) / 1e3 }

func length(from, to time.Duration) *float64 {
	d := micros(to - from)
	return &d
}

func (t *tracer) band(b *Band) {
	const process = int(Faults) + 1
	t.add(traceEvent{
		Name: b.Kind + " of " + b.Subject, Phase: "X", Category: "fault", Time: micros(b.From), Duration: length(b.From, b.To),
		Process: process, Thread: t.thread(process, b.Name),
		Args: map[string]any{"outcome": b.Outcome, "evidence": b.Evidence, "healed": !b.Open, "witness": b.Witness, "event": b.Event},
	})
}

func (t *tracer) bar(b *Bar) {
	lane := t.Lanes[b.Lane]
	row := lane.Name + map[Sort]string{Believed: " believes", Served: " at the servers", Stay: " has "}[b.Sort]
	if b.Sort == Stay || t.Locks {
		row = strings.TrimRight(row, " ") + " " + b.Lock
	}
	process := int(lane.Kind) + 1
	t.add(traceEvent{
		Name: b.Client + " holds " + b.Lock, Phase: "X", Category: b.Sort.String(), Time: micros(b.From), Duration: length(b.From, b.To),
		Process: process, Thread: t.thread(process, row),
		Args: map[string]any{"lease": b.Lease, "fence": b.Fence, "witness": b.Witness, "ends": b.Why, "doubtful": b.Doubtful},
	})
}

func (t *tracer) tick(i int) {
	tick := &t.Ticks[i]
	lane := t.Lanes[tick.Lane]
	process := int(lane.Kind) + 1
	e := traceEvent{
		Name: tick.label(), Phase: "X", Category: "operation", Time: micros(tick.From), Process: process, Thread: t.thread(process, lane.Name),
		Args: map[string]any{
			"outcome": outcome(tick.Outcome), "lease": tick.Lease, "fence": tick.Fence, "value": tick.Value, "version": tick.Version,
			"event": tick.Event, "mark": tick.Mark.String(), "witness": tick.Witness, "error": tick.Error,
		},
	}
	if tick.Invoke >= 0 {
		e.Duration = length(tick.From, tick.To)
	} else {
		e.Phase, e.Scope = "i", "t"
	}
	t.add(e)
	if tick.Cause >= 0 && tick.Op == history.Write {
		t.flow(i, e)
	}
}

// flow is the arrow from a call to what a resource made of it.
func (t *tracer) flow(i int, at traceEvent) {
	cause := &t.Ticks[t.Ticks[i].Cause]
	lane := t.Lanes[cause.Lane]
	process := int(lane.Kind) + 1
	t.add(traceEvent{Name: "write", Phase: "s", Category: "flow", ID: i + 1, Time: micros(cause.From), Process: process, Thread: t.thread(process, lane.Name)})
	t.add(traceEvent{Name: "write", Phase: "f", Binding: "e", Category: "flow", ID: i + 1, Time: at.Time, Process: at.Process, Thread: at.Thread})
}
