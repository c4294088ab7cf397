package results

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results/internal/golden"
)

// Verdicts of the samples, and shorthand for them.
var (
	held = checker.Verdict{Status: checker.Held, Reason: "12 sections, none overlapped"}
	open = checker.Verdict{Reason: "no section was entered"}
	two  = checker.Verdict{Status: checker.Violated, Witness: &checker.Witness{
		Sentence: "A believed from 0 s to 15.1 s that it held stock (fence 33), and so did B from 10.1 s to 10.3 s (fence 34).",
		Events:   []int{3, 9, 12},
	}}
	stale = checker.Verdict{Status: checker.Violated, Witness: &checker.Witness{
		Sentence: "B wrote 6 with fence 34 at 10.2 s; A's write of 5 with fence 33 took effect at 15 s.",
		Events:   []int{9, 14},
	}}
	late = checker.Verdict{Status: checker.Violated, Witness: &checker.Witness{
		Sentence: "stock stayed locked for 31 s after B died.", Events: []int{9, 20},
	}}
)

type verdicts map[string]checker.Verdict

// pause is a run of A1 in which everything came as expected.
func pause(lock string, fenced bool, v verdicts) Run {
	return Run{
		Lock: lock, Scenario: "pause-after-acquire", Code: "A1", Title: "the holder stops for longer than its lease",
		Fencing: fenced, Testbed: "sim", Seed: 42, Events: 31, Elapsed: 4 * time.Millisecond,
		Verdicts: v, Expected: expecting(v), AsExpected: true,
		Dir: strings.Join([]string{lock, "pause-after-acquire", fencing(fenced)}, "/"),
	}
}

// expecting states what the verdicts are, save for the undecided.
func expecting(v verdicts) map[string]checker.Status {
	expected := make(map[string]checker.Status)
	for property, verdict := range v {
		if verdict.Status != checker.Undecided {
			expected[property] = verdict.Status
		}
	}
	return expected
}

// other puts a run into another scenario.
func other(r Run, code, scenario, title string) Run {
	r.Code, r.Scenario, r.Title, r.Dir = code, scenario, title, ""
	return r
}

func unsupported(r Run, why string) Run {
	r.Verdicts, r.Expected, r.AsExpected, r.Events, r.Dir = nil, nil, false, 0, ""
	r.Unsupported = "not supported here: " + why
	return r
}

// surprising is the run with another expectation.
func surprising(r Run, property string, expected checker.Status) Run {
	r.Expected[property] = expected
	r.AsExpected = false
	r.Unexpected = []string{property + ": expected " + expected.String() + ", got " + r.Verdicts[property].Status.String()}
	return r
}

// typical is a small comparison in which all is well.
func typical() Report {
	bad, fenced := verdicts{"exclusion": two, "effects": stale}, verdicts{"exclusion": two, "effects": held}
	good := verdicts{"exclusion": held, "effects": held}
	crash := func(lock string, on bool, v verdicts) Run {
		return other(pause(lock, on, v), "D3", "crash-between-commands", "the client dies between SETNX and EXPIRE")
	}
	r := Report{
		When:     time.Date(2025, 11, 30, 18, 15, 0, 0, time.UTC),
		Command:  "lockfault compare --locks all --seed 42",
		Versions: map[string]string{"lockfault": "0.1.0", "go": "go1.26.8"},
		Elapsed:  8400 * time.Millisecond,
	}
	for _, lock := range []string{"none", "process-mutex"} {
		r.Runs = append(r.Runs, pause(lock, false, bad), unsupported(pause(lock, true, bad), "the lock mints no fences"))
	}
	for _, lock := range []string{"setnx-expire", "single-del", "single-getdel", "single", "single-watchdog", "failover", "redlock", "redlock-watchdog"} {
		r.Runs = append(r.Runs, pause(lock, false, bad), pause(lock, true, fenced))
	}
	r.Runs = append(r.Runs, pause("consensus", false, bad), pause("consensus", true, fenced))
	for _, lock := range []string{"none", "process-mutex"} {
		r.Runs = append(r.Runs, crash(lock, false, good), unsupported(crash(lock, true, good), "the lock mints no fences"))
	}
	forever := verdicts{"exclusion": held, "effects": held, "expiry": late}
	r.Runs = append(r.Runs, crash("setnx-expire", false, forever), crash("setnx-expire", true, forever))
	for _, lock := range []string{"single-del", "single-getdel", "single", "single-watchdog", "failover", "redlock", "redlock-watchdog", "consensus"} {
		r.Runs = append(r.Runs, crash(lock, false, good), crash(lock, true, good))
	}
	return r
}

// awkward is a comparison in which nothing is well and nobody has a plain name.
func awkward() Report {
	bad, good := verdicts{"exclusion": two, "effects": stale}, verdicts{"exclusion": held, "effects": held}
	html := `<script>alert("x")</script>`
	sick := pause("single\x1b[31m\n|`*_", false, nil)
	sick.AsExpected, sick.Error = false, "panic: <nil> & \x00\x07\"lock\" left 3 goroutines running"
	silent := pause("silent", false, verdicts{"exclusion": open, "effects": open})
	vague := surprising(pause("vague", true, verdicts{"exclusion": open, "effects": held}), "exclusion", checker.Held)
	odd := pause("odd", false, good)
	odd.AsExpected, odd.Unexpected = false, []string{"the pause left no evidence"}
	quiet := surprising(pause("замок-セマフォ", false, good), "exclusion", checker.Violated)
	all := []Run{
		surprising(pause("redlock", true, verdicts{"exclusion": two, "effects": stale, "fence-order": late, "truth": late}), "effects", checker.Held),
		pause("redlock", false, verdicts{"exclusion": two, "effects": stale, "expiry": late}),
		sick, silent, vague, odd, quiet,
		surprising(pause("tardy", false, verdicts{"exclusion": held, "effects": held, "expiry": late}), "expiry", checker.Held),
		surprising(pause("tidy", false, verdicts{"exclusion": held, "effects": held, "expiry": held}), "expiry", checker.Violated),
		unsupported(pause("consensus", false, good), "clock steps: the testbed's consensus service has no clock of its own, <b>and</b> that is a long story"),
		other(pause(html, false, bad), "<i>", html, html),
		other(pause("exec:python3 /opt/"+strings.Repeat("very-long-", 12)+"lock.py", false, good), "A1", strings.Repeat("long", 30), ""),
	}
	for seed, v := range []verdicts{bad, good, good, {"exclusion": open, "effects": held}, bad} {
		r := pause("flaky", false, v)
		r.Seed = uint64(seed)
		all = append(all, r)
	}
	docker := pause("redlock", false, good)
	docker.Testbed = "docker"
	return Report{Runs: append(all, docker), Budget: 30 * time.Second, NotRun: 7, Elapsed: 30100 * time.Millisecond}
}

func TestReportsLookAsTheyShould(t *testing.T) {
	for _, sample := range []struct {
		name   string
		report Report
	}{{"typical", typical()}, {"awkward", awkward()}, {"empty", Report{}}} {
		for _, form := range []struct {
			ending string
			write  func(*bytes.Buffer, Report) error
		}{
			{"table.txt", func(w *bytes.Buffer, r Report) error { return WriteTable(w, r, Layout{}) }},
			{"table.wide.txt", func(w *bytes.Buffer, r Report) error { return WriteTable(w, r, Layout{Width: 120}) }},
			{"table.color.txt", func(w *bytes.Buffer, r Report) error { return WriteTable(w, r, Layout{Color: true}) }},
			{"matrix.txt", func(w *bytes.Buffer, r Report) error { return WriteMatrix(w, r, Layout{}) }},
			{"json", func(w *bytes.Buffer, r Report) error { return WriteJSON(w, r) }},
			{"junit.xml", func(w *bytes.Buffer, r Report) error { return WriteJUnit(w, r) }},
			{"csv", func(w *bytes.Buffer, r Report) error { return WriteCSV(w, r) }},
			{"md", func(w *bytes.Buffer, r Report) error { return WriteMarkdown(w, r) }},
		} {
			t.Run(sample.name+"."+form.ending, func(t *testing.T) {
				var out bytes.Buffer
				if err := form.write(&out, sample.report); err != nil {
					t.Fatal(err)
				}
				golden.Compare(t, sample.name+"."+form.ending, out.Bytes())
			})
		}
	}
}

func TestRunsLookAsTheyShould(t *testing.T) {
	var out bytes.Buffer
	for _, run := range append(awkward().Runs, typical().Runs[0], Run{}) {
		if err := WriteRun(&out, run, Layout{}); err != nil {
			t.Fatal(err)
		}
		out.WriteString(strings.Repeat("=", 80) + "\n")
	}
	golden.Compare(t, "runs.txt", out.Bytes())
}
