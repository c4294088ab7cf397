package results

import (
	"fmt"
	"io"
	"time"

	"github.com/lockfault/lockfault/checker"
)

// WriteMetrics writes the figures of one history for a terminal, one to a line. One that is absent has no line.
func WriteMetrics(w io.Writer, m checker.Metrics, l Layout) error {
	p := newPrinter(l)
	p.line()
	p.heading("", indent, "metrics")
	margin := pad("", len(indent)+figureWidth)
	for _, f := range Figures(m) {
		p.paragraph(indent+pad(f.Name, figureWidth), margin, f.Text)
	}
	return p.flush(w)
}

const figureWidth = len("calls per hand-over") + 2

// Figure is one of the metrics in words.
type Figure struct{ Name, Text string }

// Figures words those metrics that are there.
func Figures(m checker.Metrics) []Figure {
	var all []Figure
	add := func(name, format string, args ...any) { all = append(all, Figure{name, fmt.Sprintf(format, args...)}) }
	quantiles := func(name string, q *checker.Quantiles) {
		if q != nil {
			add(name, "p50 %s, p90 %s, p99 %s, max %s (of %d)", short(q.P50), short(q.P90), short(q.P99), short(q.Max), q.Count)
		}
	}
	add("acquires", "%d granted, %d refused, %d unknown", m.Grants, m.Refusals, m.UnknownAcquires)
	if m.Sections != nil {
		add("sections", "%d", *m.Sections)
	}
	if m.Overlaps != nil {
		add("overlaps", "%s; pairs of beliefs: %d", ofAll(m.Overlaps.Grants, "grants"), m.Overlaps.Pairs)
	}
	if m.StaleWrites != nil {
		add("stale writes", "%s", ofAll(*m.StaleWrites, "writes applied"))
	}
	if l := m.Loss; l != nil {
		add("leases lost", "%d of %d; signalled in time %d, late %d, never %d", l.Leases, l.Of, l.InTime, l.Late, l.NotSignalled)
		add("work after a loss", "reads %d, writes %d; leases with such writes %d", l.Reads, l.Writes, l.Working)
		quantiles("loss to signal", l.Signal)
	}
	quantiles("acquire latency", m.AcquireLatency)
	quantiles("wait for a grant", m.Wait)
	if m.AcquiresPerHandover != nil {
		add("calls per hand-over", "%.2f acquires", *m.AcquiresPerHandover)
	}
	if m.Fairness != nil {
		add("fairness (Jain)", "%.3f", *m.Fairness)
	}
	return all
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
