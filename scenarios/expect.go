package scenarios

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
)

// Rule says what some locks are expected to do in a scenario. The last rule that matches a run counts, alone; a rule with
// Also adds to the one before it instead. No property is in two of Violated, Held and May.
type Rule struct {
	Locks    []string // of locks.All, and those that are like them; empty: every lock
	Fencing  *bool    // nil: with and without
	Violated []string // exactly these properties are violated ...
	Also     []string // (alone: these beside what an earlier rule says)
	Held     []string // ... and these are shown to hold ...
	May      []string // ... while these may come out as they like.
	Because  string   // why, for a reader
}

func (r *reader) rule(n ast.Node) Rule {
	properties := checker.Names()
	var rule Rule
	fields := r.fields(n, "expect", "violated: [exclusion]", "locks", "fencing", "violated", "also", "held", "may", "because")
	claims := map[string]string{} // by property: the key that has it
	for _, f := range fields {
		switch f.key {
		case "locks":
			rule.Locks = r.someOf(f, locks.Names())
		case "fencing":
			on := r.flag(f)
			rule.Fencing = &on
		case "violated":
			rule.Violated = r.claims(f, r.allOf(f, properties), claims)
		case "also":
			rule.Also = r.claims(f, r.someOf(f, properties), claims)
		case "held":
			rule.Held = r.claims(f, r.allOf(f, properties), claims)
		case "may":
			rule.May = r.claims(f, r.allOf(f, properties), claims)
		case "because":
			rule.Because = r.line(f)
		}
	}
	if len(rule.Also) > 0 && len(rule.Violated)+len(rule.Held)+len(rule.May) > 0 {
		r.fail(n, "expect: also adds to what an earlier rule says; write violated, held and may in a rule of their own")
	}
	return rule
}

// claims checks that no other key of the rule says something else of the properties.
func (r *reader) claims(f field, properties []string, claims map[string]string) []string {
	for _, p := range properties {
		if other := claims[p]; other != "" {
			r.fail(f.value, "expect: %s is in %s and in %s", p, other, f.key)
		}
		claims[p] = f.key
	}
	return properties
}

// headline are the two verdicts that every run must decide unless a rule says that they may stay open.
var headline = []string{checker.Exclusion, checker.Effects}

// Expected finds the rule for a run; the zero Rule, if none matches, expects both headline properties to hold. What a rule
// adds with Also is demanded even if the rule before it leaves it open.
func (s *Scenario) Expected(lock locks.Entry, fencing bool) Rule {
	var rule Rule
	for _, r := range s.Expect {
		switch {
		case len(r.Locks) > 0 && !slices.ContainsFunc(r.Locks, lock.Known), r.Fencing != nil && *r.Fencing != fencing:
		case len(r.Also) > 0:
			rule.Violated = append(slices.Clone(rule.Violated), r.Also...)
			rule.May = slices.DeleteFunc(slices.Clone(rule.May), func(p string) bool { return slices.Contains(r.Also, p) })
		default:
			rule = r
		}
	}
	return rule
}

// Statuses are the outcomes that the rule demands, by property. What is neither in it nor in May must not be violated.
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

// Compare lists, one sentence each in the order of checker.All, where verdicts (by property; one that is missing counts as
// undecided) are not as the rule expects. It is nil if all are.
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
