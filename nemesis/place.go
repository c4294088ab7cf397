package nemesis

import (
	"fmt"
	"slices"
)

// Place knows the servers that a lock has, and turns a schedule written for any lock into one for these. The zero value is
// that of a lock without servers.
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
	missing := fmt.Errorf("%w: this lock has no server", ErrUnsupported)
	add := func(l Link) {
		if !slices.Contains(here, l) { // n3 may be named beside Pivot or AllNodes
			here = append(here, l)
		}
	}
	for _, l := range links {
		switch {
		case l.To == AllNodes:
			for _, node := range p.Nodes {
				add(Link{l.From, node})
			}
		case l.To == Resource || l.To == Replica && p.Replicated:
			add(l)
		case l.To == Replica:
			missing = fmt.Errorf("%w: this lock has no replica", ErrUnsupported)
		default:
			node, err := p.node(l.To)
			if err != nil {
				missing = err
				continue
			}
			add(Link{l.From, node})
		}
	}
	if len(here) == 0 {
		return nil, missing
	}
	return here, nil
}

// Trigger returns the trigger for the servers that are there; an error wraps ErrUnsupported if its moment cannot come here.
func (p Place) Trigger(t Trigger) (Trigger, error) {
	m := &t.Moment
	if m.Edge == AtTime {
		return t, nil
	}
	m.Nth = max(m.Nth, 1)
	if m.Edge != Answered && m.Edge != Granted {
		return t, nil
	}
	var err error
	switch answering := p.answering(); {
	case answering == 0:
		err = fmt.Errorf("%w: this lock has no server that could answer", ErrUnsupported)
	case m.Node != "":
		m.Node, err = p.node(m.Node)
	case m.Nodes > answering:
		err = fmt.Errorf("%w: %d nodes cannot answer, this lock asks %d", ErrUnsupported, m.Nodes, answering)
	}
	return t, err
}

// answering is how many servers answer an operation: a consensus service acts as one.
func (p Place) answering() int {
	if p.Consensus {
		return min(len(p.Nodes), 1)
	}
	return len(p.Nodes)
}

// Step returns the step for the servers that are there; an error wraps ErrUnsupported if its fault has nothing to strike or
// a moment of it cannot come here.
func (p Place) Step(s Step) (Step, error) {
	var err error
	if s.When, err = p.Trigger(s.When); err != nil {
		return s, err
	}
	if s.Until, err = p.Trigger(s.Until); err != nil {
		return s, err
	}
	switch f := s.Fault.(type) {
	case Stall:
		_, err = p.node(Pivot)
	case Disturb:
		f.Links, err = p.links(f.Links)
		s.Fault = f
	case Reset:
		f.Links, err = p.links(f.Links)
		s.Fault = f
	case Bandwidth:
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
	case SplitBrain:
		if !p.Replicated {
			err = fmt.Errorf("%w: this lock has no replica to promote", ErrUnsupported)
		}
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
