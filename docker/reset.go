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
			return p.strike(stream, toxic{d.name + armed, "reset_peer", 0, toxiproxy.Attributes{"timeout": 0}})
		}))
	}
	return errors.Join(errs...)
}

// Reset implements nemesis.Target: Toxiproxy's reset_peer or, after so many bytes, its limit_data. Evidence, from the
// clients' own counters: connections that the other side broke off, and those that could not be made; and, from the kernels,
// how many were broken off by a TCP RST. An engine that forwards ports by a program makes a farewell of those to clients.
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
	before, err := c.resetsAt(d)
	if err != nil {
		return nil, err
	}
	err = d.each(func(p *proxy, stream string) error {
		return p.strike(stream, toxic{d.name, kind, 1, attributes})
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
		after, err := c.resetsAt(d)
		err = errors.Join(err, d.lift())
		return nemesis.Evidence{
			Effective: felt.resets+felt.ends+felt.dials > 0 && d.struckOnce.Load(),
			Detail: map[string]string{
				"connections_reset": strconv.FormatInt(felt.resets+felt.ends, 10), "dials_reset": strconv.FormatInt(felt.dials, 10),
				"rst_at_client": strconv.FormatInt(felt.resets, 10), "rst_at_servers": strconv.FormatInt(after-before, 10),
			},
		}, err
	}, nil
}

// resetsAt adds up how many connections a TCP RST has ended at the lock servers of a disturbance, by their kernels' counters.
func (c *cluster) resetsAt(d *disturbance) (sum int64, err error) {
	for _, s := range d.struck {
		if s.ledger == nil {
			continue
		}
		n := c.server(s.ledger.node)
		text, err := n.console.run(`awk '$1 == "Tcp:" && $9 != "EstabResets" { print $9 }' /proc/net/snmp`)
		if err != nil {
			return 0, fmt.Errorf("ask %s for its resets: %w", n.name, err)
		}
		count, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("ask %s for its resets: %w", n.name, err)
		}
		sum += count
	}
	return sum, nil
}
