package results

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
)

func TestMetricsForATerminal(t *testing.T) {
	sections, fairness := 3, 0.5
	m := checker.Metrics{
		Grants: 4, Refusals: 1, Sections: &sections, Fairness: &fairness,
		Overlaps: &checker.Overlaps{Pairs: 3, Grants: checker.Proportion{Count: 3, Of: 4, Rate: 0.75, Low95: 0.300642, High95: 0.954413}},
		Loss: &checker.Loss{Leases: 1, Of: 4, Late: 1, Writes: 2, Working: 1,
			Signal: &checker.Quantiles{Count: 1, P50: 3500 * time.Millisecond, P90: 3500 * time.Millisecond, P99: 3500 * time.Millisecond, Max: 1234567 * time.Nanosecond}},
	}
	const want = `
metrics
  acquires             4 granted, 1 refused, 0 unknown
  sections             3
  overlaps             3 of 4 grants, 75 % (95 % interval: 30.1 to 95.4); pairs
                       of beliefs: 3
  leases lost          1 of 4; signalled in time 0, late 1, never 0
  work after a loss    reads 0, writes 2; leases with such writes 1
  loss to signal       p50 3.5s, p90 3.5s, p99 3.5s, max 1.235ms (of 1)
  fairness (Jain)      0.500
`
	var out bytes.Buffer
	if err := WriteMetrics(&out, m, Layout{}); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestAbsentMetricsAreNotWritten(t *testing.T) {
	var out bytes.Buffer
	if err := WriteMetrics(&out, checker.Metrics{}, Layout{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 3 {
		t.Errorf("%d lines of\n%s", lines, out.String())
	}
}

func TestMeasuredJSONIsAReportWithMetrics(t *testing.T) {
	var out bytes.Buffer
	if err := WriteMeasuredJSON(&out, Report{Runs: []Run{{Lock: "single"}}}, checker.Metrics{Grants: 2}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metrics map[string]int `json:"metrics"`
		Summary Summary        `json:"summary"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metrics["grants"] != 2 || len(got.Metrics) != 3 || got.Summary.Runs != 1 {
		t.Errorf("got %+v", got)
	}
	if report, err := ReadJSON(&out); err != nil || len(report.Runs) != 1 {
		t.Errorf("read %v, %v", report, err)
	}
}
