package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/lockfault/lockfault/results"
)

// present shows findings as one document.
func (c *call) present(f findings, output outputFlags) error {
	report := f.report
	if len(report.Runs) == 0 && f.err != nil {
		return nil
	}
	if output.quiet && output.forPeople() {
		if c.allWell(f) {
			return nil
		}
		report = report.Odd()
	}
	if err := c.show(report, output.format); err != nil {
		return err
	}
	if strange := report.Odd().Runs; len(strange) > 0 && output.forPeople() {
		fmt.Fprintf(c.stdout, "\nto see the first of these in full:  %s\n", commandLine([]string{"replay", strange[0].Dir}))
	}
	return nil
}

// allWell tells whether the exit status is going to be 0. Whatever else it is must not be silent.
func (c *call) allWell(f findings) bool {
	return f.err == nil && c.ctx.Err() == nil && statusOf(f.report) == exitExpected
}

// show writes a report to standard output.
func (c *call) show(report results.Report, format string) error {
	switch format {
	case "matrix":
		return results.WriteMatrix(c.stdout, report, c.layout())
	case "json":
		return results.WriteJSON(c.stdout, report)
	case "junit":
		return results.WriteJUnit(c.stdout, report)
	case "csv":
		return results.WriteCSV(c.stdout, report)
	case "markdown":
		return results.WriteMarkdown(c.stdout, report)
	default:
		return results.WriteTable(c.stdout, report, c.layout())
	}
}

// layout fits the terminal, if there is one; colours only there, and not if NO_COLOR asks for none.
func (c *call) layout() results.Layout {
	l := results.Layout{Width: 80}
	f, ok := c.stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return l
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		l.Width = min(width, 120)
	}
	l.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return l
}

// conclude says on standard error where the results are and why there are not more of them, and returns the exit status
// that they deserve.
func (c *call) conclude(f findings, output outputFlags, known *baselineFlags) (int, error) {
	if err := c.tellGitHub(f.report); err != nil {
		return 0, err
	}
	made, all := len(f.report.Runs), len(f.report.Runs)+f.report.NotRun
	if f.err != nil {
		err := fmt.Errorf("%w; %d of %d runs were judged before that", f.err, made, all)
		if f.report.NotRun > 0 {
			known.leave(c, f.report)
			return 0, err
		}
		return 0, errors.Join(err, known.begin(c, f.report)) // only what came after the runs went wrong
	}
	if !output.quiet {
		page := ""
		if made > 0 {
			page = "; to see it all: " + filepath.Join(f.folder, results.PageFile)
		}
		fmt.Fprintf(c.stderr, "stored in %s%s\n", f.folder, page)
	}
	switch {
	case c.ctx.Err() != nil:
		fmt.Fprintf(c.stderr, "lockfault %s: interrupted; what was judged until then is shown and kept: %d of %d runs\n", c.verb.name, made, all)
		for _, path := range f.cut {
			fmt.Fprintf(c.stderr, "what was under way, as far as it got: %s\n", path)
		}
		known.leave(c, f.report)
		return exitFailed, nil
	case f.report.NotRun > 0:
		fmt.Fprintf(c.stderr, "the budget of %v was spent: %d of %d runs made\n", f.report.Budget, made, all)
	}
	if err := known.begin(c, f.report); err != nil {
		return 0, err
	}
	return statusOf(f.report), nil
}

// statusOf is the exit status that a report deserves. Nothing judged is nothing shown.
func statusOf(r results.Report) int {
	s := r.Summary()
	switch {
	case s.Failed > 0:
		return exitFailed
	case s.NotAsExpected > 0:
		return exitUnexpected
	case s.Undecided > 0 || s.AsExpected == 0:
		return exitUndecided
	}
	return exitExpected
}
