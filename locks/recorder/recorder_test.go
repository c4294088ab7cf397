package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/certain"
	"github.com/lockfault/lockfault/checker/recording"
	"github.com/lockfault/lockfault/locks"
)

// local is a lock within this process, or none at all.
type local struct{ turn chan struct{} }

func (l local) Acquire(_ context.Context, resource string) (*locks.Lease, error) {
	if l.turn != nil {
		l.turn <- struct{}{}
	}
	return locks.NewLease(resource, "t", 0, time.Time{}), nil
}

func (l local) Release(context.Context, *locks.Lease) error {
	if l.turn != nil {
		<-l.turn
	}
	return nil
}

func (l local) Extend(context.Context, *locks.Lease) error { return locks.ErrUnsupported }
func (l local) Close() error                               { return nil }

func read(t *testing.T, text []byte) []recording.Line {
	t.Helper()
	lines, _, err := recording.Read(bytes.NewReader(text), "f")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return lines
}

func verdicts(t *testing.T, lines []recording.Line) map[string]checker.Verdict {
	t.Helper()
	j, err := certain.Judge(lines, func(string) time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	return j.Verdicts
}

// TestWhatIsRecordedIsWhatHappened: a mutex excludes, no lock does not, and the recordings say so.
func TestWhatIsRecordedIsWhatHappened(t *testing.T) {
	for name, want := range map[string]checker.Status{"mutex": checker.Held, "none": checker.Violated} {
		var out bytes.Buffer
		r, err := New(&out, Options{Host: "h"})
		if err != nil {
			t.Fatal(err)
		}
		var lock local
		if name == "mutex" {
			lock.turn = make(chan struct{}, 1)
		}
		var working, all sync.WaitGroup
		working.Add(4)
		for i := range 4 {
			all.Go(func() {
				client := r.Wrap(lock, fmt.Sprint("w", i))
				for n := range 50 {
					lease, err := client.Acquire(context.Background(), "stock")
					if err != nil {
						t.Error(err)
						return
					}
					if n == 0 && name == "none" { // all hold at once, if it is no lock
						working.Done()
						working.Wait()
						time.Sleep(time.Millisecond)
					}
					write := client.Write(lease, "item")
					write.Applied(0)
					if err := client.Release(context.Background(), lease); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		lines := read(t, out.Bytes())
		if len(lines) != 1+4*50*3+1 || lines[0].Op != recording.Start || lines[len(lines)-1].Op != recording.End {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		if v := verdicts(t, lines)[checker.Exclusion]; v.Status != want {
			t.Errorf("%s: %v %s", name, v.Status, v.Reason)
		}
	}
}

// fake is a lock that answers as it is told.
type fake struct {
	lease *locks.Lease
	err   error
}

func (f *fake) Acquire(context.Context, string) (*locks.Lease, error) { return f.lease, f.err }
func (f *fake) Extend(context.Context, *locks.Lease) error            { return f.err }
func (f *fake) Release(context.Context, *locks.Lease) error           { return f.err }
func (f *fake) Close() error                                          { return nil }

func TestOutcomesAreToldApart(t *testing.T) {
	var out bytes.Buffer
	r, err := New(&out, Options{Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{})
	f := &fake{lease: locks.NewLease("stock", "t", 7, time.Now().Add(time.Hour))}
	lock := r.Wrap(f, "w")
	ctx := context.Background()
	lease, _ := lock.Acquire(ctx, "stock")
	f.err = locks.ErrNotHeld
	_ = lock.Extend(ctx, lease)
	lock.Write(lease, "").Done(errors.New("time-out"))
	_ = lock.Release(ctx, lease)
	f.err = fmt.Errorf("busy: %w", locks.ErrNotAcquired)
	_, _ = lock.Acquire(ctx, "stock")
	f.err = context.DeadlineExceeded
	_, _ = lock.Acquire(ctx, "stock")
	f.err = nil
	f.lease = locks.NewLease("stock", "t", 8, time.Now().Add(time.Hour))
	f.lease.Lost = lost
	lease, _ = lock.Acquire(ctx, "stock")
	_ = lock.Extend(ctx, lease)
	close(lost)
	lock.dogs.Wait()
	lock.Write(nil, "").Done(nil) // of no lease: nothing
	if err := errors.Join(lock.Close(), r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	var got []string
	for _, l := range read(t, out.Bytes()) {
		got = append(got, strings.TrimSpace(fmt.Sprint(l.Op, " ", l.Outcome, " ", l.Fence, " ", !l.Until.IsZero())))
	}
	want := "start  0 false|acquire ok 7 true|extend fail 0 false|write unknown 7 false|release fail 0 false|acquire fail 0 false|" +
		"acquire unknown 0 false|acquire ok 8 false|extend ok 0 true|lost  0 false|end  0 false"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// gate is a disk that stands still while it is shut, and fails when told to.
type gate struct {
	bytes.Buffer
	open chan struct{}
	fail func(n int) bool // the n-th write
	n    int
}

func (g *gate) Write(p []byte) (int, error) {
	if g.open != nil {
		<-g.open
	}
	g.n++
	if g.fail != nil && g.fail(g.n) {
		n, _ := g.Buffer.Write(p[:len(p)/2])
		return n, errors.New("disk full")
	}
	return g.Buffer.Write(p)
}

func TestASlowDiskStopsNoLockAndNothingIsLostSilently(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	r, err := New(g, Options{Host: "h", Buffer: 8})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 1000 {
		r.Acquire("w", "stock").Granted(0, time.Time{})
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("1000 calls took %v", took)
	}
	close(g.open)
	err = r.Close()
	lines := read(t, g.Bytes())
	acquired := 0
	for _, l := range lines {
		if l.Op == recording.Acquire {
			acquired++
		}
	}
	end := lines[len(lines)-1]
	if end.Op != recording.End || acquired+int(end.Dropped) != 1000 || end.Dropped != r.Dropped() || acquired == 0 {
		t.Errorf("%d lines, end %+v", acquired, end)
	}
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d lines were not written", end.Dropped)) {
		t.Errorf("Close: %v", err)
	}
}

func TestAFullDiskIsToldAndItsFileCanBeRead(t *testing.T) {
	g := &gate{fail: func(n int) bool { return n >= 3 && n <= 5 }}
	var told []error
	r, err := New(g, Options{Host: "h", Failed: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		r.Acquire("w", "stock").Granted(0, time.Time{})
		for len(r.lines) > 0 {
			time.Sleep(time.Millisecond) // each line is a write of its own, more or less
		}
	}
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Close: %v", err)
	}
	lines := read(t, g.Bytes())
	if end := lines[len(lines)-1]; end.Op != recording.End || end.Dropped == 0 || len(told) != 1 {
		t.Errorf("end %+v, told %v", end, told)
	}
}

const recordsVariable = "RECORDER_TEST_FILE"

// TestRecords is the process that the next test kills.
func TestRecords(t *testing.T) {
	path := os.Getenv(recordsVariable)
	if path == "" {
		t.Skip("part of the next test")
	}
	r, err := Open(path, Options{Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		c := r.Acquire("w", "stock")
		c.Granted(0, time.Time{})
		r.Release(c).Done(nil)
		for len(r.lines) > 100 { // as fast as lines are written
			time.Sleep(time.Microsecond)
		}
		if n == 1000 {
			fmt.Println("recording")
		}
	}
}

func TestAKilledProcessLeavesAFileThatSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.jsonl")
	c := exec.Command(os.Args[0], "-test.run=^TestRecords$")
	c.Env = append(os.Environ(), recordsVariable+"="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()

	r, err := Open(path, Options{Host: "h"}) // the next run
	if err != nil {
		t.Fatal(err)
	}
	call := r.Acquire("w2", "stock")
	call.Granted(0, time.Time{})
	r.Release(call).Done(nil)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := read(t, text)
	if len(lines) < 1000 {
		t.Errorf("only %d lines", len(lines))
	}
	if v := verdicts(t, lines)[checker.Exclusion]; v.Status != checker.Undecided { // no end line
		t.Errorf("%v %s", v.Status, v.Reason)
	}
}

func TestMistakesAreRefused(t *testing.T) {
	if _, err := New(&bytes.Buffer{}, Options{Buffer: -1}); err == nil {
		t.Error("a negative buffer")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "such"), Options{}); err == nil {
		t.Error("a file that cannot be")
	}
}

// BenchmarkCall is what recording adds to a call.
func BenchmarkCall(b *testing.B) {
	r, err := Open(filepath.Join(b.TempDir(), "lock.jsonl"), Options{Buffer: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r.Acquire("w", "stock").Granted(1, time.Time{})
	}
	b.ReportMetric(float64(r.Dropped())/float64(b.N), "dropped/op")
	_ = r.Close()
}
