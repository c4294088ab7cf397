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

// shown are the contents of a pack that are seen when a run is opened, by kind, so that what is alike stands together: that
// compresses best.
type shown struct {
	Keys      []string         `json:"keys"`
	Names     []string         `json:"names"`
	HTML      []string         `json:"html"`
	Pictures  []string         `json:"pictures"`
	Lanes     []*lanes.Drawing `json:"lanes"`
	Scenarios []string         `json:"scenarios"`
	Plans     []int            `json:"plans"`     // sizes
	Histories []int            `json:"histories"` // sizes
}

// given are those that are only there to be downloaded. A large history is not unpacked before somebody wants it.
type given struct {
	Plans     []string `json:"plans"`
	Histories []string `json:"histories"`
}

func contents(group []*view) (s shown, g given) {
	for _, v := range group {
		c := v.content
		s.Keys, s.Names, s.HTML, s.Pictures = append(s.Keys, c.Key), append(s.Names, c.Name), append(s.HTML, c.HTML), append(s.Pictures, c.Picture)
		s.Lanes, s.Scenarios = append(s.Lanes, c.Lanes), append(s.Scenarios, c.Scenario)
		s.Plans, s.Histories = append(s.Plans, len(c.Plan)), append(s.Histories, len(c.History))
		g.Plans, g.Histories = append(g.Plans, c.Plan), append(g.Histories, c.History)
	}
	return s, g
}

// compress writes JSON, gzips it and puts it into base64.
func compress(contents any) (string, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	encoder := json.NewEncoder(zip)
	encoder.SetEscapeHTML(false) // it is not in HTML, but in base64
	if err := errors.Join(encoder.Encode(contents), zip.Close()); err != nil {
		return "", fmt.Errorf("pack the runs: %w", err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
