package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
)

// front is the page before a run is opened.
type front struct {
	Policy        string
	Style         template.CSS
	PictureStyle  template.CSS
	Script, Index template.JS
	Packs         template.HTML

	Report    results.Report
	Summary   string
	Answer    []string // sentences
	Facts     []string
	Answers   []answer
	Locks     []string
	Scenarios []scenarioRow
	Reasons   []results.Figure // why something was not supported: how many, and the reason
	Versions  []results.Figure
	Many      bool // so many locks that the matrix has to be squeezed onto paper
	Single    bool // there is one run: the page opens on it
}

func newFront(r results.Report, views []*view) *front {
	f := &front{Report: r, Summary: r.Summary().String(), Versions: versions(r), Single: len(r.Runs) == 1}
	for _, v := range views {
		if !slices.Contains(f.Locks, v.Run.Lock) {
			f.Locks = append(f.Locks, v.Run.Lock)
		}
	}
	for _, lock := range f.Locks {
		f.Answers = append(f.Answers, newAnswer(lock, views))
	}
	f.Answer = answerOf(f.Answers)
	f.Many = len(f.Locks) > 12
	f.addScenarios(views)
	f.addReasons(views)
	f.addFacts(r, views)
	return f
}

// addFacts counts what was done.
func (f *front) addFacts(r results.Report, views []*view) {
	seeds, testbeds := map[uint64]bool{}, map[string]bool{}
	var simulated time.Duration
	for _, v := range views {
		seeds[v.Run.Seed], testbeds[v.Run.Testbed] = true, true
		simulated += v.End
	}
	f.Facts = append(f.Facts, plural(len(f.Locks), "lock"), plural(len(f.Scenarios), "scenario"), plural(len(seeds), "seed"))
	if simulated > 0 {
		f.Facts = append(f.Facts, seconds(simulated)+" of history")
	}
	if r.Elapsed > 0 {
		f.Facts = append(f.Facts, seconds(r.Elapsed)+" of real time")
	}
	var on []string
	for name := range testbeds {
		on = append(on, name)
	}
	slices.Sort(on)
	if len(on) > 0 {
		f.Facts = append(f.Facts, "testbed "+strings.Join(on, ", "))
	}
	if r.NotRun > 0 {
		f.Facts = append(f.Facts, r.LeftOut())
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// answer is what the whole comparison says of one lock.
type answer struct {
	Lock             string
	Unfenced, Fenced tally
	Broke            string // under which faults exclusion broke, fenced or not
	Harmed           string // under which faults the data was harmed in spite of fences
	Unsupported      int
}

// tally counts verdicts on one side.
type tally struct{ Exclusion, Effects count }

// answerOf puts the table into a few sentences.
func answerOf(all []answer) []string {
	var sentences []string
	for _, q := range []struct {
		always, never string
		of            func(answer) count
	}{
		{"Without fences, exclusion was kept in every run by %s.", "Without fences, no lock kept exclusion in every run; closest came %s.",
			func(a answer) count { return a.Unfenced.Exclusion }},
		{"Without fences, the data stayed safe in every run with %s.", "Without fences, the data was harmed with every lock, least with %s.",
			func(a answer) count { return a.Unfenced.Effects }},
		{"With fences, exclusion was kept in every run by %s.", "With fences, no lock kept exclusion in every run either; closest came %s.",
			func(a answer) count { return a.Fenced.Exclusion }},
		{"With fences, the data stayed safe in every run with %s.", "With fences, the data was harmed with every lock somewhere, least with %s.",
			func(a answer) count { return a.Fenced.Effects }},
	} {
		if names, always := best(all, q.of); names != "" {
			format := q.never
			if always {
				format = q.always
			}
			sentences = append(sentences, fmt.Sprintf(format, names))
		}
	}
	return sentences
}

// best names the locks that kept a property most often, of those that were run.
func best(all []answer, of func(answer) count) (names string, always bool) {
	var leading []answer
	for _, a := range all {
		c := of(a)
		if c.Of == 0 {
			continue
		}
		order := 1
		if len(leading) > 0 {
			lead := of(leading[0])
			order = c.Kept*lead.Of - lead.Kept*c.Of
		}
		if order > 0 {
			leading = nil
		}
		if order >= 0 {
			leading = append(leading, a)
		}
	}
	var words []string
	for _, a := range leading {
		words = append(words, fmt.Sprintf("%s (%s)", a.Lock, of(a).Text()))
		always = of(a).Kept == of(a).Of
	}
	return strings.Join(words, ", "), always
}

// count is how many runs kept a property, of those in which it was decided; the others are open, or were not supported.
type count struct{ Kept, Of, Open, Impossible int }

// Text reads like "12 of 26".
func (c count) Text() string {
	switch {
	case c.Of == 0 && c.Open == 0 && c.Impossible > 0:
		return "n/a"
	case c.Of == 0 && c.Open == 0:
		return "not run"
	case c.Open > 0:
		return fmt.Sprintf("%d of %d, %d ?", c.Kept, c.Of, c.Open)
	}
	return fmt.Sprintf("%d of %d", c.Kept, c.Of)
}

// Mark says whether it was always kept.
func (c count) Mark() string {
	switch {
	case c.Of == 0:
		return "–"
	case c.Kept == c.Of:
		return "✓"
	}
	return "✗"
}

// Class is for the colour that says the same.
func (c count) Class() string {
	switch {
	case c.Of == 0:
		return "none"
	case c.Kept == c.Of:
		return "good"
	}
	return "bad"
}

// Percent is for a bar.
func (c count) Percent() int {
	if c.Of == 0 {
		return 0
	}
	return 100 * c.Kept / c.Of
}

func (c *count) add(s checker.Status) {
	switch s {
	case checker.Held:
		c.Kept++
		c.Of++
	case checker.Violated:
		c.Of++
	default:
		c.Open++
	}
}

func newAnswer(lock string, views []*view) answer {
	a := answer{Lock: lock}
	var exclusion, effects []*view
	for _, v := range views {
		side := &a.Unfenced
		if v.Run.Fencing {
			side = &a.Fenced
		}
		switch {
		case v.Run.Lock != lock || v.Run.Error != "":
			continue
		case v.Run.Unsupported != "":
			a.Unsupported++
			side.Exclusion.Impossible++
			side.Effects.Impossible++
			continue
		}
		if v.Run.Fencing {
			effects = append(effects, v)
		}
		exclusion = append(exclusion, v)
		side.Exclusion.add(v.Run.Verdicts[checker.Exclusion].Status)
		side.Effects.add(v.Run.Verdicts[checker.Effects].Status)
	}
	a.Broke, a.Harmed = under(exclusion, checker.Exclusion), under(effects, checker.Effects)
	return a
}

// under reads like "pause 7/9, clock-step 2/6": of the runs with a fault of that kind, in how many the property broke.
func under(views []*view, property string) string {
	var kinds []string
	broken, of := map[string]int{}, map[string]int{}
	for _, v := range views {
		faults := v.Kinds
		switch {
		case v.Problem != "":
			faults = []string{"unknown faults"}
		case len(faults) == 0:
			faults = []string{"no fault"}
		}
		for _, kind := range faults {
			if of[kind] == 0 {
				kinds = append(kinds, kind)
			}
			of[kind]++
			if v.Run.Verdicts[property].Status == checker.Violated {
				broken[kind]++
			}
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return broken[b]*of[a] - broken[a]*of[b] })
	var words []string
	for _, kind := range kinds {
		if broken[kind] > 0 {
			words = append(words, fmt.Sprintf("%s %d/%d", kind, broken[kind], of[kind]))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// addReasons says once why runs were not supported.
func (f *front) addReasons(views []*view) {
	var order []string
	counts := map[string]int{}
	for _, v := range views {
		if why := strings.TrimPrefix(v.Run.Unsupported, "not supported here: "); why != "" {
			if counts[why] == 0 {
				order = append(order, why)
			}
			counts[why]++
		}
	}
	for _, why := range order {
		f.Reasons = append(f.Reasons, results.Figure{Name: plural(counts[why], "run"), Text: why})
	}
}
