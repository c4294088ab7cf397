package results

import (
	"encoding/json"
	"errors"
	"io"
)

// WriteJSON writes a report with its summary, indented. A status is "held", "violated" or "undecided", a duration is in
// nanoseconds, and text is escaped so that it may stand in HTML.
func WriteJSON(w io.Writer, r Report) error {
	if r.Runs == nil {
		r.Runs = []Run{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Report
		Summary Summary `json:"summary"`
	}{r, r.Summary()})
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
