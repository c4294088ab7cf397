package results

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/lockfault/lockfault/checker"
)

// WriteMeasuredJSON writes a report as WriteJSON does, with the figures of its one history as "metrics".
func WriteMeasuredJSON(w io.Writer, r Report, m checker.Metrics) error {
	if r.Runs == nil {
		r.Runs = []Run{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Report
		Summary Summary         `json:"summary"`
		Metrics checker.Metrics `json:"metrics"`
	}{r, r.Summary(), m})
}

// WriteMetrics writes the figures of one history for a terminal, one to a line. One that is absent has no line.
func WriteMetrics(w io.Writer, m checker.Metrics, l Layout) error {
	p := newPrinter(l)
	p.line()
	p.heading("", indent, "metrics")
	p.figure("acquires", fmt.Sprintf("%d granted, %d refused, %d unknown", m.Grants, m.Refusals, m.UnknownAcquires))
	if m.Sections != nil {
		p.figure("sections", fmt.Sprint(*m.Sections))
	}
	if m.Overlaps != nil {
		p.figure("overlaps", fmt.Sprintf("%s; pairs of beliefs: %d", ofAll(m.Overlaps.Grants, "grants"), m.Overlaps.Pairs))
	}
	if m.StaleWrites != nil {
		p.figure("stale writes", ofAll(*m.StaleWrites, "writes applied"))
	}
	p.loss(m.Loss)
	p.quantiles("acquire latency", m.AcquireLatency)
	p.quantiles("wait for a grant", m.Wait)
	if m.AcquiresPerHandover != nil {
		p.figure("calls per hand-over", fmt.Sprintf("%.2f acquires", *m.AcquiresPerHandover))
	}
	if m.Fairness != nil {
		p.figure("fairness (Jain)", fmt.Sprintf("%.3f", *m.Fairness))
	}
	return p.flush(w)
}

const figureWidth = len("calls per hand-over") + 2

func (p *printer) figure(name, text string) {
	margin := pad("", len(indent)+figureWidth)
	p.paragraph(indent+pad(name, figureWidth), margin, text)
}

func (p *printer) loss(l *checker.Loss) {
	if l == nil {
		return
	}
	p.figure("leases lost", fmt.Sprintf("%d of %d; signalled in time %d, late %d, never %d", l.Leases, l.Of, l.InTime, l.Late, l.NotSignalled))
	p.figure("work after a loss", fmt.Sprintf("reads %d, writes %d; leases with such writes %d", l.Reads, l.Writes, l.Working))
	p.quantiles("loss to signal", l.Signal)
}

func (p *printer) quantiles(name string, q *checker.Quantiles) {
	if q == nil {
		return
	}
	p.figure(name, fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s (of %d)", short(q.P50), short(q.P90), short(q.P99), short(q.Max), q.Count))
}

// ofAll reads like "3 of 4 grants, 75 % (95 % interval: 30.1 to 95.4)".
func ofAll(r checker.Proportion, what string) string {
	return fmt.Sprintf("%d of %d %s, %.3g %% (95 %% interval: %.3g to %.3g)", r.Count, r.Of, what, 100*r.Rate, 100*r.Low95, 100*r.High95)
}

// short keeps three digits or so of a duration.
func short(d time.Duration) string {
	for unit := time.Second; unit > 1; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 1000).String()
		}
	}
	return d.String()
}
