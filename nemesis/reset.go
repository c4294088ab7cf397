package nemesis

import "strings"

// Reset breaks connections: while it lasts, one that has carried After bytes more, in one direction, is reset (TCP RST) at
// both ends, and what goes beyond is lost. With After 0 nothing more gets through, and no connection can be made.
type Reset struct {
	Links     []Link // at least one
	Direction Direction
	After     int64 // bytes, not negative
}

// Kind implements Fault.
func (f Reset) Kind() string { return "reset" }

// Subject implements Fault.
func (f Reset) Subject() string { return subject(f.Links) }

// Inject implements Fault.
func (f Reset) Inject(t Target) (Heal, error) { return t.Reset(f.Links, f.Direction, f.After) }

// subject names links.
func subject(links []Link) string {
	names := make([]string, len(links))
	for i, l := range links {
		names[i] = l.String()
	}
	return strings.Join(names, " ")
}
