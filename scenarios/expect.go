package scenarios

import (
	"fmt"
	"slices"

	"github.com/lockfault/lockfault/checker"
)

// Rule says what some locks are expected to do in a scenario. The last rule that matches a run counts, alone; a rule with
// Also adds to the one before it instead.
type Rule struct {
	Locks    []string // empty: every lock
	Fencing  *bool    // nil: with and without
	Violated []string // exactly these properties are violated ...
	Also     []string // (alone: these beside what an earlier rule says)
	Held     []string // ... and these are shown to hold ...
	May      []string // ... while these may come out as they like.
	Because  string   // why, for a reader
}

// headline are the two verdicts that every run must decide unless a rule says that they may stay open.
var headline = []string{checker.Exclusion, checker.Effects}

// Expected finds the rule for a run; the zero Rule, if none matches, expects both headline properties to hold.
func (s *Scenario) Expected(lock string, fencing bool) Rule {
	var rule Rule
	for _, r := range s.Expect {
		switch {
		case len(r.Locks) > 0 && !slices.Contains(r.Locks, lock), r.Fencing != nil && *r.Fencing != fencing:
		case len(r.Also) > 0:
			rule.Violated = append(slices.Clone(rule.Violated), r.Also...)
		default:
			rule = r
		}
	}
	return rule
}

// Statuses are the outcomes that the rule demands, by property. What is not in it must only not be violated.
func (r Rule) Statuses() map[string]checker.Status {
	want := map[string]checker.Status{}
	for _, p := range headline {
		want[p] = checker.Held
	}
	for _, p := range r.Held {
		want[p] = checker.Held
	}
	for _, p := range r.Violated {
		want[p] = checker.Violated
	}
	for _, p := range r.May {
		delete(want, p)
	}
	return want
}

// Compare lists, one sentence each, where verdicts are not as the rule expects.
func (r Rule) Compare(verdicts map[string]checker.Verdict) []string {
	want := r.Statuses()
	var unexpected []string
	for _, p := range checker.All {
		got, expected := verdicts[p.Name].Status, want[p.Name]
		_, demanded := want[p.Name]
		switch {
		case slices.Contains(r.May, p.Name):
		case demanded && got != expected:
			unexpected = append(unexpected, fmt.Sprintf("%s: expected %v, got %v", p.Name, expected, got))
		case !demanded && got == checker.Violated:
			unexpected = append(unexpected, fmt.Sprintf("%s: violated, which was not expected", p.Name))
		}
	}
	return unexpected
}
