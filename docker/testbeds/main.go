// Command testbeds runs the catalogue in virtual time and, several times, on containers, and writes the verdicts side by
// side:
//
//	go run ./docker/testbeds -times 3 -out results/testbeds.md
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
	"path/filepath"
	"strings"
)

// plan is what to run.
type plan struct {
	locks, scenarios, speed string
	times                   int
}

func main() {
	var p plan
	flag.StringVar(&p.locks, "locks", "single,failover,redlock", "`LIST` of locks")
	flag.StringVar(&p.scenarios, "scenarios", "all", "`LIST` of scenarios")
	flag.StringVar(&p.speed, "speed", "5", "speed of the containers")
	flag.IntVar(&p.times, "times", 3, "how many `TIMES` each plan runs on containers")
	out := flag.String("out", "", "`FILE` to write; default: standard output")
	flag.Parse()
	if err := run(p, *out, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "testbeds:", err)
		os.Exit(3)
	}
}

func run(p plan, out string, progress io.Writer) error {
	if p.times < 1 {
		return fmt.Errorf("-times %d: want 1 or more", p.times)
	}
	dir, err := os.MkdirTemp("", "testbeds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lockfault := filepath.Join(dir, "lockfault")
	if text, err := exec.Command("go", "build", "-o", lockfault, "./cmd/lockfault").CombinedOutput(); err != nil {
		return fmt.Errorf("build lockfault: %w: %s", err, text)
	}
	sim, err := compare(lockfault, dir, "--locks", p.locks, "--scenarios", p.scenarios)
	if err != nil {
		return err
	}
	rows := make([]row, len(sim))
	for i, c := range sim {
		rows[i].sim = c
	}
	for i := range p.times {
		fmt.Fprintf(progress, "on containers, %d of %d\n", i+1, p.times)
		cells, err := compare(lockfault, dir, "--locks", p.locks, "--scenarios", p.scenarios, "--testbed", "docker", "--speed", p.speed)
		if err != nil {
			return err
		}
		if err := join(rows, cells); err != nil {
			return err
		}
	}
	text := page(rows, p)
	if out == "" {
		_, err = io.WriteString(os.Stdout, text)
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// join adds a pass on containers to the runs in virtual time.
func join(rows []row, cells []cell) error {
	if len(cells) != len(rows) {
		return fmt.Errorf("%d runs in virtual time, %d on containers", len(rows), len(cells))
	}
	for i, c := range cells {
		if c.name() != rows[i].sim.name() {
			return fmt.Errorf("run %d is %s in virtual time and %s on containers", i+1, rows[i].sim.name(), c.name())
		}
		rows[i].docker = append(rows[i].docker, c)
	}
	return nil
}

// compare runs lockfault. Its exit status says whether all went as expected, which is not asked here.
func compare(lockfault, dir string, args ...string) ([]cell, error) {
	cmd := exec.Command(lockfault, append([]string{"compare", "--format", "json", "--quiet", "--out", filepath.Join(dir, "run")}, args...)...)
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
