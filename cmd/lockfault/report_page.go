package main

import (
	"io"
	"os"

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
		stored, err := results.OpenRun(root, r)
		files := page.Files{History: stored.History, Plan: stored.Plan}
		if known, ok := scenarioOf[r.Dir]; ok {
			files.Scenario = []byte(known)
		} else if err == nil && files.Plan != nil {
			files.Scenario, err = scenarioText(files.Plan)
		}
		return files, err
	}
}

// scenarioText finds the scenario in a plan.
func scenarioText(text []byte) ([]byte, error) {
	plan, _, err := scenarios.ParsePlan(results.PlanFile, text)
	return []byte(plan.Text), err
}
