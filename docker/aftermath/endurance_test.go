package aftermath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/docker"
	"github.com/lockfault/lockfault/docker/internal/notes"
	"github.com/lockfault/lockfault/results"
)

// TestEndurance: a thousand sections of five clients under faults drawn from a seed, some five minutes. The harness makes no
// mistake, every operation ends, everything heals, nothing is left.
func TestEndurance(t *testing.T) {
	if os.Getenv("LOCKFAULT_ENDURANCE") == "" {
		t.Skip("takes minutes: make test-endurance")
	}
	needContainers(t)
	before := look(t)
	r := start(t, t.TempDir(), "run", "--lock", "single", "--scenario", "testdata/thousand-sections.yaml", "--fencing", "on",
		"--seed", "7", "--speed", "10")
	code, took := r.ends(t)
	nothingNew(t, before)
	t.Logf("ended after %v with exit status %d\n%s", took, code, r.stdout.String())
	report, err := results.Load(r.out)
	if err != nil || len(report.Runs) != 1 {
		t.Fatalf("%v: %s", errors.Join(err, r.Err), r.stderr.String())
	}
	// Whether the machine keeps up for minutes without a hitch is not asked here. A run in which it did not is no verdict, but
	// has to come to its end like any other.
	run := report.Runs[0]
	strained := strings.HasPrefix(run.Error, docker.ErrStrained.Error()) && strings.Count(run.Error, "; ") == 1 // nothing else
	switch {
	case strained:
		notes.Add("THE ENDURANCE RUN GAVE NO VERDICTS: %s", run.Error)
	case run.Error != "":
		t.Errorf("the run failed: %s", run.Error)
	case code != 0:
		t.Errorf("not as expected: %v", run.Unexpected)
	}
	events := readHistory(t, filepath.Join(r.out, results.HistoryFile))
	tally := count(events)
	want := tallied{acquires: 1000, granted: tally.granted, faults: 80, struck: tally.struck, probed: true, ended: !strained}
	if tally != want {
		t.Errorf("the history shows %+v, want %+v", tally, want)
	}
	if tally.granted < 500 || tally.struck < 60 { // some come when the last section is over
		t.Errorf("only %d sections had the lock, and %d faults struck", tally.granted, tally.struck)
	}
}

func readHistory(t *testing.T, path string) []history.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	events, warnings, err := history.ReadAll(file, path)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	return events
}

// tallied is what a history shows of a run as a whole.
type tallied struct {
	acquires, granted int // of the clients
	faults, struck    int // all of the plan, and those whose time came
	open              int // operations and faults without an end
	troubles          int // of the harness, and panics
	probed            bool
	ended             bool
}

func count(events []history.Event) tallied {
	var n tallied
	open := map[string]bool{}
	for _, e := range events {
		lock := e.Role == history.Client && e.Op == history.Acquire
		switch {
		case e.Op == history.Trouble, e.Op == history.Panic, e.Op == history.Died:
			n.troubles++
		case e.Role == history.Harness:
			n.ended = n.ended || e.Op == history.End
		case e.Type == history.Invoke:
			open[e.Process] = true
			if e.Role == history.Nemesis {
				n.struck++
			} else if lock && e.Process != "probe" {
				n.acquires++
			}
		case e.Op == history.Lost, e.Role == history.Node, e.Role == history.Resource:
		default:
			delete(open, e.Process)
			if e.Role == history.Nemesis {
				n.faults++
			}
			if lock && e.Type == history.Ok {
				if e.Process == "probe" {
					n.probed = true
				} else {
					n.granted++
				}
			}
		}
	}
	n.open = len(open)
	return n
}
