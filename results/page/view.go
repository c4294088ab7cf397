package page

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/lanes"
)

// view is one run as the page shows it.
type view struct {
	Run      results.Run
	Report   results.Report // without its runs
	Siblings []results.Run  // the same lock in the same scenario
	Kinds    []string       // of faults that took effect, or that nobody knows the effect of
	End      time.Duration
	Stories  []lanes.Story
	Figures  []results.Figure
	Charts   []figure
	Schedule bool   // the scenario is known
	Problem  string // why there are no lanes
	Cut      string // what was left out
	content  content
}

// content is what the script gets of a run.
type content struct {
	Key, Name      string // Name is for files
	HTML           string
	Picture        string // of the violation, for print
	Lanes          *lanes.Drawing
	History        string
	Plan, Scenario string
}

// newView digests a run. What is wrong with its files is said in the view: one bad history must not cost the page.
func newView(r results.Report, run results.Run, room share, open Source) *view {
	v := &view{Run: run, Siblings: siblings(r, run), Report: r, content: content{Key: key(run), Name: fileName(run)}}
	v.Report.Runs = nil
	if !v.Opens() {
		return v
	}
	stored, err := open(run)
	if err != nil {
		v.Problem = "its files could not be read: " + err.Error()
	}
	v.content.Plan, v.content.Scenario, v.Schedule = string(stored.Plan), string(stored.Scenario), len(stored.Scenario) > 0
	if err == nil {
		v.digest(stored.History, room)
	}
	var html bytes.Buffer
	if err := templates.ExecuteTemplate(&html, "run.html", v); err != nil {
		html.Reset()
		template.HTMLEscape(&html, []byte("this run cannot be shown: "+err.Error()))
	}
	v.content.HTML = html.String()
	return v
}

// siblings are the runs of the same lock in the same scenario: on the other side of the fence, and with other seeds.
func siblings(r results.Report, run results.Run) []results.Run {
	const most = 40
	var all []results.Run
	for _, other := range r.Runs {
		same := other.Lock == run.Lock && other.Scenario == run.Scenario && other.Testbed == run.Testbed
		if same && other.Unsupported == "" && key(other) != key(run) && len(all) < most {
			all = append(all, other)
		}
	}
	return all
}

// Opens tells whether there is something to see. Of what was not supported there is only the reason.
func (v *view) Opens() bool { return v.Run.Unsupported == "" }

func (v *view) digest(text []byte, room share) {
	if len(text) == 0 {
		v.Problem = "it left no history"
		return
	}
	events, warnings, err := history.ReadAll(bytes.NewReader(text), results.HistoryFile)
	var c *checker.Case
	if err == nil {
		c, err = checker.NewCase(events)
	}
	if err != nil {
		v.Problem = "its history cannot be drawn: " + err.Error()
		return
	}
	v.End = c.End
	kinds := map[string]bool{}
	for _, f := range c.Faults {
		if f.Injected && f.Outcome != history.Fail {
			kinds[string(f.Kind)] = true
		}
	}
	v.Kinds = slices.Sorted(maps.Keys(kinds))
	v.Figures = results.Figures(checker.Measure(c))
	whole := lanes.New(c, v.Run.Verdicts)
	v.Stories = whole.Stories
	v.Charts = charts(whole)
	var picture bytes.Buffer
	if err := whole.WriteSVG(&picture, lanes.Picture{Title: v.Title(), Bare: true}); err == nil {
		v.content.Picture = picture.String()
	}
	v.cut(whole, text, room, warnings)
}

// cut keeps what the page has room for, and says what it left out.
func (v *view) cut(whole *lanes.Drawing, text []byte, room share, warnings []string) {
	v.content.Lanes = whole
	said := slices.Clone(warnings)
	if room.lanes > 0 && len(whole.Ticks) > room.lanes {
		v.content.Lanes = whole.Near(room.lanes)
		said = append(said, fmt.Sprintf("to keep the page small, its lanes show %d of %d operations: those around the %s",
			len(v.content.Lanes.Ticks), len(whole.Ticks), map[bool]string{true: "violation", false: "beginning"}[len(whole.Stories) > 0]))
	}
	if room.history && len(text) <= roomHistory {
		v.content.History = string(text)
	} else {
		said = append(said, "its history is not in the page but beside it, in "+path.Join(v.Run.Dir, results.HistoryFile))
	}
	v.Cut = strings.Join(said, "; ")
}

// Title reads like "redlock / pause-after-acquire, without fences".
func (v *view) Title() string {
	return fmt.Sprintf("%s / %s, %s", v.Run.Lock, v.Run.Scenario, fences(v.Run.Fencing))
}

// Rows are the verdicts.
func (v *view) Rows() []verdictRow {
	var rows []verdictRow
	for _, property := range v.Run.Properties() {
		verdict := v.Run.Verdicts[property]
		row := verdictRow{Property: property, Status: verdict.Status.String(), Mark: marks[verdict.Status], Evidence: results.Evidence(verdict)}
		if v.Run.Differs(property) {
			row.Expected = v.Run.Expected[property].String()
		}
		rows = append(rows, row)
	}
	return rows
}

// verdictRow is one property of a run.
type verdictRow struct {
	Property, Status, Mark, Evidence string
	Expected                         string // if that differs
}

// marks are signs for what a colour also says.
var marks = map[checker.Status]string{checker.Held: "✓", checker.Violated: "✗", checker.Undecided: "?"}

// Commands repeat the run: from its folder, and from the plan alone.
func (v *view) Commands() []string {
	fencing := map[bool]string{true: "on", false: "off"}[v.Run.Fencing]
	run := fmt.Sprintf("lockfault run --lock %s --scenario %s --fencing %s --seed %d", quoted(v.Run.Lock), quoted(v.Run.Scenario), fencing, v.Run.Seed)
	if v.Run.Testbed != "sim" {
		run += " --testbed " + quoted(v.Run.Testbed)
	}
	return []string{run, "lockfault replay FOLDER   # the folder of this run: exactly this plan, and is the history the same?"}
}

func quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,@%+=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Versions of what the result depends on.
func (v *view) Versions() []results.Figure { return versions(v.Report) }

func versions(r results.Report) []results.Figure {
	var all []results.Figure
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		all = append(all, results.Figure{Name: name, Text: r.Versions[name]})
	}
	return all
}

func fences(on bool) string {
	if on {
		return "with fences"
	}
	return "without fences"
}

func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// fileName is a name for downloads that every file system takes.
func fileName(r results.Run) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
			return c
		}
		return '-'
	}, r.Key())
}
