package checker

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Bounds of a picture. Beyond them a browser is slow, and porcupine's partial orders, of which each operation may have
// its own, take their square.
const (
	pictureOperations = 500 // in a history that is drawn as a whole
	pictureBeside     = 40  // beliefs on either side of a violation, or at the start of a history that has none
	pictureTimeout    = 10 * time.Second
)

// WritePicture writes porcupine's own visualisation of the mutex that the lock ought to be, as an HTML page that needs
// nothing else. The operations are those that exclusion judges: an acquire from its call to its return, a release from
// the moment at which its holder stopped to believe. So the page shows a violation exactly if exclusion is violated.
// Refused and unknown acquires and the faults, which change nothing in a mutex, are drawn beside.
//
// Of a large history it shows the neighbourhood of the first violation, or the beginning if there is none, and says so.
// Leaving out whole beliefs never makes a violation, and the two that collide are always there.
func WritePicture(w io.Writer, c *Case) error {
	p := newPicture(c)
	operations := p.operations()
	result, info := porcupine.CheckOperationsVerbose(p.model(), operations, pictureTimeout)
	info.AddAnnotations(p.annotations(result))
	var page bytes.Buffer
	if err := porcupine.Visualize(p.model(), info, &page); err != nil {
		return fmt.Errorf("porcupine's picture: %w", err)
	}
	title := "<title>" + html.EscapeString(p.title(result)) + "</title>"
	_, err := w.Write(bytes.Replace(page.Bytes(), []byte("<title>Porcupine</title>"), []byte(title), 1))
	return err
}

// picture is what to draw of a history.
type picture struct {
	*Case
	holds    []*hold
	all      int // beliefs that there are
	from, to time.Duration
	lanes    map[name]int // of clients
	order    []name       // of lanes
	several  bool         // locks
}

// drawn is one operation. It knows its lock for porcupine, which judges each lock by itself.
type drawn struct {
	lockmodel.Op
	client, lock name
}

func newPicture(c *Case) *picture {
	p := &picture{Case: c, lanes: map[name]int{}}
	locks := holdsByLock(c)
	p.several = len(locks) > 1
	for _, holds := range locks {
		p.holds = append(p.holds, holds...)
	}
	slices.SortStableFunc(p.holds, func(a, b *hold) int { return cmp.Compare(a.From, b.From) })
	p.all, p.to = len(p.holds), c.End
	if 2*len(p.holds) > pictureOperations {
		p.cut(overlap(locks))
	}
	for i := range c.Calls {
		if call := &c.Calls[i]; call.Kind == acquire && p.shows(call.Asked) {
			p.lane(call.Client)
		}
	}
	for _, h := range p.holds { // the acquire may have been asked long before
		p.lane(h.Client)
	}
	return p
}

// cut keeps the two beliefs that collide and those beside the second.
func (p *picture) cut(first, second *hold) {
	middle := max(0, slices.Index(p.holds, second))
	low, high := max(0, middle-pictureBeside), min(len(p.holds), middle+pictureBeside)
	kept := slices.Clone(p.holds[low:high])
	p.from = kept[0].since()
	if high < len(p.holds) {
		p.to = p.holds[high].From
	}
	if first != nil && !slices.Contains(kept, first) { // it may have begun long ago, and does not widen the view
		kept = slices.Insert(kept, 0, first)
	}
	p.holds = kept
}

func (p *picture) shows(t time.Duration) bool { return p.from <= t && t <= p.to }

// lane numbers the clients as they come.
func (p *picture) lane(client name) int {
	n, known := p.lanes[client]
	if !known {
		n = len(p.order)
		p.lanes[client] = n
		p.order = append(p.order, client)
	}
	return n
}

// operations tells the beliefs as those of a mutex. A belief ends at once: a release that may come later allows nothing
// that one at once would not. What lasts to the end of the history has no release.
func (p *picture) operations() []porcupine.Operation {
	var ops []porcupine.Operation
	add := func(h *hold, kind lockmodel.Kind, from, to time.Duration) {
		op := &drawn{client: h.Client, lock: h.Lock}
		op.Owner, op.Kind, op.Outcome = int32(p.lane(h.Client)), kind, history.Ok
		if kind == lockmodel.Acquire {
			op.Value = h.Fence
		}
		ops = append(ops, porcupine.Operation{ClientId: int(op.Owner), Input: op, Call: int64(from), Return: int64(to)})
	}
	for _, h := range p.holds {
		add(h, lockmodel.Acquire, h.since(), h.From)
		if h.To == forever {
			continue
		}
		end := h.To
		if done := p.returned(h); done != forever {
			end = max(end, done)
		}
		add(h, lockmodel.Release, h.To, end)
	}
	return ops
}

// returned is when the release that ended a belief did; forever if none did, or it never returned.
func (p *picture) returned(h *hold) time.Duration {
	if h.Why != Released || h.Release == nil || h.Release.Asked != h.To {
		return forever
	}
	return p.ended(h.Release)
}

// model is the Mutex of exclusion, in the words of the history.
func (p *picture) model() porcupine.Model {
	mutex := lockmodel.Reentrant(0, lockmodel.Lenient).Porcupine()
	m := mutex
	m.Partition = byLockDrawn
	m.Step = func(state, in, out any) (bool, any) { return mutex.Step(state, &in.(*drawn).Op, out) }
	m.DescribeOperation = func(in, _ any) string { return p.describe(in.(*drawn)) }
	// Porcupine's page takes a state for HTML, and an operation for text.
	m.DescribeState = func(state any) string { return html.EscapeString(p.state(state.(lockmodel.Hold))) }
	return m
}

func byLockDrawn(operations []porcupine.Operation) [][]porcupine.Operation {
	place := map[name]int{}
	var parts [][]porcupine.Operation
	for _, op := range operations {
		lock := op.Input.(*drawn).lock
		n, known := place[lock]
		if !known {
			n = len(parts)
			place[lock] = n
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], op)
	}
	return parts
}

func (p *picture) describe(op *drawn) string {
	text := fmt.Sprintf("%s %v", p.text(op.client), op.Kind)
	if p.several {
		text += " " + p.text(op.lock)
	}
	if op.Value != 0 {
		text += fmt.Sprintf(", fence %d", op.Value)
	}
	return text
}

func (p *picture) state(h lockmodel.Hold) string {
	switch {
	case h.Depth == 0:
		return "free"
	case h.Depth == 1:
		return "held by " + p.text(p.order[h.Holder-1])
	}
	return fmt.Sprintf("held by %s, %d times", p.text(p.order[h.Holder-1]), h.Depth)
}

// title says what the picture shows.
func (p *picture) title(result porcupine.CheckResult) string {
	verdict := map[porcupine.CheckResult]string{
		porcupine.Ok: "mutual exclusion held", porcupine.Illegal: "mutual exclusion violated",
	}[result]
	if verdict == "" {
		verdict = "mutual exclusion undecided: the search ran out of time"
	}
	return "lockfault: " + verdict + p.cutSaid()
}

// cutSaid says what was left out, if anything was.
func (p *picture) cutSaid() string {
	if len(p.holds) == p.all {
		return ""
	}
	return say(" (cut: %d of %d beliefs, from %s to %s)", len(p.holds), p.all, at(p.from), at(p.to)).String()
}

// annotations are what changes nothing in the mutex: a word on the whole, acquires without a grant, faults.
func (p *picture) annotations(result porcupine.CheckResult) []porcupine.Annotation {
	names := make([]string, len(p.order))
	for i, client := range p.order {
		names[i] = fmt.Sprintf("%d is %s", i, p.text(client))
	}
	whole := strings.TrimPrefix(p.title(result), "lockfault: ")
	all := []porcupine.Annotation{{Tag: "lockfault", Start: int64(p.from), End: int64(p.to), Description: whole,
		Details: "clients: " + strings.Join(names, ", ") + "; times in ns"}}
	for i := range p.Calls {
		call := &p.Calls[i]
		if call.Kind != acquire || call.Outcome == history.Ok || !p.shows(call.Asked) || len(all) > pictureOperations {
			continue
		}
		outcome := "refused"
		if call.Outcome != history.Fail {
			outcome = "unknown"
		}
		all = append(all, porcupine.Annotation{
			ClientId: p.lane(call.Client), Start: int64(call.Asked), End: int64(min(p.ended(call), p.to)),
			Description: fmt.Sprintf("%s acquire, %s", p.text(call.Client), outcome), Details: p.Case.describe(call).String(),
			BackgroundColor: "#eeeeee",
		})
	}
	for _, f := range p.Faults {
		if f.struck() && f.From <= p.to && p.from <= f.To {
			all = append(all, porcupine.Annotation{
				Tag: f.Name, Start: int64(max(f.From, p.from)), End: int64(min(f.To, p.to)), Description: f.String(),
				BackgroundColor: "#ffe0b0",
			})
		}
	}
	return all
}
