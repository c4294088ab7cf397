package history

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// heard is a run that was cut off: A's release was heard of after B's grant, and the last line is half written.
func heard(t *testing.T, marked bool) string {
	t.Helper()
	ms := time.Millisecond
	begin := Event{Process: "harness", Role: Harness, Type: Info, Op: Begin, Detail: map[string]string{"lock": "mine"}}
	if marked {
		begin = MarkHeard(begin)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for i, e := range []Event{
		begin,
		{Time: 1 * ms, Process: "A", Type: Invoke, Op: Acquire},
		{Time: 2 * ms, Process: "A", Type: Ok, Op: Acquire},
		{Time: 4 * ms, Process: "B", Type: Invoke, Op: Acquire},
		{Time: 9 * ms, Process: "B", Type: Ok, Op: Acquire},
		{Time: 7 * ms, Process: "A", Type: Info, Op: Lost},
		{Time: 200 * ms, Process: "B", Type: Invoke, Op: Release},
		{Time: 250 * ms, Process: "B", Type: Ok, Op: Release},
	} {
		e.Index = i
		if err := w.Write(e); err != nil {
			t.Log(err)
			return ""
		}
	}
	return out.String() + `{"index":8,"time`
}

func TestEventsThatStandAsHeardAreSorted(t *testing.T) {
	text := heard(t, true)
	r := NewReader(strings.NewReader(text), "h")
	events, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range events {
		if e.Index != i || e.Detail["order"] != "" {
			t.Errorf("event %d has index %d, detail %v", i, e.Index, e.Detail)
		}
		got = append(got, e.Process+" "+string(e.Op)+" "+e.Type.String())
	}
	want := []string{"harness begin info", "A acquire invoke", "A acquire ok", "B acquire invoke", "A lost info", "B acquire ok"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: in order, without the last tenth of a second", got, want)
	}
	if line := r.LineOf(4); line != 6 {
		t.Errorf("the loss stands on line %d, want 6", line)
	}
	if w := strings.Join(r.Warnings(), "\n"); !strings.Contains(w, "h:8: the run was cut off here") || !strings.Contains(w, "2 events were left out") ||
		!strings.Contains(w, "h:9: the last line is cut off") {
		t.Error(w)
	}
	var streamed []Event
	for e, err := range NewReader(strings.NewReader(text), "h").Events() {
		if err != nil {
			t.Fatal(err)
		}
		streamed = append(streamed, e)
	}
	if len(streamed) != len(events) {
		t.Errorf("%d events streamed, %d read at once", len(streamed), len(events))
	}
}

// The twin: without the mark, an event that comes late is a mistake of whoever wrote the file.
func TestEventsThatStandAsHeardMustSaySo(t *testing.T) {
	if heard(t, false) != "" {
		t.Error("a Writer wrote events out of order")
	}
	text := strings.Replace(heard(t, true), `,"order":"heard"`, "", 1)
	if _, _, err := ReadAll(strings.NewReader(text), "h"); err == nil || !strings.Contains(err.Error(), "h:6: time runs backwards") {
		t.Error(err)
	}
}
