package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/page"
	"github.com/lockfault/lockfault/scenarios"
)

// writePage stores the page of a report beside its verdicts. A report without runs has none. The jobs know their scenarios.
func writePage(folder *results.Folder, report results.Report, jobs []*job) error {
	if len(report.Runs) == 0 {
		return nil
	}
	scenarioOf := make(map[string]string, len(jobs))
	for _, j := range jobs {
		scenarioOf[j.run.Dir] = j.file.Text
	}
	return folder.WritePage(func(w io.Writer) error { return page.Write(w, report, storedFiles(folder.Path, scenarioOf)) })
}

// storedFiles opens the files of the runs of a report in its folder, and nothing outside it, whatever the report says.
// Scenarios that are not known by the run's Dir are read from the plans.
func storedFiles(folder string, scenarioOf map[string]string) page.Source {
	return func(r results.Run) (page.Files, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return page.Files{}, err
		}
		defer root.Close()
		files, err := openFiles(root, filepath.FromSlash(path.Join(".", r.Dir)))
		if known, ok := scenarioOf[r.Dir]; ok {
			files.Scenario = []byte(known)
		} else if err == nil && files.Plan != nil {
			var plan scenarios.PlanFile
			plan, _, err = scenarios.ParsePlan(path.Join(r.Dir, results.PlanFile), files.Plan)
			files.Scenario = []byte(plan.Text)
		}
		return files, err
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
	return f, errors.Join(histErr, planErr)
}
