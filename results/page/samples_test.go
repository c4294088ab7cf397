package page_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/page"
)

// workDir is made for the comparison, if a test asks for it.
var workDir string

// comparison is the folder of a real comparison of the whole catalogue, made once by the command itself.
var comparison = sync.OnceValues(func() (folder string, err error) {
	if workDir, err = os.MkdirTemp("", "lockfault-page"); err != nil {
		return "", err
	}
	binary := filepath.Join(workDir, "lockfault")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/lockfault").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	folder = filepath.Join(workDir, "comparison")
	if out, err := exec.Command(binary, "compare", "--out", folder, "--quiet").CombinedOutput(); err != nil {
		return "", fmt.Errorf("lockfault compare: %w\n%s", err, out)
	}
	return folder, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if workDir != "" {
		os.RemoveAll(workDir)
	}
	os.Exit(code)
}

func comparisonFolder(t testing.TB) string {
	t.Helper()
	folder, err := comparison()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// recorder makes a history by hand.
type recorder struct {
	events []history.Event
	now    time.Duration
}

func (r *recorder) add(after time.Duration, e history.Event) {
	r.now += after
	e.Index, e.Time = len(r.events), r.now
	r.events = append(r.events, e)
}

func (r *recorder) call(client, lock, lease string, op history.Op, outcome history.Type, fence int64, took time.Duration) {
	r.add(0, history.Event{Process: client, Type: history.Invoke, Op: op, Resource: lock, Lease: lease})
	r.add(took, history.Event{Process: client, Type: outcome, Op: op, Resource: lock, Lease: lease, Fence: fence})
}

// twoHolders is a history in which a client was paused and another got its lock, with any names.
func twoHolders(a, b, lock string) []history.Event {
	var r recorder
	r.add(0, history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.Begin,
		Detail: history.Plan{Lock: lock, Scenario: "pause", Testbed: "hand", Seed: 1, TTL: 10 * time.Second, Nodes: 1}.Detail()})
	r.call(a, lock, a+"/1", history.Acquire, history.Ok, 33, time.Millisecond)
	r.add(0, history.Event{Process: "fault-1", Role: history.Nemesis, Type: history.Invoke, Op: "pause", Detail: map[string]string{"subject": a}})
	r.add(10*time.Second, history.Event{Process: "n1", Role: history.Node, Type: history.Ok, Op: history.KeySet, Resource: lock, By: b,
		Detail: map[string]string{"owner": b, "ttl": "10s"}})
	r.call(b, lock, b+"/1", history.Acquire, history.Ok, 34, time.Millisecond)
	r.add(0, history.Event{Process: "db", Role: history.Resource, Type: history.Ok, Op: history.Write, Resource: "data", By: b, Lease: b + "/1", Version: 1, Fence: 34})
	r.add(5*time.Second, history.Event{Process: "fault-1", Role: history.Nemesis, Type: history.Ok, Op: "pause", Detail: map[string]string{"stood_still": "15s"}})
	r.add(0, history.Event{Process: "db", Role: history.Resource, Type: history.Ok, Op: history.Write, Resource: "data", By: a, Lease: a + "/1", Version: 2, Fence: 33})
	r.call(a, lock, a+"/1", history.Release, history.Fail, 0, time.Millisecond)
	r.call(b, lock, b+"/1", history.Release, history.Ok, 0, time.Millisecond)
	r.add(0, history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.End})
	return r.events
}

// manyOperations is a history of so many operations of clients, with a violation in the middle.
func manyOperations(n int) []history.Event {
	const clients = 20
	var r recorder
	r.add(0, history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.Begin,
		Detail: history.Plan{Lock: "busy", Scenario: "many", Testbed: "hand", TTL: time.Second, Nodes: 1}.Detail()})
	version := int64(0)
	for i := 0; i*4 < n; i++ {
		client := fmt.Sprintf("client-%d", i%clients)
		lease := fmt.Sprintf("%s/%d", client, i)
		r.call(client, "stock", lease, history.Acquire, history.Ok, int64(i+1), 300*time.Microsecond)
		if i*8 == n { // nobody gave this one back
			continue
		}
		r.call(client, "stock", lease, history.Read, history.Ok, 0, 100*time.Microsecond)
		version++
		r.add(0, history.Event{Process: client, Type: history.Invoke, Op: history.Write, Resource: "stock", Lease: lease})
		r.add(100*time.Microsecond, history.Event{Process: "db", Role: history.Resource, Type: history.Ok, Op: history.Write, Resource: "stock",
			By: client, Lease: lease, Version: version})
		r.add(50*time.Microsecond, history.Event{Process: client, Type: history.Ok, Op: history.Write, Resource: "stock", Lease: lease})
		r.call(client, "stock", lease, history.Release, history.Ok, 0, 200*time.Microsecond)
	}
	r.add(0, history.Event{Process: "harness", Role: history.Harness, Type: history.Info, Op: history.End})
	return r.events
}

// judged is a run of a history, and its files.
func judged(t *testing.T, lock, scenario string, events []history.Event) (results.Run, page.Files) {
	t.Helper()
	verdicts, err := checker.Judge(events)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	w := history.NewWriter(&text)
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	run := results.Run{Lock: lock, Scenario: scenario, Testbed: "hand", Seed: 1, Verdicts: verdicts, AsExpected: true, Events: len(events)}
	return run, page.Files{History: text.Bytes(), Plan: []byte("lock: " + lock + "\n"), Scenario: []byte("title: " + scenario + "\n")}
}

// writePage writes a page of runs that have the same files.
func writePage(t *testing.T, report results.Report, files page.Files) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := page.Write(f, report, func(results.Run) (page.Files, error) { return files, nil }); err != nil {
		t.Fatal(err)
	}
	return path
}
