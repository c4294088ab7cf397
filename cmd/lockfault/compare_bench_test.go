package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/results"
)

// BenchmarkCompare runs and judges the whole catalogue, all locks, without and with fencing, as a user
// does: start-up, child processes and the store included.
func BenchmarkCompare(b *testing.B) {
	binary := ordinaryBinary(b)
	runs := 0
	for b.Loop() {
		c := exec.Command(binary, "compare", "--format", "json", "--quiet")
		c.Dir = b.TempDir()
		out, err := c.Output()
		if err != nil {
			b.Fatal(err)
		}
		report, err := results.ReadJSON(strings.NewReader(string(out)))
		if err != nil {
			b.Fatal(err)
		}
		s := report.Summary()
		runs += s.Runs - s.Unsupported
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "schedules/s")
}
