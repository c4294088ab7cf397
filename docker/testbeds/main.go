// Command testbeds runs the catalogue in virtual time and on containers, and writes both sets of verdicts side by side:
//
//	go run ./docker/testbeds > results/testbeds.md
//
// It runs each comparison by the lockfault command, so that what it shows is what anybody gets.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	locks := flag.String("locks", "single,failover,redlock", "`LIST` of locks")
	scenarios := flag.String("scenarios", "all", "`LIST` of scenarios")
	speed := flag.String("speed", "5", "speed of the containers")
	flag.Parse()
	if err := run(os.Stdout, *locks, *scenarios, *speed); err != nil {
		fmt.Fprintln(os.Stderr, "testbeds:", err)
		os.Exit(3)
	}
}

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
	Status string `json:"status"`
	Reason string `json:"reason"`
}

func run(w io.Writer, locks, scenarios, speed string) error {
	sim, err := compare("--locks", locks, "--scenarios", scenarios)
	if err != nil {
		return err
	}
	docker, err := compare("--locks", locks, "--scenarios", scenarios, "--testbed", "docker", "--speed", speed)
	if err != nil {
		return err
	}
	if len(sim) != len(docker) {
		return fmt.Errorf("%d runs in virtual time, %d on containers", len(sim), len(docker))
	}
	_, err = io.WriteString(w, table(sim, docker, speed))
	return err
}

// compare runs lockfault. Its exit status says whether all went as expected, which is not asked here.
func compare(args ...string) ([]cell, error) {
	cmd := exec.Command("go", append([]string{"run", "./cmd/lockfault", "compare", "--format", "json", "--quiet"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return nil, err
	}
	var report struct {
		Runs []cell `json:"runs"`
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&report); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return report.Runs, nil
}

// properties are shown in this order.
var properties = []string{
	"exclusion", "effects", "ownership", "expiry", "progress", "availability", "fence-order", "fence-enforcement",
}

// table puts the runs side by side: a letter for each property that either testbed decided.
func table(sim, docker []cell, speed string) string {
	var b, differences strings.Builder
	same, different, failed, unsupported := 0, 0, 0, 0
	fmt.Fprintf(&b, "# Virtual time and containers, side by side\n\nMade by `go run ./docker/testbeds`; containers at speed %s. "+
		"What is violated is named; everything else that was judged held. *Both* is the same verdict of every property.\n\n"+
		"| | scenario | lock | fences | virtual time | containers |\n|---|---|---|---|---|---|\n", speed)
	for i, s := range sim {
		d := docker[i]
		fences := "off"
		if s.Fencing {
			fences = "on"
		}
		left, right := said(s), said(d)
		switch {
		case s.Unsupported != "" && d.Unsupported != "":
			unsupported++
			continue
		case d.Error != "":
			failed++
		case s.Unsupported != "" || d.Unsupported != "":
			unsupported++
		case sameVerdicts(s, d):
			same++
			right = "the same"
		default:
			different++
			for _, p := range properties {
				if a, b := s.Verdicts[p], d.Verdicts[p]; a.Status != b.Status {
					fmt.Fprintf(&differences, "- %s `%s` on `%s`, fences %s: %s is %s in virtual time (%s) and %s on containers (%s)\n",
						s.Code, s.Scenario, s.Lock, fences, p, a.Status, a.Reason, b.Status, b.Reason)
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", s.Code, s.Scenario, s.Lock, fences, left, right)
	}
	fmt.Fprintf(&b, "\n%d the same, %d different, %d failed, %d not supported by one or both.\n", same, different, failed, unsupported)
	if differences.Len() > 0 {
		fmt.Fprintf(&b, "\n## Differences\n\n%s", differences.String())
	}
	return b.String()
}

func said(c cell) string {
	if c.Error != "" {
		return "failed: " + c.Error
	}
	if c.Unsupported != "" {
		return "n/a: " + c.Unsupported
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
