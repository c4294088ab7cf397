package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/page"
	"github.com/lockfault/lockfault/scenarios"
)

// writePage stores the page of a report beside its verdicts. A report without runs has none.
func writePage(folder *results.Folder, report results.Report) error {
	if len(report.Runs) == 0 {
		return nil
	}
	return folder.WritePage(func(w io.Writer) error { return page.Write(w, report, storedFiles(folder.Path)) })
}

// storedFiles opens the files of the runs of a report in its folder, and nothing outside it, whatever the report says.
func storedFiles(folder string) page.Source {
	return func(r results.Run) (page.Files, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return page.Files{}, err
		}
		defer root.Close()
		return openFiles(root, filepath.FromSlash(path.Join(".", r.Dir)))
	}
}

// openFiles reads what there is. A run that broke has no history.
func openFiles(root *os.Root, dir string) (page.Files, error) {
	read := func(name string) ([]byte, error) {
		text, err := root.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	}
	var f page.Files
	var histErr, planErr error
	f.History, histErr = read(results.HistoryFile)
	f.Plan, planErr = read(results.PlanFile)
	if err := errors.Join(histErr, planErr); err != nil {
		return f, err
	}
	if f.Plan == nil {
		return f, nil
	}
	plan, _, err := scenarios.ParsePlan(filepath.Join(dir, results.PlanFile), f.Plan)
	if err != nil {
		return f, fmt.Errorf("its plan cannot be read: %w", err)
	}
	f.Scenario = []byte(plan.Text)
	return f, nil
}
