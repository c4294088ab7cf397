package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
)

// What is said of each naughty lock: an error that matches, or else a violated property.
var naughtyVerdicts = map[string]struct{ err, violated string }{
	"panics-in-new":          {err: `the lock panicked in New: no lock today`},
	"panics-in-acquire":      {err: `the lock panicked in acquire: acquire is hard`},
	"panics-in-background":   {err: `the lock ended its process \(exit status 2\): panic: nobody recovers me.* \(in .*lockfault\.\S+, naughty_test\.go:\d+\)`},
	"panics-after-chatter":   {err: `the lock ended its process \(exit status 2\): panic: now indeed`},
	"overflows-stack":        {err: `the lock ended its process \(exit status 2\): fatal error: stack overflow`},
	"deadlocks-in-close":     {err: `Close never returned`},
	"panics-in-close":        {err: `the lock panicked in Close: close is hard`},
	"leaks-a-ticker":         {err: `the lock left \d+ goroutines running after Close`},
	"blocks-for-ever":        {err: `goroutines`, violated: checker.Progress},
	"holds-a-mutex":          {err: `no progress within 2s of real time: .*sync.Mutex`},
	"spins":                  {err: `no progress within 2s of real time: the lock keeps a processor busy`},
	"returns-nothing":        {err: `Acquire returned neither a lease nor an error`},
	"returns-an-empty-lease": {err: `the lock panicked in acquire`},
	"makes-leases-up":        {violated: checker.Exclusion},
	"exits":                  {err: `the lock ended its process \(exit status 0\): it said nothing`},
	"stops-its-process":      {err: `no answer within 3s of real time: the lock keeps its process from running anything else`},
	"exits-later":            {violated: checker.Exclusion},
	"chatters":               {violated: checker.Exclusion},
	"reads-stdin":            {violated: checker.Exclusion},
	"talks-over-everything":  {err: `the lock ended its process`},
}

// Whatever a lock does, its run ends with a word about it, and the run after it is as if nothing had been.
func TestNoLockTakesMoreThanItsOwnRun(t *testing.T) {
	var names []string
	for _, l := range naughtyLocks {
		names = append(names, l.Name, politeAfter+l.Name)
	}
	cmd := exec.Command("lockfault", "compare", "--fencing", "off", "--format", "json", "--out", t.TempDir(),
		"--scenario", "testdata/two-sections.yaml", "--locks", strings.Join(names, ","))
	cmd.Env = append(os.Environ(), withNaughtyLocks+"=1", "GOMAXPROCS=1") // one child, as long as it lives
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit status %d, want %d (%v)", code, exitFailed, err)
	}
	report, err := results.ReadJSON(&stdout)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	if len(report.Runs) != len(names) || report.NotRun != 0 {
		t.Errorf("%d runs and %d not run, want %d and 0", len(report.Runs), report.NotRun, len(names))
	}
	for _, r := range report.Runs {
		want, known := naughtyVerdicts[r.Lock]
		switch {
		case strings.HasPrefix(r.Lock, politeAfter):
			if r.Outcome() != results.AsExpected {
				t.Errorf("%s suffered from its neighbours: %v, %s", r.Key(), r.Outcome(), r.Error)
			}
		case !known:
			t.Errorf("%s: nothing is expected of it here", r.Key())
		case want.err == "" && r.Error != "" || !regexp.MustCompile(want.err).MatchString(r.Error):
			t.Errorf("%s: error %q, want %q", r.Key(), r.Error, want.err)
		case want.violated != "" && r.Verdicts[want.violated].Status != checker.Violated:
			t.Errorf("%s: %s is %v, want violated", r.Key(), want.violated, r.Verdicts[want.violated])
		}
	}
	if stderr.Len() > 2000 {
		t.Errorf("%d bytes on standard error, such as %q", stderr.Len(), stderr.Bytes()[:2000])
	}
}
