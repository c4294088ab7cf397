package results

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/lockfault/lockfault/checker"
)

// WriteCSV writes a report as comma-separated values, one line per run: what was run, how it ended, and of each property
// the status and the sentence behind it. Durations are in seconds. A text that a spreadsheet would take for a formula has
// an apostrophe before it.
func WriteCSV(w io.Writer, r Report) error {
	head := []string{"lock", "scenario", "code", "title", "fencing", "testbed", "seed", "outcome", "not_as_expected", "unsupported", "error",
		"events", "elapsed_s", "history"}
	for _, p := range checker.All {
		head = append(head, p.Name, p.Name+"_why")
	}
	out := csv.NewWriter(w)
	_ = out.Write(head) // Error tells
	for _, run := range r.Runs {
		line := []string{run.Lock, run.Scenario, run.Code, run.Title, strconv.FormatBool(run.Fencing), run.Testbed, strconv.FormatUint(run.Seed, 10),
			run.Outcome().String(), strings.Join(run.Unexpected, "; "), run.Unsupported, run.Error, strconv.Itoa(run.Events),
			strconv.FormatFloat(run.Elapsed.Seconds(), 'f', 6, 64), historyOf(run)}
		for _, p := range checker.All {
			status, why := "", ""
			if verdict, judged := run.Verdicts[p.Name]; judged {
				status, why = verdict.Status.String(), Evidence(verdict)
			}
			line = append(line, status, why)
		}
		for i := range line {
			line[i] = plainCell(line[i])
		}
		_ = out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// historyOf is empty for a run that left none.
func historyOf(r Run) string {
	if r.Events == 0 {
		return ""
	}
	return r.history()
}

// plainCell keeps a text from being a formula.
func plainCell(text string) string {
	text = printable(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
