package checker

import (
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// Metrics are figures about a history. A figure that the history does not define (a rate of nothing, a latency that was
// never seen, what no log tells) is absent, never 0. Durations are in nanoseconds, rates between 0 and 1.
type Metrics struct {
	Grants          int         `json:"grants"`                 // acquires that ended ok
	Refusals        int         `json:"refusals"`               // acquires that ended fail
	UnknownAcquires int         `json:"unknown_acquires"`       // acquires that ended info, or never
	Sections        *int        `json:"sections,omitempty"`     // as effects counts them; needs the log of the resource
	Overlaps        *Overlaps   `json:"overlaps,omitempty"`     // needs a grant
	StaleWrites     *Proportion `json:"stale_writes,omitempty"` // see measureEffects; needs a write in the log of the resource
	Loss            *Loss       `json:"loss,omitempty"`         // needs a lease whose end is known

	AcquireLatency *Quantiles `json:"acquire_latency,omitempty"` // of the calls that ended ok
	// Wait is the time from a client's first acquire of a lock since it was last granted it, to the grant: over all
	// refusals and retries. Waits that never ended in a grant are not in it.
	Wait *Quantiles `json:"wait,omitempty"`
	// AcquiresPerHandover is how many acquire calls, whatever came of them, there were for each grant to another client
	// than the lock's previous one. 1 is the least for a lock that queues its clients.
	AcquiresPerHandover *float64 `json:"acquire_calls_per_handover,omitempty"`
	// Fairness is Jain's index over the grants of each client that ever tried: 1 if all got as many, 1/n if one of n got
	// all (Jain, Chiu and Hawe 1984, "A quantitative measure of fairness"). Needs two clients and a grant.
	Fairness *float64 `json:"jain_fairness,omitempty"`
}

// Measure takes the figures. The harness's Probe is in the counts and rates, but in nothing that is about waiting: it
// asks when all is over.
func Measure(c *Case) Metrics {
	m := Metrics{Grants: len(c.Grants), Overlaps: measureOverlaps(c), Loss: measureLoss(c)}
	for i := range c.Calls {
		switch call := &c.Calls[i]; {
		case call.Kind != acquire || call.Outcome == history.Ok:
		case call.Outcome == history.Fail:
			m.Refusals++
		default:
			m.UnknownAcquires++
		}
	}
	m.measureEffects(c)
	m.measureWaits(c)
	m.measureTurns(c)
	return m
}

// WithoutTimes leaves out what is measured in time, for a history that has an order but no times.
func (m Metrics) WithoutTimes() Metrics {
	m.Loss, m.AcquireLatency, m.Wait = nil, nil, nil
	return m
}

// measureEffects counts, of the writes that were applied, those over a version that their section had not seen, as the
// judge of effects finds them. A late write in the middle of the next holder's section may make two: itself, and the
// holder's next one, which overwrites it unseen.
func (m *Metrics) measureEffects(c *Case) {
	logs := registers(c)
	writes := 0
	for _, log := range logs {
		if log.gap != "" {
			return
		}
		writes += len(log.writes)
	}
	if len(logs) > 0 {
		sections, _ := countSections(c, logs)
		m.Sections = &sections
		m.StaleWrites = proportion(len(staleWrites(logs)), writes)
	}
}

// turn is one client's business with one lock, or with one piece of data.
type turn struct{ client, lock name }

// measureWaits follows the acquires by their invocations; a client's calls never overlap.
func (m *Metrics) measureWaits(c *Case) {
	latency, wait := newSamples(), newSamples()
	since := map[turn]time.Duration{}
	probe := c.find(Probe)
	for i := range c.Calls {
		call := &c.Calls[i]
		if call.Kind != acquire || call.Client == probe {
			continue
		}
		now := turn{call.Client, call.Lock}
		first, waiting := since[now]
		if !waiting {
			first = call.Asked
			since[now] = first
		}
		if call.Outcome == history.Ok {
			latency.add(c.ended(call) - call.Asked)
			wait.add(c.ended(call) - first)
			delete(since, now)
		}
	}
	m.AcquireLatency, m.Wait = latency.quantiles(), wait.quantiles()
}

// measureTurns tells who got the lock, and from whom.
func (m *Metrics) measureTurns(c *Case) {
	probe := c.find(Probe)
	calls := 0
	grants := map[name]int{} // of each client that tried
	for i := range c.Calls {
		if call := &c.Calls[i]; call.Kind == acquire && call.Client != probe {
			calls++
			grants[call.Client] += 0
		}
	}
	handovers := 0
	holder := map[name]name{} // by lock: who was granted it last
	for i := range c.Grants {
		g := &c.Grants[i]
		if g.Client == probe {
			continue
		}
		grants[g.Client]++
		if last, held := holder[g.Lock]; held && last != g.Client {
			handovers++
		}
		holder[g.Lock] = g.Client
	}
	m.Fairness = jain(grants)
	if handovers > 0 {
		m.AcquiresPerHandover = new(float64)
		*m.AcquiresPerHandover = float64(calls) / float64(handovers)
	}
}
