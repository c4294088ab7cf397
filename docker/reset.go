package docker

import (
	"errors"
	"fmt"
	"strconv"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/lockfault/lockfault/nemesis"
)

// armed is a toxic that does nothing but make Toxiproxy end the connections of a link by a reset and not by a farewell; it
// must be there when they are made.
const armed = "armed-"

// arm prepares the links that the plan resets.
func (c *cluster) arm() error {
	var errs []error
	for _, step := range c.setup.Faults {
		f, ok := step.Fault.(nemesis.Reset)
		if !ok {
			continue
		}
		d, err := c.strikes(f.Links, nemesis.Disturbance{Direction: f.Direction})
		if err != nil {
			return err
		}
		errs = append(errs, d.each(func(p *proxy, stream string) error {
			_, err := p.AddToxic(d.name+armed+stream, "reset_peer", stream, 0, toxiproxy.Attributes{"timeout": 0})
			return err
		}))
	}
	return errors.Join(errs...)
}

// Reset implements nemesis.Target: Toxiproxy's reset_peer or, after so many bytes, its limit_data. Evidence, from the
// clients' own counters: connections that the other side broke off, how many of them by a TCP RST that reached the client
// (an engine's own forwarding of ports may make a farewell of it), and connections that could not be made.
func (c *cluster) Reset(links []nemesis.Link, way nemesis.Direction, after int64) (nemesis.Heal, error) {
	d, err := c.strikes(links, nemesis.Disturbance{Direction: way})
	if err != nil {
		return nil, err
	}
	for _, s := range d.struck {
		if s.board == nil {
			return nil, unsupported("a reset of the replication link")
		}
	}
	kind, attributes := "reset_peer", toxiproxy.Attributes{"timeout": 0}
	if after > 0 {
		kind, attributes = "limit_data", toxiproxy.Attributes{"bytes": after}
	}
	for _, s := range d.struck {
		s.note()
	}
	err = d.each(func(p *proxy, stream string) error {
		_, err := p.AddToxic(d.name+stream, kind, stream, 1, attributes)
		return err
	})
	if err != nil {
		_ = d.lift() // what is not there cannot be removed
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return func() (nemesis.Evidence, error) {
		var felt linkCount
		for _, s := range d.struck {
			since := s.board.count().minus(s.before)
			felt.resets += since.resets
			felt.ends += since.ends
			felt.dials += since.dials - since.dialled
		}
		return nemesis.Evidence{Effective: felt.resets+felt.ends+felt.dials > 0, Detail: map[string]string{
			"connections_reset": strconv.FormatInt(felt.resets+felt.ends, 10), "rst_received": strconv.FormatInt(felt.resets, 10),
			"dials_reset": strconv.FormatInt(felt.dials, 10),
		}}, d.lift()
	}, nil
}
