package serve

import (
	"bytes"
	"cmp"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockfault/lockfault/results"
)

// cache keeps reports that were read, as long as their files do not change. Safe for concurrent use.
type cache struct {
	mu   sync.Mutex
	kept map[string]cached
}

type cached struct {
	size    int64
	changed time.Time
	report  results.Report
}

// report reads the verdicts in a folder; fs.ErrNotExist if there are none yet.
func (c *cache) report(root *os.Root, name string) (results.Report, error) {
	info, err := root.Lstat(results.VerdictsFile)
	if err != nil {
		return results.Report{}, err
	}
	c.mu.Lock()
	known, ok := c.kept[name]
	c.mu.Unlock()
	if ok && known.size == info.Size() && known.changed.Equal(info.ModTime()) {
		return known.report, nil
	}
	text, err := results.ReadRegular(root, results.VerdictsFile)
	if err != nil {
		return results.Report{}, err
	}
	report, err := results.ReadJSON(bytes.NewReader(text))
	if err != nil {
		return results.Report{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]cached{}
	}
	c.kept[name] = cached{info.Size(), info.ModTime(), report}
	return report, nil
}

// stored is one entry of the list.
type stored struct {
	Name    string
	When    time.Time
	Command string
	Summary string
	Odd     bool   // something is not as expected
	Live    bool   // it has no verdicts yet
	Problem string // why it cannot be shown
	Runs    []results.Run
	More    int // runs that match and are not listed
}

// query is what is looked for.
type query struct{ Text, Lock, Scenario, From, To string }

// narrow tells whether single runs are looked for.
func (q query) narrow() bool { return q.Text != "" || q.Lock != "" || q.Scenario != "" }

// listing is the first page.
type listing struct {
	Style           template.CSS
	Query           query
	Stored          []stored
	Locks, Scenario []string
	All             int
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	get := func(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }
	l := listing{Style: style(), Query: query{get("q"), get("lock"), get("scenario"), get("from"), get("to")}}
	names, err := s.names()
	if err != nil {
		http.Error(w, "the store cannot be read", http.StatusInternalServerError)
		return
	}
	l.All = len(names)
	locks, scenarios := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		entry, report := s.entry(name)
		for _, run := range report.Runs {
			locks[run.Lock], scenarios[run.Scenario] = true, true
		}
		if entry.match(l.Query, report) {
			l.Stored = append(l.Stored, entry)
		}
	}
	for lock := range locks {
		l.Locks = append(l.Locks, lock)
	}
	for scenario := range scenarios {
		l.Scenario = append(l.Scenario, scenario)
	}
	slices.Sort(l.Locks)
	slices.Sort(l.Scenario)
	render(w, "list.html", "", l)
}

func (s *Server) entry(name string) (stored, results.Report) {
	e := stored{Name: name}
	if stamp, _, ok := strings.Cut(name, "-"); ok {
		if when, err := time.Parse("20060102T150405Z", stamp); err == nil {
			e.When = when
		}
	}
	root, err := s.root.OpenRoot(name)
	if err != nil {
		e.Problem = "it cannot be opened"
		return e, results.Report{}
	}
	defer root.Close()
	report, err := s.cache.report(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Live = true
	case err != nil:
		e.Problem = "its verdicts cannot be read: " + err.Error()
	default:
		summary := report.Summary()
		e.Command, e.Summary, e.Odd = report.Command, summary.String(), summary.NotAsExpected+summary.Undecided+summary.Failed > 0
		e.When = cmp.Or(report.When, e.When)
	}
	return e, report
}

// match tells whether an entry is looked for, and lists its runs that are.
func (e *stored) match(q query, report results.Report) bool {
	day := e.When.UTC().Format(time.DateOnly)
	if q.From != "" && day < q.From || q.To != "" && day > q.To {
		return false
	}
	if !q.narrow() {
		return true
	}
	const most = 60
	for _, run := range report.Runs {
		if q.Lock != "" && run.Lock != q.Lock || q.Scenario != "" && run.Scenario != q.Scenario || !contains(q.Text, run.Key(), run.Code, run.Title) {
			continue
		}
		if len(e.Runs) == most {
			e.More++
			continue
		}
		e.Runs = append(e.Runs, run)
	}
	return len(e.Runs) > 0 || q.Lock == "" && q.Scenario == "" && contains(q.Text, e.Name, e.Command)
}

// contains tells whether the text is in one of the others, whatever the case.
func contains(text string, in ...string) bool {
	return slices.ContainsFunc(in, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(text)) })
}

// sides are two runs to be seen together.
type sides struct {
	Style       template.CSS
	A, B        string
	Left, Right string // addresses
	Names       []string
}

// side shows two runs beside each other. Each is a page of its own.
func (s *Server) side(w http.ResponseWriter, r *http.Request) {
	names, err := s.names()
	if err != nil || len(names) == 0 {
		http.Error(w, "there is no run in the store", http.StatusNotFound)
		return
	}
	v := sides{Style: style(), Names: names}
	chosen := r.URL.Query()["run"] // two ticked boxes of the list
	pick := func(field string, i int) string {
		name := r.URL.Query().Get(field)
		if name == "" && i < len(chosen) {
			name = chosen[i]
		}
		if !slices.Contains(names, name) {
			name = names[min(i, len(names)-1)]
		}
		return name
	}
	v.A, v.B = pick("a", 0), pick("b", 1)
	v.Left, v.Right = "/run/"+v.A, "/run/"+v.B
	render(w, "side.html", "", v)
}
