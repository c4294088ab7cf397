package runner

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// draft is a place for a history that can be written anew.
type draft struct {
	bytes.Buffer
	full error
}

func (d *draft) Redo(write func(io.Writer) error) error {
	var fair bytes.Buffer
	if err := errors.Join(d.full, write(&fair)); err != nil {
		return err
	}
	d.Buffer = fair
	return nil
}

// record is a run of which A's loss is heard of after B's grant.
func record(r *recorder) {
	ms := time.Millisecond
	r.record(history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.Begin})
	r.record(history.Event{Process: "B", Type: history.Invoke, Op: history.Acquire})
	r.record(history.Event{Time: 9 * ms, Process: "B", Type: history.Ok, Op: history.Acquire})
	r.record(history.Event{Time: 7 * ms, Process: "A", Type: history.Info, Op: history.Lost})
}

// TestLateEventsAreWrittenAsHeardAndThenInOrder: whatever ends the run, its history can be read.
func TestLateEventsAreWrittenAsHeardAndThenInOrder(t *testing.T) {
	var out draft
	r := newRecorder(&out, func() time.Duration { return time.Millisecond }, true)
	record(r)
	lines := func() (processes []string) {
		t.Helper()
		for line := range strings.Lines(out.String()) {
			_, name, _ := strings.Cut(line, `"process":"`)
			name, _, _ = strings.Cut(name, `"`)
			processes = append(processes, name)
		}
		if _, _, err := history.ReadAll(strings.NewReader(out.String()), "h"); err != nil {
			t.Error(err)
		}
		return processes
	}
	if got := lines(); !slices.Equal(got, []string{"harness", "B", "B", "A"}) || !strings.Contains(out.String(), `"order":"heard"`) {
		t.Errorf("as heard: %v\n%s", got, out.String())
	}
	r.now = func() time.Duration { return time.Second }
	r.finish(true)
	if got := lines(); !slices.Equal(got, []string{"harness", "B", "A", "B", "harness"}) || strings.Contains(out.String(), "heard") {
		t.Errorf("in order: %v\n%s", got, out.String())
	}
	if err := r.err(); err != nil {
		t.Error(err)
	}
}

func TestHistoryThatCannotBeWrittenAnewIsAnErrorAndStays(t *testing.T) {
	out := draft{full: errors.New("no space left")}
	r := newRecorder(&out, func() time.Duration { return time.Millisecond }, true)
	record(r)
	r.finish(true)
	if err := r.err(); !errors.Is(err, out.full) || !strings.Contains(out.String(), `"order":"heard"`) {
		t.Errorf("error %v, file\n%s", err, out.String())
	}
}

// What cannot be written anew is written at the end, in order.
func TestLateEventsAreHeldBackOtherwise(t *testing.T) {
	var out bytes.Buffer
	r := newRecorder(&out, func() time.Duration { return time.Millisecond }, true)
	record(r)
	if out.Len() > 0 {
		t.Errorf("written too early: %s", out.String())
	}
	r.finish(true)
	if events, _, err := history.ReadAll(&out, "h"); err != nil || len(events) != 5 {
		t.Errorf("%d events, %v", len(events), err)
	}
}
