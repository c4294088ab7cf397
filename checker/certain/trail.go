package certain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/recording"
)

// trail is a recording, put in order: leases with what was done under each.
type trail struct {
	bound    func(host string) time.Duration
	jumps    map[string]time.Duration // by process: how far its wall clock moved against its monotonic one
	hosts    map[string]bool
	leases   []*lease
	from, to time.Time
	warnings []string
	missing  string // why lines are missing, if some are

	contradicted map[string]string // data whose versions cannot be believed, and why
}

// lease is one grant and what followed from it.
type lease struct {
	acquire *recording.Line   // nil if its grant is not recorded
	asked   *recording.Line   // an acquire that failed, perhaps; nil if none is recorded
	release *recording.Line   // or when its holder was told of the loss, whichever was first; nil if neither is recorded
	extends []*recording.Line // that were granted, in order
	writes  []*recording.Line // that were applied
	unknown []*recording.Line // writes that may have been applied, at any time since they began
	tries   []*recording.Line // writes, whatever became of them: their client took the lease for its own
	lock    string
	// owner is who held it: a client of a process, since clients of other processes may have the same name.
	owner string
}

func newTrail(lines []recording.Line, bound func(string) time.Duration) (*trail, error) {
	t := &trail{bound: bound, jumps: map[string]time.Duration{}, hosts: map[string]bool{}, contradicted: map[string]string{}}
	t.look(lines)
	byName := map[string]*lease{}
	for i := range lines {
		l := &lines[i]
		t.hosts[l.Host] = true
		if t.from.IsZero() || l.Ended.Before(t.from) {
			t.from = l.Ended
		}
		if l.Ended.After(t.to) {
			t.to = l.Ended
		}
		if l.Lease == "" {
			continue
		}
		of := byName[l.Lease]
		if of == nil {
			of = &lease{lock: l.Lock, owner: owner(l)}
			byName[l.Lease] = of
			t.leases = append(t.leases, of)
		}
		if err := of.add(l); err != nil {
			return nil, err
		}
	}
	for _, of := range t.leases {
		slices.SortStableFunc(of.extends, func(a, b *recording.Line) int { return a.Ended.Compare(b.Ended) })
	}
	t.lookAtVersions()
	return t, nil
}

// known is when the lease ended as its holder knew, zero if it went by its release alone. An extension that came after the
// end revives a lease that another may have had in between; it does not count.
func (of *lease) known() (until time.Time) {
	if of.acquire == nil {
		return until
	}
	until = of.acquire.Until
	for _, e := range of.extends {
		if until.IsZero() || e.Ended.After(until) {
			break
		}
		until = e.Until
	}
	return until
}

// add takes what a line says of the lease.
func (of *lease) add(l *recording.Line) error {
	if l.Op == recording.Write {
		of.tries = append(of.tries, l)
	}
	switch {
	case l.Op == recording.Acquire && l.Outcome == recording.Ok:
		if of.acquire != nil {
			return fmt.Errorf("%s: lease %q was granted at %s already; each grant has a lease of its own", l.Place(), l.Lease, of.acquire.Place())
		}
		of.acquire, of.lock, of.owner = l, l.Lock, owner(l)
	case l.Op == recording.Acquire:
		of.asked = l
	case l.Op == recording.Release, l.Op == recording.Lost:
		if of.release == nil || began(l).Before(began(of.release)) {
			of.release = l
		}
	case l.Op == recording.Extend && l.Outcome == recording.Ok:
		of.extends = append(of.extends, l)
	case l.Op == recording.Write && l.Outcome == recording.Ok:
		of.writes = append(of.writes, l)
	case l.Op == recording.Write && l.Outcome == recording.Unknown:
		of.unknown = append(of.unknown, l)
	}
	return nil
}

func owner(l *recording.Line) string { return l.Process + "\x00" + l.Client }

// began is when a line's call began, or when it happened if it is no call.
func began(l *recording.Line) time.Time {
	if l.Began.IsZero() {
		return l.Ended
	}
	return l.Began
}

// look finds what is missing and whose wall clock jumped.
func (t *trail) look(lines []recording.Line) {
	type process struct {
		host    string
		started bool
		ended   bool
		dropped int64
		clocks  []reading
	}
	processes := map[string]*process{}
	var names []string
	for i := range lines {
		l := &lines[i]
		p := processes[l.Process]
		if p == nil {
			p = &process{host: l.Host}
			processes[l.Process] = p
			names = append(names, l.Process)
		}
		p.started = p.started || l.Op == recording.Start
		p.ended = p.ended || l.Op == recording.End
		p.dropped = max(p.dropped, l.Dropped)
		if l.Mono != 0 {
			p.clocks = append(p.clocks, reading{l.Mono, time.Duration(l.Ended.UnixNano()) - l.Mono})
		}
	}
	slices.Sort(names)
	var missing []string
	for _, name := range names {
		p := processes[name]
		if p.dropped > 0 {
			missing = append(missing, fmt.Sprintf("%s did not write %d lines", name, p.dropped))
		}
		if !p.started {
			missing = append(missing, name+" has no start line")
		}
		if !p.ended {
			missing = append(missing, name+" has no end line")
		}
		if jump := moved(p.clocks); jump > max(2*t.bound(p.host), readingNoise) {
			t.jumps[name] = jump
			t.warnings = append(t.warnings, fmt.Sprintf("the wall clock of %s moved by %v against its monotonic clock, more than "+
				"the bound of its host allows (it was set, or the machine was suspended); its times are taken to be off by that much more",
				name, jump.Round(time.Microsecond)))
		}
	}
	if len(missing) > 3 {
		missing = append(missing[:3], fmt.Sprintf("and %d more of this kind", len(missing)-3))
	}
	t.missing = strings.Join(missing, ", ")
}

// reading is what a process read off its two clocks, the wall clock first.
type reading struct {
	mono   time.Duration
	offset time.Duration // of the wall clock, which is ahead of the monotonic one by this much
}

// readingNoise is how far two clocks seem to move against each other since they are not read at one instant.
const readingNoise = 100 * time.Microsecond

// moved is how far the wall clock moved against the monotonic one. A process that was stopped between the two readings seems
// to have a wall clock that was set back, but not for long: so one that is behind counts only if it has not been ahead at
// the two readings before, or will not be at the two after.
func moved(clocks []reading) time.Duration {
	slices.SortFunc(clocks, func(a, b reading) int { return cmp.Compare(a.mono, b.mono) })
	var low, high time.Duration
	for i, c := range clocks {
		offset := min(furthest(clocks[max(i-2, 0):i+1]), furthest(clocks[i:min(i+3, len(clocks))]))
		if i == 0 {
			low, high = offset, offset
		}
		low, high = min(low, offset), max(high, c.offset)
	}
	return high - low
}

func furthest(clocks []reading) time.Duration {
	return slices.MaxFunc(clocks, func(a, b reading) int { return cmp.Compare(a.offset, b.offset) }).offset
}

// at is a time on the clock of the line's process.
func (t *trail) at(l *recording.Line, when time.Time) moment {
	off := int64(t.bound(l.Host) + t.jumps[l.Process])
	return moment{when.UnixNano() - off, when.UnixNano() + off}
}

// tell says a time for a person, with the bound of its clock.
func (t *trail) tell(l *recording.Line, when time.Time) string {
	return fmt.Sprintf("%s (clock of %s, ±%v)", when.UTC().Format("15:04:05.000000"), l.Host, t.bound(l.Host)+t.jumps[l.Process])
}

// data is what a write was to.
func data(l *recording.Line) string {
	if l.Resource == "" {
		return l.Lock
	}
	return l.Resource
}
