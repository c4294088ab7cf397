package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockfault/lockfault/checker"
)

// cell is what a lock did in a scenario, with fences or without, over all seeds. Each text is "yes", "no", "?", "n/a",
// "ERR", "-" (not run) or "3/5" (in three runs of five), followed by "!" if that is not as expected.
type cell struct {
	holders, harmed string
}

// Texts of cells that have no verdicts.
const (
	notRun       = "-"
	notSupported = "n/a"
	failed       = "ERR"
)

func cellOf(runs []Run) cell {
	if len(runs) == 0 {
		return cell{notRun, notRun}
	}
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Error != "" }) {
		return cell{failed, failed}
	}
	runs = judged(runs)
	if len(runs) == 0 {
		return cell{notSupported, notSupported}
	}
	return cell{violations(runs, checker.Exclusion), violations(runs, checker.Effects)}
}

// judged leaves out the runs that came to no verdicts.
func judged(runs []Run) []Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Unsupported != "" || r.Error != "" })
}

// violations tells whether the runs violate the property: "yes", "no", "?" or, where they disagree, "3/5"; marked "!"
// if any is not as expected.
func violations(runs []Run, property string) string {
	var count [checker.Violated + 1]int
	mark := ""
	for _, run := range runs {
		count[run.Verdicts[property].Status]++
		if run.Differs(property) {
			mark = "!"
		}
	}
	switch count[checker.Violated] {
	case len(runs):
		return "yes" + mark
	case 0:
		if count[checker.Undecided] > 0 {
			return "?" + mark
		}
		return "no" + mark
	}
	return fmt.Sprintf("%d/%d%s", count[checker.Violated], len(runs), mark)
}

// violated tells whether the text of a cell reports a violation in some run.
func violated(text string) bool {
	return strings.HasPrefix(text, "yes") || strings.Contains(text, "/") && text != notSupported
}

// notes names the other properties that were violated or are not as expected and, if both sides were judged, on which.
func notes(unfenced, fenced []Run) string {
	unfenced, fenced = judged(unfenced), judged(fenced)
	without, with := others(unfenced), others(fenced)
	oneSided := len(unfenced) == 0 || len(fenced) == 0
	var items []string
	for _, item := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(without, with)))) {
		switch {
		case oneSided || slices.Contains(without, item) && slices.Contains(with, item):
			items = append(items, item)
		case slices.Contains(with, item):
			items = append(items, item+" (fenced)")
		default:
			items = append(items, item+" (unfenced)")
		}
	}
	return strings.Join(items, ", ")
}

// others reads like "expiry violated", "ownership violated!", "truth held!"; with "!" it is not as expected.
func others(runs []Run) []string {
	found := make(map[string]bool)
	for _, run := range runs {
		for _, property := range run.Properties() {
			status, differs := run.Verdicts[property].Status, run.Differs(property)
			switch {
			case property == checker.Exclusion || property == checker.Effects:
			case differs:
				found[fmt.Sprintf("%s %v!", property, status)] = true
			case status == checker.Violated:
				found[fmt.Sprintf("%s %v", property, status)] = true
			}
		}
		if run.Outcome() == NotAsExpected && len(run.surprises()) == 0 {
			found["see below!"] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
