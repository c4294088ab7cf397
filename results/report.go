package results

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Report is what one command found: one run, or locks times scenarios.
type Report struct {
	When     time.Time         `json:"when,omitzero"`      // the command's start
	Command  string            `json:"command,omitempty"`  // that repeats it
	Versions map[string]string `json:"versions,omitempty"` // of lockfault, Go, the libraries, the servers
	Elapsed  time.Duration     `json:"elapsed_ns,omitempty"`
	Budget   time.Duration     `json:"budget_ns,omitempty"` // 0: none was set
	NotRun   int               `json:"not_run,omitempty"`   // plans that were not run to the end: the budget did not suffice, or the command was interrupted
	Runs     []Run             `json:"runs"`

	counted *Summary // of all runs, if Runs has only some
}

// Summary counts the runs of a report by outcome.
type Summary struct {
	Runs          int `json:"runs"`
	AsExpected    int `json:"as_expected"`
	NotAsExpected int `json:"not_as_expected"`
	Undecided     int `json:"undecided"`
	Unsupported   int `json:"unsupported"`
	Failed        int `json:"failed"`
}

// Summary counts the runs, also those that Odd has left out.
func (r Report) Summary() Summary {
	if r.counted != nil {
		return *r.counted
	}
	s := Summary{Runs: len(r.Runs)}
	for _, run := range r.Runs {
		switch run.Outcome() {
		case AsExpected:
			s.AsExpected++
		case NotAsExpected:
			s.NotAsExpected++
		case Unsupported:
			s.Unsupported++
		case Failed:
			s.Failed++
		default:
			s.Undecided++
		}
	}
	return s
}

// Odd is the report with only the runs that somebody should look at. Its Summary is that of the whole.
func (r Report) Odd() Report {
	all := r.Summary()
	r.counted = &all
	r.Runs = slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool {
		return run.Outcome() == AsExpected || run.Outcome() == Unsupported
	})
	return r
}

// String reads like "572 runs: 540 as expected, 0 not, 32 not supported here".
func (s Summary) String() string {
	runs := "runs"
	if s.Runs == 1 {
		runs = "run"
	}
	text := fmt.Sprintf("%d %s: %d as expected, %d not", s.Runs, runs, s.AsExpected, s.NotAsExpected)
	for _, other := range []struct {
		count int
		what  string
	}{{s.Undecided, "undecided"}, {s.Failed, "failed"}, {s.Unsupported, "not supported here"}} {
		if other.count > 0 {
			text += fmt.Sprintf(", %d %s", other.count, other.what)
		}
	}
	return text
}

// summary is the last line of a report for people.
func (r Report) summary() string {
	var b strings.Builder
	b.WriteString(r.Summary().String())
	if r.Elapsed > 0 {
		fmt.Fprintf(&b, "; %s", seconds(r.Elapsed))
	}
	if r.NotRun > 0 {
		b.WriteString("; " + r.LeftOut())
	}
	return b.String()
}

// LeftOut says how many plans were not run, and why if it was the budget.
func (r Report) LeftOut() string {
	text := fmt.Sprintf("%d more not run", r.NotRun)
	if r.budgetSpent() {
		text += fmt.Sprintf(": the budget of %v was spent", r.Budget)
	}
	return text
}

// budgetSpent tells whether it was the budget that left runs out, and not that the command was interrupted.
func (r Report) budgetSpent() bool { return r.Budget > 0 && r.Elapsed >= r.Budget }

// From is the report as seen from outside its folder: the Dirs of its runs lead there from where the folder's path does.
func (r Report) From(folder string) Report {
	r.Runs = slices.Clone(r.Runs)
	for i := range r.Runs {
		r.Runs[i].Dir = path.Join(filepath.ToSlash(folder), r.Runs[i].Dir)
	}
	return r
}

// seconds reads like "8.4 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
