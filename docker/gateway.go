package docker

import (
	"context"
	"fmt"
	"net"

	"github.com/lockfault/lockfault/locks/program"
	"github.com/lockfault/lockfault/nemesis"
)

// gateway is the way of a lock that is a program to its servers. A lock in Go has its traffic in its own process; that of a
// program passes here, in the harness, since a gate in the client's process would stand still with it: a server's reply would
// not reach the program's socket during a pause, as it does in production, and its time-out would win over what had arrived.
type gateway struct {
	traffic *traffic
	doors   *program.Doors
}

// openGateway makes the connections of a client ready, and puts the addresses that its program is given in the place of the
// servers' own.
func (c *cluster) openGateway(x *client, p *place) error {
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	g := &gateway{traffic: newTraffic(x.board, p.Client, p.Watched, p.Ways, func(h held) { c.lift(x, h) })}
	if err := g.traffic.connect(ctx, p.Nodes); err != nil {
		g.traffic.hangUp()
		return fmt.Errorf("reach a lock server: %w", err)
	}
	var err error
	g.doors, err = program.OpenDoors(p.Nodes, func(ctx context.Context, network, addr string) (net.Conn, error) {
		return g.traffic.dialLock(ctx, network, c.leader(addr))
	})
	if err != nil {
		g.traffic.hangUp()
		return err
	}
	x.gateway = g
	p.Nodes, p.Sentinels = g.doors.Addrs, nil
	return nil
}

// leader is where an address leads now: that of the primary, to the replica once it was promoted. A program is given one
// address and asks no Sentinel.
func (c *cluster) leader(addr string) string {
	if c.promoted.Load() && addr == c.bed.toxiproxy.announced(nemesis.Primary) {
		return c.bed.toxiproxy.announced(nemesis.Replica)
	}
	return addr
}

// close ends the connections, also those that a stall holds.
func (g *gateway) close(b *board) {
	g.doors.Close()
	b.stalled.Store(0)
	g.traffic.reopen()
	g.traffic.hangUp()
}
