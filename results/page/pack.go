package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/lanes"
)

// Bounds of a page. Histories compress to about a fifteenth and their lanes to half of that again, so a page with as many
// events as this stays well below 3 MB. A page of one run has its lanes whole, and its history up to the second bound.
const (
	roomEvents  = 120_000   // of all runs of a page that has several
	roomHistory = 64 << 20  // bytes of the history of a page of one run
	nearTicks   = 400       // operations around the witness of a run that is not whole
	packBytes   = 512 << 10 // of a pack, before compression
)

// share says how much of a run's history a page has room for.
type share struct {
	lanes   int  // operations; 0: all
	history bool // as a download
}

// shares gives room to the runs that somebody will look at first: those that are not as expected, then violations.
func shares(r results.Report) []share {
	all := make([]share, len(r.Runs))
	if len(r.Runs) == 1 {
		return []share{{0, true}}
	}
	order := make([]int, len(r.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(urgency(r.Runs[a]), urgency(r.Runs[b])) })
	room := roomEvents
	for _, i := range order {
		events := r.Runs[i].Events
		if events <= room {
			room -= events
			all[i] = share{0, true}
		} else {
			all[i] = share{nearTicks, false}
		}
	}
	return all
}

func urgency(r results.Run) int {
	switch {
	case r.Outcome() != results.AsExpected:
		return 0
	case r.Verdicts[checker.Exclusion].Status == checker.Violated || r.Verdicts[checker.Effects].Status == checker.Violated:
		return 1
	}
	return 2
}

// grouped puts together what compresses well together: views of one scenario, up to the size of a pack. Views without
// anything to open are left out.
func grouped(views []*view) [][]*view {
	var groups [][]*view
	open := map[string]int{} // scenario to group
	size := map[int]int{}
	for _, v := range views {
		if !v.Opens() {
			continue
		}
		name := v.Run.Scenario + "\x00" + v.Run.Testbed
		at, known := open[name]
		if !known || size[at] > packBytes {
			at = len(groups)
			open[name] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], v)
		size[at] += len(v.content.History) + len(v.content.HTML)
	}
	return groups
}

// packed are the contents of a pack by kind, so that what is alike stands together: that compresses best.
type packed struct {
	Keys      []string         `json:"keys"`
	Names     []string         `json:"names"`
	HTML      []string         `json:"html"`
	Pictures  []string         `json:"pictures"`
	Lanes     []*lanes.Drawing `json:"lanes"`
	Scenarios []string         `json:"scenarios"`
	Plans     []string         `json:"plans"`
	Histories []string         `json:"histories"`
}

// compress makes JSON of the contents, gzips it and writes it in base64.
func compress(group []*view) (string, error) {
	var p packed
	for _, v := range group {
		c := v.content
		p.Keys, p.Names, p.HTML, p.Pictures = append(p.Keys, c.Key), append(p.Names, c.Name), append(p.HTML, c.HTML), append(p.Pictures, c.Picture)
		p.Lanes, p.Histories = append(p.Lanes, c.Lanes), append(p.Histories, c.History)
		p.Plans, p.Scenarios = append(p.Plans, c.Plan), append(p.Scenarios, c.Scenario)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	encoder := json.NewEncoder(zip)
	encoder.SetEscapeHTML(false) // it is not in HTML, but in base64
	if err := errors.Join(encoder.Encode(p), zip.Close()); err != nil {
		return "", fmt.Errorf("pack %s: %w", group[0].Run.Scenario, err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
