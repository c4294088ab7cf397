package results

import (
	"slices"
	"strings"
)

// What the heads of the columns mean.
const (
	holdersMeans = "2 holders: two clients believed at once that they held the lock (exclusion)"
	harmedMeans  = "harmed: the protected data took a stale write or lost an update (effects)"
)

// symbols explains those texts of cells that occur and do not speak for themselves.
func symbols(all []block) string {
	var texts []string
	surprising := false
	for _, b := range all {
		for _, r := range b.rows {
			texts = append(texts, r.unfenced.holders, r.unfenced.harmed, r.fenced.holders, r.fenced.harmed)
			surprising = surprising || strings.Contains(r.notes, "!")
		}
	}
	var meanings []string
	for _, symbol := range []struct {
		meaning string
		in      func(string) bool
	}{
		{"? undecided", func(s string) bool { return strings.HasPrefix(s, "?") }},
		{"n/a not supported here", func(s string) bool { return s == notSupported }},
		{"ERR the run failed", func(s string) bool { return s == failed }},
		{"- not run", func(s string) bool { return s == notRun }},
		{"2/5 in two runs of five", func(s string) bool { return violated(s) && !strings.HasPrefix(s, "yes") }},
		{"! not as expected", func(s string) bool { return surprising || strings.HasSuffix(s, "!") }},
	} {
		if slices.ContainsFunc(texts, symbol.in) {
			meanings = append(meanings, symbol.meaning)
		}
	}
	return strings.Join(meanings, "; ")
}
