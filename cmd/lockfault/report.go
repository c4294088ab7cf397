package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/lanes"
	"github.com/lockfault/lockfault/results/page"
)

// reportFormats are those of a report; the last three draw one run.
var reportFormats = []string{"table", "matrix", "json", "markdown", "csv", "junit", "html", "svg", "trace", "text"}

// reportFlags choose what to show, and how.
type reportFlags struct {
	lock, scenario []string
	fencing        string
	format         string
	serve          bool
	addr           string
}

func (f *reportFlags) add(c *call) {
	c.flags.StringVar(&f.format, "format", "table", "`FORMAT`: "+strings.Join(reportFormats[:7], ", ")+"; and of one run svg (its violation), "+
		"trace (for Perfetto) or text (lanes for a terminal)")
	for _, name := range []string{"html", "svg", "markdown", "csv", "trace", "junit"} {
		c.flags.BoolFunc(name, "the same as --format "+name, func(on string) error {
			if on != "true" {
				return fmt.Errorf("it takes no value")
			}
			f.format = name
			return nil
		})
	}
	c.flags.StringSliceVar(&f.lock, "lock", nil, "only runs of this lock, by `NAME`; may be repeated")
	c.flags.StringSliceVar(&f.scenario, "scenario", nil, "only runs of this scenario, by `NAME` or code; may be repeated")
	c.flags.BoolVar(&f.serve, "serve", false, "show the whole store in a browser: search, two runs side by side, a run that is under way")
	c.flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "`ADDRESS` to serve on; port 0 is any that is free")
	c.flags.StringVar(&f.fencing, "fencing", "both", "`WORD`: on, off or both")
}

// report renders a stored run again.
func report(c *call) (int, error) {
	var f reportFlags
	f.add(c)
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if !slices.Contains(reportFormats, f.format) {
		return 0, usagef("--format %q: want one of %s", f.format, strings.Join(reportFormats, ", "))
	}
	if f.serve {
		if len(c.args) > 0 {
			return 0, usagef("--serve shows the whole store: leave out %q", c.args[0])
		}
		return c.serveStore(f.addr)
	}
	name := "latest"
	if len(c.args) > 0 {
		name = c.args[0]
	}
	folder, err := results.Store{Root: results.DefaultRoot}.Resolve(name)
	if err != nil {
		return 0, err
	}
	stored, err := results.Load(folder)
	if err != nil {
		return 0, err
	}
	if stored.Runs, err = f.choose(stored.Runs); err != nil {
		return 0, err
	}
	return exitExpected, c.render(folder, stored, f.format)
}

// choose leaves out the runs that are not asked for.
func (f *reportFlags) choose(runs []results.Run) ([]results.Run, error) {
	if !slices.Contains([]string{"on", "off", "both"}, f.fencing) {
		return nil, usagef("--fencing %q: want on, off or both", f.fencing)
	}
	chosen := slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool {
		return len(f.lock) > 0 && !slices.Contains(f.lock, r.Lock) ||
			len(f.scenario) > 0 && !slices.Contains(f.scenario, r.Scenario) && !slices.Contains(f.scenario, r.Code) ||
			f.fencing != "both" && r.Fencing != (f.fencing == "on")
	})
	if len(chosen) == 0 && len(runs) > 0 {
		var locks, scenarios []string
		for _, r := range runs {
			locks, scenarios = append(locks, r.Lock), append(scenarios, r.Scenario, r.Code)
		}
		hint := ""
		for _, name := range f.lock {
			if !slices.Contains(locks, name) {
				hint += didYouMean(name, locks)
			}
		}
		for _, name := range f.scenario {
			if !slices.Contains(scenarios, name) {
				hint += didYouMean(name, scenarios)
			}
		}
		return nil, usagef("none of the %d runs is of that lock, scenario and fencing%s", len(runs), hint)
	}
	return chosen, nil
}

// render writes a stored report to standard output.
func (c *call) render(folder string, stored results.Report, format string) error {
	switch format {
	case "html":
		return page.Write(c.stdout, stored, storedFiles(folder, nil))
	case "svg", "trace", "text":
		run, err := c.onlyRun(stored, format)
		if err != nil {
			return err
		}
		run.Dir = filepath.Join(folder, run.Dir)
		d, err := drawing(run)
		if err != nil {
			return err
		}
		return c.draw(d, run, format)
	case "table":
		if len(stored.Runs) == 1 {
			return c.tellStored(stored.From(folder).Runs[0])
		}
	}
	return c.show(stored.From(folder), format)
}

// onlyRun is the run to draw.
func (c *call) onlyRun(r results.Report, format string) (results.Run, error) {
	if len(r.Runs) == 1 {
		return r.Runs[0], nil
	}
	telling := r.Runs[0]
	for _, run := range r.Runs {
		if run.Verdicts[checker.Exclusion].Status == checker.Violated {
			telling = run
			break
		}
	}
	fencing := map[bool]string{true: "on", false: "off"}[telling.Fencing]
	words := append([]string{"report"}, c.args...)
	words = append(words, "--format", format, "--lock", telling.Lock, "--scenario", telling.Scenario, "--fencing", fencing)
	return results.Run{}, usagef("there are %d runs, and %s draws one; choose it with --lock, --scenario and --fencing, as in\n\n  %s\n",
		len(r.Runs), format, commandLine(words))
}

// drawing reads the history of a run, whose Dir leads there from the working directory.
func drawing(r results.Run) (*lanes.Drawing, error) {
	path := filepath.Join(filepath.FromSlash(r.Dir), results.HistoryFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s has no history to draw: %w", r.Key(), err)
	}
	defer file.Close()
	events, _, err := history.ReadAll(file, path)
	if err != nil {
		return nil, err
	}
	c, err := checker.NewCase(events)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lanes.New(c, r.Verdicts), nil
}

func (c *call) draw(d *lanes.Drawing, r results.Run, format string) error {
	switch format {
	case "svg":
		fences := map[bool]string{true: "with fences", false: "without fences"}[r.Fencing]
		title := strings.TrimSpace(fmt.Sprintf("%s, %s: %s %s", r.Lock, fences, r.Code, r.Scenario))
		return d.WriteSVG(c.stdout, lanes.Picture{Title: title, Properties: pictured(r)})
	case "trace":
		return d.WriteTrace(c.stdout)
	}
	return d.WriteText(c.stdout, c.layout().Width, pictured(r)...)
}

// pictured are the properties whose violation a small picture tells of: the two that matter, or if they were kept whatever
// was violated.
func pictured(r results.Run) []string {
	for _, property := range []string{checker.Exclusion, checker.Effects} {
		if r.Verdicts[property].Status == checker.Violated {
			return []string{checker.Exclusion, checker.Effects}
		}
	}
	return nil
}

// tellStored tells a stored run as it was told when it was made.
func (c *call) tellStored(r results.Run) error {
	if err := results.WriteRun(c.stdout, r, c.layout()); err != nil {
		return err
	}
	return c.sketch(c.stdout, r)
}

// sketch ends the story of a run: the lanes of its violation, if there is one, and what to type next.
func (c *call) sketch(w io.Writer, r results.Run) error {
	violated := false
	for _, verdict := range r.Verdicts {
		violated = violated || verdict.Status == checker.Violated
	}
	if violated && r.Events > 0 {
		d, err := drawing(r)
		if err != nil {
			return err
		}
		fmt.Fprintln(w)
		if err := d.WriteText(w, c.layout().Width, pictured(r)...); err != nil {
			return err
		}
		fmt.Fprintf(w, "\n  picture: %s\n", commandLine([]string{"report", r.Dir, "--svg"}))
	}
	if c.verb.name != "replay" && r.Unsupported == "" {
		fmt.Fprintf(w, "  again: %s\n", commandLine([]string{"replay", r.Dir}))
	}
	return nil
}
