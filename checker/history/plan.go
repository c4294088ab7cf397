package history

import (
	"fmt"
	"strconv"
	"time"
)

// Plan is what the Begin event tells about a run, in its Detail: what a checker must know to judge bounds, and what a
// reader must know to tell one history from another. Nothing in it says how the run is expected to end.
type Plan struct {
	Lock     string
	Scenario string
	Testbed  string
	Seed     uint64
	Fencing  bool          // the lock mints fences and the resource enforces them
	TTL      time.Duration // life of a lease, on the clock of the history
	Nodes    int           // lock servers; 0 if the lock has none
}

// Detail returns the plan as the Begin event carries it.
func (p Plan) Detail() map[string]string {
	return map[string]string{
		"lock":     p.Lock,
		"scenario": p.Scenario,
		"testbed":  p.Testbed,
		"seed":     strconv.FormatUint(p.Seed, 10),
		"fencing":  strconv.FormatBool(p.Fencing),
		"ttl":      p.TTL.String(),
		"nodes":    strconv.Itoa(p.Nodes),
	}
}

// ParsePlan reads the Detail of a Begin event. Missing keys leave zero values, so that histories recorded elsewhere need
// give only what they know; a malformed value is an error.
func ParsePlan(detail map[string]string) (Plan, error) {
	p := Plan{Lock: detail["lock"], Scenario: detail["scenario"], Testbed: detail["testbed"]}
	var err error
	read := func(key string, parse func(string) error) {
		text, ok := detail[key]
		if !ok || err != nil {
			return
		}
		if e := parse(text); e != nil {
			err = fmt.Errorf("begin event: %s %q: %w", key, text, e)
		}
	}
	read("seed", func(s string) (e error) { p.Seed, e = strconv.ParseUint(s, 10, 64); return })
	read("fencing", func(s string) (e error) { p.Fencing, e = strconv.ParseBool(s); return })
	read("ttl", func(s string) (e error) { p.TTL, e = time.ParseDuration(s); return })
	read("nodes", func(s string) (e error) { p.Nodes, e = strconv.Atoi(s); return })
	return p, err
}
