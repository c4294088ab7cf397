package results

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/lockfault/lockfault/checker"
)

// WriteJSON writes a report with its summary, indented. A status is "held", "violated" or "undecided", a duration is in
// nanoseconds, and text is escaped so that it may stand in HTML.
func WriteJSON(w io.Writer, r Report) error { return writeJSON(w, r, nil) }

// WriteMeasuredJSON writes a report as WriteJSON does, with the figures of its one history as "metrics".
func WriteMeasuredJSON(w io.Writer, r Report, m checker.Metrics) error { return writeJSON(w, r, &m) }

func writeJSON(w io.Writer, r Report, m *checker.Metrics) error {
	if r.Runs == nil {
		r.Runs = []Run{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Report
		Summary Summary          `json:"summary"`
		Metrics *checker.Metrics `json:"metrics,omitempty"`
	}{r, r.Summary(), m})
}

// ReadJSON reads what WriteJSON wrote. Fields that it does not know are passed over, but there must be runs.
func ReadJSON(r io.Reader) (Report, error) {
	report := Report{}
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return Report{}, err
	}
	if report.Runs == nil {
		return Report{}, errors.New("no runs in it")
	}
	return report, nil
}
