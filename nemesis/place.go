package nemesis

import (
	"fmt"
	"slices"
	"time"
)

// Place knows the servers that a lock has, and turns a schedule written for any lock into one for these.
type Place struct {
	Nodes      []string // lock servers that clients dial, in order
	Replicated bool     // the only node is a primary with a replica
	Consensus  bool     // the nodes are members of one service
}

// pivot is the node that decides: the middle of five, else the only one. Of a consensus service it is the member that
// clients turn to first.
func (p Place) pivot() string {
	if p.Consensus {
		return p.Nodes[0]
	}
	return p.Nodes[len(p.Nodes)/2]
}

func (p Place) node(name string) (string, error) {
	if len(p.Nodes) == 0 {
		return "", fmt.Errorf("%w: this lock has no server", ErrUnsupported)
	}
	if name == Pivot {
		return p.pivot(), nil
	}
	if slices.Contains(p.Nodes, name) {
		return name, nil
	}
	return "", fmt.Errorf("%w: this lock has no server %q", ErrUnsupported, name)
}

// links replaces AllNodes and Pivot, and leaves out links to servers that are not there.
func (p Place) links(links []Link) ([]Link, error) {
	var here []Link
	var missing error
	for _, l := range links {
		switch {
		case l.To == Resource:
			here = append(here, l)
		case l.To == AllNodes:
			for _, node := range p.Nodes {
				here = append(here, Link{l.From, node})
			}
		case l.From == Primary && l.To == Replica:
			if p.Replicated {
				here = append(here, l)
			} else {
				missing = fmt.Errorf("%w: this lock has no replica", ErrUnsupported)
			}
		default:
			node, err := p.node(l.To)
			if err != nil {
				missing = err
				continue
			}
			here = append(here, Link{l.From, node})
		}
	}
	if len(here) == 0 {
		if missing == nil {
			missing = fmt.Errorf("%w: this lock has no server", ErrUnsupported)
		}
		return nil, missing
	}
	return here, nil
}

// Step returns the step for the servers that are there; an error wraps ErrUnsupported if its fault has nothing to strike.
func (p Place) Step(s Step) (Step, error) {
	var err error
	for _, m := range []Moment{s.When.Moment, s.Until.Moment} {
		if (m.Edge == Answered || m.Edge == Granted) && len(p.Nodes) == 0 {
			return s, fmt.Errorf("%w: this lock has no server that could answer", ErrUnsupported)
		}
	}
	switch f := s.Fault.(type) {
	case Stall:
		_, err = p.node(Pivot)
	case Disturb:
		f.Links, err = p.links(f.Links)
		s.Fault = f
	case Crash:
		f.Node, err = p.node(f.Node)
		s.Fault = f
	case ClockStep:
		f.Node, err = p.node(f.Node)
		s.Fault = f
	case ClockRate:
		f.Node, err = p.node(f.Node)
		s.Fault = f
	case Failover:
		switch {
		case p.Consensus: // it replaces a member by itself
			s.Fault = Crash{Node: p.pivot()}
		case !p.Replicated:
			err = fmt.Errorf("%w: this lock has no replica to promote", ErrUnsupported)
		}
	}
	return s, err
}

// Scaled returns the schedule with every duration passed through scale; a clock's rate stays.
func (s Schedule) Scaled(scale func(time.Duration) time.Duration) Schedule {
	scaled := slices.Clone(s)
	for i := range scaled {
		step := &scaled[i]
		step.For, step.When.At, step.Until.At = scale(step.For), scale(step.When.At), scale(step.Until.At)
		switch f := step.Fault.(type) {
		case Disturb:
			f.How.Delay, f.How.Jitter = scale(f.How.Delay), scale(f.How.Jitter)
			step.Fault = f
		case ClockStep:
			f.By = scale(f.By)
			step.Fault = f
		}
	}
	return scaled
}
