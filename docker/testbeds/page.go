package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cell is one run as `lockfault compare --format json` tells it.
type cell struct {
	Lock        string             `json:"lock"`
	Scenario    string             `json:"scenario"`
	Code        string             `json:"code"`
	Fencing     bool               `json:"fencing"`
	Unsupported string             `json:"unsupported"`
	Error       string             `json:"error"`
	Verdicts    map[string]verdict `json:"verdicts"`
}

type verdict struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Witness struct {
		Sentence string `json:"sentence"`
	} `json:"witness"`
}

func (v verdict) why() string {
	if v.Witness.Sentence != "" {
		return v.Witness.Sentence
	}
	return v.Reason
}

func (c cell) name() string {
	return fmt.Sprintf("%s on %s, fences %s", c.Scenario, c.Lock, c.fences())
}

func (c cell) fences() string {
	if c.Fencing {
		return "on"
	}
	return "off"
}

// row is one plan: a run in virtual time, and those on containers.
type row struct {
	sim    cell
	docker []cell
}

// properties are shown in this order.
var properties = []string{
	"exclusion", "effects", "ownership", "expiry", "progress", "availability", "fence-order", "fence-enforcement",
}

// explained says of a scenario why the testbeds may differ.
var explained = map[string]string{
	"R1": "its faults strike at times and not at steps, and what a client is doing at such a time depends on delays: in virtual time " +
		"they are the seed's, on containers the machine's",
}

// kind is what became of a plan on containers.
type kind int

const (
	same kind = iota
	different
	failed
	unsupported
)

func (r row) kind() kind {
	k := same
	for _, d := range r.docker {
		switch {
		case r.sim.Unsupported != "" || d.Unsupported != "":
			return unsupported
		case r.sim.Error != "" || d.Error != "":
			k = max(k, failed)
		case !sameVerdicts(r.sim, d):
			if k == same {
				k = different
			}
		}
	}
	return k
}

// page puts the runs side by side.
func page(rows []row, p plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Virtual time and containers, side by side\n\nMade by `go run ./docker/testbeds -times %d -out results/testbeds.md`; "+
		"each plan ran once in virtual time and %s on containers, at speed %s. What is violated is named; everything else that was "+
		"judged held. *The same* is the same verdict of every property, each time.\n\n"+
		"| | scenario | lock | fences | virtual time | containers |\n|---|---|---|---|---|---|\n", p.times, times(p.times), p.speed)
	count := map[kind]int{}
	missing := map[string][]string{}
	for _, r := range rows {
		k := r.kind()
		count[k]++
		if k == unsupported {
			why := r.unsupported()
			missing[why] = append(missing[why], fmt.Sprintf("%s on `%s`", r.sim.Code, r.sim.Lock))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.sim.Code, r.sim.Scenario, r.sim.Lock, r.sim.fences(), said(r.sim), r.onContainers())
	}
	fmt.Fprintf(&b, "\n%d the same each time, %d different at least once, %d with a run that failed, %d not supported by one or both.\n",
		count[same], count[different], count[failed], count[unsupported])
	if text := differences(rows); text != "" {
		fmt.Fprintf(&b, "\n## Differences\n\n%s", text)
	}
	if len(missing) > 0 {
		b.WriteString("\n## Not supported\n\n")
		for _, why := range slices.Sorted(maps.Keys(missing)) {
			fmt.Fprintf(&b, "- %s: %s\n", why, strings.Join(slices.Compact(missing[why]), ", "))
		}
	}
	b.WriteString("\nLocks on a consensus service run in virtual time only: there are no containers of such a service.\n")
	return b.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// unsupported says which testbed cannot, and why.
func (r row) unsupported() string {
	d := r.docker[0]
	switch {
	case r.sim.Unsupported == d.Unsupported:
		return "on both, " + d.Unsupported
	case r.sim.Unsupported == "":
		return "on containers, " + d.Unsupported
	}
	return "in virtual time, " + r.sim.Unsupported
}

// onContainers says what came out there, and how often if not each time.
func (r row) onContainers() string {
	var said []string
	often := map[string]int{}
	for _, d := range r.docker {
		text := outcome(r.sim, d)
		if often[text] == 0 {
			said = append(said, text)
		}
		often[text]++
	}
	if len(said) == 1 {
		return said[0]
	}
	for i, text := range said {
		said[i] = fmt.Sprintf("%d of %d: %s", often[text], len(r.docker), text)
	}
	return strings.Join(said, "; ")
}

func outcome(sim, d cell) string {
	if d.Error == "" && sim.Error == "" && sameVerdicts(sim, d) {
		return "the same"
	}
	return said(d)
}

// differences has a sentence for each property that came out differently.
func differences(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		told := map[string]bool{}
		for _, d := range r.docker {
			if r.kind() == unsupported || d.Error != "" {
				continue
			}
			for _, p := range properties {
				mine, theirs := r.sim.Verdicts[p], d.Verdicts[p]
				if mine.Status == theirs.Status || told[p+theirs.Status] {
					continue
				}
				told[p+theirs.Status] = true
				fmt.Fprintf(&b, "- %s `%s` on `%s`, fences %s: %s is %s in virtual time (%s) and %s on containers (%s)", r.sim.Code, r.sim.Scenario,
					r.sim.Lock, r.sim.fences(), p, mine.Status, mine.why(), theirs.Status, theirs.why())
				if why := explained[r.sim.Code]; why != "" {
					fmt.Fprintf(&b, "; %s", why)
				} else {
					b.WriteString("; not explained")
				}
				b.WriteString(".\n")
			}
		}
	}
	return b.String()
}

func said(c cell) string {
	if c.Error != "" {
		return "failed: " + c.Error
	}
	var violated, undecided []string
	for _, p := range properties {
		switch c.Verdicts[p].Status {
		case "violated":
			violated = append(violated, p)
		case "undecided":
			undecided = append(undecided, p)
		}
	}
	text := "none"
	if len(violated) > 0 {
		text = "**" + strings.Join(violated, ", ") + "**"
	}
	if slices.Contains(undecided, "exclusion") || slices.Contains(undecided, "effects") {
		text += "; undecided: " + strings.Join(undecided, ", ")
	}
	return text
}

func sameVerdicts(a, b cell) bool {
	for _, p := range properties {
		if a.Verdicts[p].Status != b.Verdicts[p].Status {
			return false
		}
	}
	return true
}
