package results

import (
	"slices"
	"strings"
)

// block is one scenario on one testbed, as the table shows it.
type block struct {
	code, scenario, title string
	testbed               string // empty if the report has only one
	rows                  []row
}

// heading reads like "pause-after-acquire: the holder stops for longer than its lease".
func (b block) heading() string {
	text := b.scenario
	if b.testbed != "" {
		text += " on " + b.testbed
	}
	if b.title != "" {
		text += ": " + b.title
	}
	return text
}

// row is what some locks did in a scenario.
type row struct {
	locks            []string
	unfenced, fenced cell
	notes            string // other properties, see notes
}

func (r row) names() string { return strings.Join(r.locks, ", ") }

// side is one half of a row.
type side struct {
	name string
	of   func(row) cell
}

// sides returns the halves in which something was run.
func sides(all []block) []side {
	both := []side{
		{fencing(false), func(r row) cell { return r.unfenced }},
		{fencing(true), func(r row) cell { return r.fenced }},
	}
	return slices.DeleteFunc(both, func(s side) bool {
		for _, b := range all {
			if slices.ContainsFunc(b.rows, func(r row) bool { return s.of(r) != cell{notRun, notRun} }) {
				return false
			}
		}
		return true
	})
}

// group sorts runs into groups by a key, in order of first appearance.
func group[K comparable](runs []Run, key func(Run) K) [][]Run {
	var groups [][]Run
	index := make(map[K]int)
	for _, run := range runs {
		k := key(run)
		i, known := index[k]
		if !known {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], run)
	}
	return groups
}

func lockOf(r Run) string { return r.Lock }

// byScenario groups the runs of each scenario on each testbed.
func byScenario(runs []Run) [][]Run {
	return group(runs, func(r Run) [2]string { return [2]string{r.Scenario, r.Testbed} })
}

// blocks lays the runs out, locks in order of first appearance; those that did the same share a row.
func blocks(runs []Run) []block {
	manyTestbeds := len(group(runs, func(r Run) string { return r.Testbed })) > 1
	var all []block
	for _, of := range byScenario(runs) {
		b := block{code: of[0].Code, scenario: of[0].Scenario, title: of[0].Title}
		if manyTestbeds {
			b.testbed = of[0].Testbed
		}
		var rows []row
		for _, sameLock := range group(of, lockOf) {
			rows = append(rows, rowOf(sameLock))
		}
		b.rows = merged(rows)
		all = append(all, b)
	}
	return all
}

// rowOf sums up the runs of one lock in one scenario.
func rowOf(runs []Run) row {
	unfenced, fenced := split(runs)
	return row{
		locks:    []string{runs[0].Lock},
		unfenced: cellOf(unfenced),
		fenced:   cellOf(fenced),
		notes:    notes(unfenced, fenced),
	}
}

func split(runs []Run) (unfenced, fenced []Run) {
	for _, run := range runs {
		if run.Fencing {
			fenced = append(fenced, run)
		} else {
			unfenced = append(unfenced, run)
		}
	}
	return unfenced, fenced
}

// merged joins the rows that differ in nothing but the lock.
func merged(rows []row) []row {
	var out []row
	for _, r := range rows {
		i := slices.IndexFunc(out, func(o row) bool {
			return o.unfenced == r.unfenced && o.fenced == r.fenced && o.notes == r.notes
		})
		if i < 0 {
			out = append(out, row{slices.Clone(r.locks), r.unfenced, r.fenced, r.notes})
		} else {
			out[i].locks = append(out[i].locks, r.locks...)
		}
	}
	return out
}
