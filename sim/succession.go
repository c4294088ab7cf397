package sim

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// sentinelTakes is how long three Sentinels need here until the replica leads: they find that the primary does not answer,
// agree, and elect one of them to promote it. On containers it is measured.
const sentinelTakes = 3 * time.Second

// Failover implements nemesis.Target. Evidence: how many writes the primary had made and the replica had received.
func (c *Cluster) Failover(by nemesis.Promoter) (nemesis.Heal, error) {
	if c.primary == nil || c.failing.Swap(true) {
		return nil, unsupported("this lock has no replica to promote")
	}
	sent, applied := c.primary.replica.offsets()
	c.primary.replica.stop()
	c.primary.crash()
	led := closed
	if by == nemesis.ByHand {
		c.promoted.Store(true)
	} else {
		led = c.promoteLater(func() {})
	}
	reset := c.resetConnections(nemesis.Primary, c.names)
	died := c.Now()
	return func() (nemesis.Evidence, error) {
		if by == nemesis.BySentinel {
			<-led
		}
		return nemesis.Evidence{Effective: true, Detail: map[string]string{
			"primary_offset": strconv.Itoa(sent), "replica_offset": strconv.Itoa(applied),
			"connections_reset": strconv.Itoa(reset), "promoted_at": c.promotedAt(by, died).String(),
		}}, nil
	}, nil
}

func (c *Cluster) promotedAt(by nemesis.Promoter, died time.Duration) time.Duration {
	if by == nemesis.ByHand {
		return died
	}
	return died + sentinelTakes
}

// closed is a channel for which nobody waits.
var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// promoteLater has the replica lead once Sentinels would have promoted it, and then does more at that instant. The channel
// is closed then, or when the run is over.
func (c *Cluster) promoteLater(then func()) <-chan struct{} {
	led := make(chan struct{})
	at := time.Now().Add(sentinelTakes)
	go func() {
		defer close(led)
		if c.net.sleepUntil(context.Background(), at) != nil {
			return
		}
		c.net.align(c.sentinel)
		c.promoted.Store(true)
		then()
	}()
	return led
}

// SplitBrain implements nemesis.Target. Evidence: what the old primary carried out for its side after the replica led.
func (c *Cluster) SplitBrain(clients []string) (nemesis.Heal, error) {
	for _, name := range clients {
		if _, err := c.client(name); err != nil {
			return nil, err
		}
	}
	if c.primary == nil || c.failing.Swap(true) {
		return nil, unsupported("this lock has no replica to promote")
	}
	c.staying.Store(&clients)
	c.primary.replica.stop()
	var others []string
	var parted []*link
	for _, name := range c.names {
		if !slices.Contains(clients, name) {
			others = append(others, name)
			parted = append(parted, c.net.links[nemesis.Link{From: name, To: nemesis.Primary}])
		}
	}
	d := &disturbance{how: nemesis.Disturbance{Drop: true}}
	c.strike(parted, d)
	var served int
	began := c.Now()
	led := c.promoteLater(func() {
		c.lift(parted, d)
		c.resetConnections(nemesis.Primary, others)
		served = c.primary.answeredTo(clients)
	})
	return func() (nemesis.Evidence, error) {
		<-led
		served = c.primary.answeredTo(clients) - served
		lost := c.primary.differs(c.servers[nemesis.Replica].(*redisNode))
		c.staying.Store(nil)
		c.primary.crash() // as a replica it answers nobody here
		reset := c.resetConnections(nemesis.Primary, clients)
		return nemesis.Evidence{Effective: served > 0, Detail: map[string]string{
			"served_by_both": strconv.Itoa(served), "keys_lost": strconv.Itoa(lost), "connections_reset": strconv.Itoa(reset),
			"promoted_at": (began + sentinelTakes).String(),
		}}, nil
	}, nil
}

// answeredTo counts the commands that the node has carried out for the clients.
func (n *redisNode) answeredTo(clients []string) (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range clients {
		count += n.answered[name]
	}
	return count
}

// differs counts the keys of a node that another does not have, or has with another value.
func (n *redisNode) differs(from *redisNode) (count int) {
	from.mu.Lock()
	theirs := from.state
	from.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, r := range n.state {
		if other, ok := theirs[key]; !ok || !other.sameValue(r) {
			count++
		}
	}
	return count
}
