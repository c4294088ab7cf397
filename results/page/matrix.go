package page

import (
	"fmt"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
)

// scenarioRow is one row of the matrix.
type scenarioRow struct {
	Code, Name, Title, Testbed string
	Cells                      []cell
}

// cell is what one lock did in a scenario.
type cell struct {
	Lock  string
	Sides []side
}

// side is a half of a cell: without fences, or with them, over all seeds.
type side struct {
	Fences     string // "without fences"
	Run        *results.Run
	Holders    sign
	Data       sign
	Text       string // if there are no verdicts
	Unexpected bool
	Label      string // all of it in words
}

// sign says a verdict by a mark, a word and a colour.
type sign struct{ Mark, Word, Class string }

func (f *front) addScenarios(views []*view) {
	type at struct{ scenario, testbed string }
	type in struct {
		at
		lock    string
		fencing bool
	}
	rows := map[at]int{}
	runs := map[in][]*view{}
	for _, v := range views {
		where := at{v.Run.Scenario, v.Run.Testbed}
		if _, known := rows[where]; !known {
			rows[where] = len(f.Scenarios)
			f.Scenarios = append(f.Scenarios, scenarioRow{Code: v.Run.Code, Name: v.Run.Scenario, Title: v.Run.Title, Testbed: v.Run.Testbed})
		}
		place := in{where, v.Run.Lock, v.Run.Fencing}
		runs[place] = append(runs[place], v)
	}
	for i := range f.Scenarios {
		row := &f.Scenarios[i]
		for _, lock := range f.Locks {
			c := cell{Lock: lock}
			for _, fencing := range []bool{false, true} {
				c.Sides = append(c.Sides, newSide(fencing, lock, row.Name, runs[in{at{row.Name, row.Testbed}, lock, fencing}]))
			}
			row.Cells = append(row.Cells, c)
		}
	}
}

func newSide(fencing bool, lock, scenario string, views []*view) side {
	s := side{Fences: fences(fencing)}
	s.Label = fmt.Sprintf("%s, %s, %s: ", lock, scenario, s.Fences)
	var judged []*view
	for _, v := range views {
		switch {
		case v.Run.Error != "":
			s.Run, s.Text, s.Unexpected = &v.Run, "ERR failed", true
			s.Label += "the run failed"
			return s
		case v.Run.Unsupported == "":
			judged = append(judged, v)
		}
		s.Unexpected = s.Unexpected || v.Run.Outcome() == results.NotAsExpected
	}
	switch {
	case len(views) == 0:
		s.Text = "not run"
	case len(judged) == 0:
		s.Text = "n/a"
		s.Label += views[0].Run.Unsupported
		return s
	}
	if s.Text != "" {
		s.Label += s.Text
		return s
	}
	s.Run = &telling(judged).Run
	s.Holders = newSign(judged, checker.Exclusion, "one", "two")
	s.Data = newSign(judged, checker.Effects, "safe", "harmed")
	s.Label += fmt.Sprintf("holders at once %s, data %s", s.Holders.Word, s.Data.Word)
	if s.Unexpected {
		s.Label += ", not as expected"
	}
	return s
}

// telling is the run that a cell of several seeds opens: one that is not as expected, else a violation, else the first.
func telling(views []*view) *view {
	best := views[0]
	for _, v := range views[1:] {
		if urgency(v.Run) < urgency(best.Run) {
			best = v
		}
	}
	return best
}

func newSign(views []*view, property, good, bad string) sign {
	var count [checker.Violated + 1]int
	for _, v := range views {
		count[v.Run.Verdicts[property].Status]++
	}
	switch {
	case count[checker.Violated] == len(views):
		return sign{"✗", bad, "bad"}
	case count[checker.Violated] > 0:
		return sign{"✗", fmt.Sprintf("%s %d/%d", bad, count[checker.Violated], len(views)), "bad"}
	case count[checker.Undecided] > 0:
		return sign{"?", "open", "open"}
	}
	return sign{"✓", good, "good"}
}
