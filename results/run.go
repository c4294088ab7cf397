// Package results holds what a command found: the runs with their verdicts, the store that keeps them, and the writers
// that show them as a table, a matrix, JSON, CSV, JUnit, Markdown or annotations of GitHub. It judges nothing; it knows what
// each scenario expects and says where a verdict differs.
package results

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker"
)

// Run is one plan, run once, with what came of it.
type Run struct {
	Lock     string `json:"lock"`
	Scenario string `json:"scenario"`
	Code     string `json:"code,omitempty"`  // of the scenario in the catalogue, such as "A1"
	Title    string `json:"title,omitempty"` // the scenario in half a sentence
	Fencing  bool   `json:"fencing"`
	Testbed  string `json:"testbed"`
	Seed     uint64 `json:"seed"`

	Verdicts   map[string]checker.Verdict `json:"verdicts"`          // by name of the property
	Expected   map[string]checker.Status  `json:"expected"`          // only what the scenario states
	Because    string                     `json:"because,omitempty"` // why the scenario expects so, if it says
	AsExpected bool                       `json:"as_expected"`
	Unexpected []string                   `json:"unexpected,omitempty"` // "exclusion: expected held, got violated"
	Place      string                     `json:"place,omitempty"`      // file, or file:line, that somebody should look at if not

	Unsupported string        `json:"unsupported,omitempty"` // why the run was impossible here; then there are no verdicts
	Error       string        `json:"error,omitempty"`       // of the harness, or a lock that broke it: "left 3 goroutines running"
	Elapsed     time.Duration `json:"elapsed_ns,omitempty"`  // of real time
	Events      int           `json:"events,omitempty"`      // in the history
	Dir         string        `json:"dir,omitempty"`         // of the run's files, relative to the folder of the report
}

// Key names the run everywhere: "redlock/pause-after-acquire/fenced#42".
func (r Run) Key() string {
	return fmt.Sprintf("%s/%s/%s#%d", r.Lock, r.Scenario, fencing(r.Fencing), r.Seed)
}

// history is the path of the history file, relative to the folder of the report.
func (r Run) history() string { return path.Join(r.Dir, HistoryFile) }

func fencing(on bool) string {
	if on {
		return "fenced"
	}
	return "unfenced"
}

// MarshalJSON writes empty maps for absent ones, so that a reader may index them.
func (r Run) MarshalJSON() ([]byte, error) {
	type plain Run
	if r.Verdicts == nil {
		r.Verdicts = map[string]checker.Verdict{}
	}
	if r.Expected == nil {
		r.Expected = map[string]checker.Status{}
	}
	return json.Marshal(plain(r))
}

// Outcome is how a run ended, seen from what was expected of it. The zero value never passes.
type Outcome uint8

const (
	Undecided     Outcome = iota // what was expected could be neither shown nor refuted
	AsExpected                   // every stated expectation was met
	NotAsExpected                // a violation, or an expected violation that did not show
	Unsupported                  // the testbed or the lock cannot run the plan
	Failed                       // the harness failed, or the lock broke it
)

var outcomeNames = [...]string{"undecided", "as expected", "not as expected", "not supported here", "failed"}

func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return outcomeNames[o]
}

// Outcome tells how the run ended. A verdict that differs from its expectation counts whatever AsExpected says. A run in
// which nothing was expected is undecided if nothing was decided, or if AsExpected is false and nothing but an undecided
// property can be why.
func (r Run) Outcome() Outcome {
	surprises := r.surprises()
	switch {
	case r.Error != "":
		return Failed
	case r.Unsupported != "":
		return Unsupported
	case len(r.Expected) == 0 && !r.decided():
		return Undecided
	case len(surprises) == 0 && r.AsExpected:
		return AsExpected
	case len(r.Expected) == 0 && r.has(checker.Undecided) && !r.has(checker.Violated):
		return Undecided
	case len(surprises) == 0:
		return NotAsExpected
	}
	for _, property := range surprises {
		if r.Verdicts[property].Status != checker.Undecided {
			return NotAsExpected
		}
	}
	return Undecided
}

// decided tells whether any property was judged held or violated.
func (r Run) decided() bool {
	for _, verdict := range r.Verdicts {
		if verdict.Status != checker.Undecided {
			return true
		}
	}
	return false
}

// has tells whether any property has that verdict.
func (r Run) has(status checker.Status) bool {
	for _, verdict := range r.Verdicts {
		if verdict.Status == status {
			return true
		}
	}
	return false
}

// Differs tells whether the scenario expects another verdict of the property.
func (r Run) Differs(property string) bool {
	expected, stated := r.Expected[property]
	return stated && expected != r.Verdicts[property].Status
}

// surprises lists the properties that differ, in the order of showing.
func (r Run) surprises() []string {
	var names []string
	for name := range r.Expected {
		if r.Differs(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, checker.CompareNames)
	return names
}

// Properties lists those judged or expected, in the order of showing.
func (r Run) Properties() []string {
	var all []string
	for name := range r.Verdicts {
		all = append(all, name)
	}
	for name := range r.Expected {
		if _, judged := r.Verdicts[name]; !judged {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, checker.CompareNames)
	return all
}
