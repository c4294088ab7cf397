package sim

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// Every instant at which something can happen by itself belongs to one slot: instant mod slotCycle. Each client, each
// direction of each connection and the nemesis have their own, so no two of them ever act at the same instant and the
// order of events does not depend on the scheduler.
const slotCycle = 16384 * time.Nanosecond

// connSlots is how many connections of one link have slots of their own; the next ones share them.
const connSlots = 8

const nemesisSlot = 1

// Delays of an undisturbed link, one way, per message. A local network, with a little spread.
const (
	delayMin    = 100 * time.Microsecond
	delaySpread = 400 * time.Microsecond
)

// network carries bytes between clients and servers with delays that depend on the seed, the link, the direction, the
// number of the connection and that of the message only: never on what other connections do.
type network struct {
	mu      sync.Mutex // held briefly, never across a wait
	start   time.Time
	seed    uint64
	links   map[nemesis.Link]*link
	slots   uint32
	closing chan struct{} // closed when the run is over: nothing on the network waits any more
}

func newNetwork(seed uint64) *network {
	return &network{start: time.Now(), seed: seed, links: map[nemesis.Link]*link{}, slots: nemesisSlot, closing: make(chan struct{})}
}

// reserve hands out count slots and returns the first. Callers ask in an order that the plan fixes.
func (n *network) reserve(count uint32) time.Duration {
	first := n.slots + 1
	n.slots += count
	return time.Duration(first) % slotCycle
}

// aligned is the first instant at or after t that belongs to slot.
func (n *network) aligned(t time.Time, slot time.Duration) time.Time {
	wait := slot - t.Sub(n.start)%slotCycle
	if wait < 0 {
		wait += slotCycle
	}
	return t.Add(wait)
}

// align waits for the next instant of slot.
func (n *network) align(slot time.Duration) {
	time.Sleep(time.Until(n.aligned(time.Now(), slot)))
}

// link joins a client to a server, or the primary to its replica.
type link struct {
	net               *network
	requests, replies *lane
	conns             int // opened so far, or attempted
	pipes             map[*pipe]struct{}
}

// addLink makes the link once; asking again returns it.
func (n *network) addLink(name nemesis.Link) *link {
	if l, ok := n.links[name]; ok {
		return l
	}
	l := &link{net: n, pipes: map[*pipe]struct{}{}}
	l.requests = n.newLane(name.From + ">" + name.To)
	l.replies = n.newLane(name.To + ">" + name.From)
	n.links[name] = l
	return l
}

func (l *link) lanes(d nemesis.Direction) []*lane {
	switch d {
	case nemesis.Requests:
		return []*lane{l.requests}
	case nemesis.Replies:
		return []*lane{l.replies}
	default:
		return []*lane{l.requests, l.replies}
	}
}

// lane is one direction of a link.
type lane struct {
	net  *network
	slot time.Duration // the first of those of its connections
	key  uint64        // of the delays

	disturbances []*disturbance
	held         []heldSegment // by a cut, oldest first
	freed        chan struct{} // closed when a cut or drop heals: dials wait for it
}

type heldSegment struct {
	to  *stream
	seg segment
}

func (n *network) newLane(name string) *lane {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &lane{net: n, slot: n.reserve(connSlots), key: mix(n.seed ^ h.Sum64()), freed: make(chan struct{})}
}

// disturbance is a nemesis.Disturbance or a nemesis.Reset in force, with what it did.
type disturbance struct {
	how            nemesis.Disturbance
	reset          bool
	after          int64 // bytes of a connection, until it is reset
	resets         int
	bytes, dials   int
	delayed        int
	longestAddedBy time.Duration
}

func (l *lane) blocked() *disturbance {
	for _, d := range l.disturbances {
		if d.how.Cut || d.how.Drop {
			return d
		}
	}
	return nil
}

// resets finds what breaks a connection that is given so many bytes more, and counts them. The network is locked.
func (s *stream) resets(bytes int) *disturbance {
	for _, d := range s.lane.disturbances {
		if !d.reset {
			continue
		}
		if s.passed == nil {
			s.passed = map[*disturbance]int64{}
		}
		if s.passed[d] += int64(bytes); s.passed[d] > d.after || d.after == 0 {
			return d
		}
	}
	return nil
}

// crawl is how much longer a message takes on a slow link: behind those before it on its connection. The network is locked.
func (s *stream) crawl(d *disturbance, bytes int) time.Duration {
	now := time.Now()
	if s.clear.Before(now) {
		s.clear = now
	}
	s.clear = s.clear.Add(d.how.PerKB * time.Duration(bytes) / 1000)
	return s.clear.Sub(now)
}

// arrival draws when the next message on the stream gets through. The network is locked.
func (s *stream) arrival(bytes int) time.Time {
	s.sent++
	draw := mix(s.key + s.sent)
	delay := delayMin + time.Duration(draw%uint64(delaySpread))
	for _, d := range s.lane.disturbances {
		if d.how.Cut || d.how.Drop || d.reset {
			continue
		}
		added := d.how.Delay
		if d.how.PerKB > 0 {
			added = s.crawl(d, bytes)
			d.bytes += bytes
		}
		if d.how.Jitter > 0 {
			added += time.Duration(mix(draw) % uint64(d.how.Jitter))
		}
		delay += added
		d.delayed++
		d.longestAddedBy = max(d.longestAddedBy, added)
	}
	at := s.lane.net.aligned(time.Now().Add(delay), s.slot)
	if !at.After(s.last) {
		at = s.last.Add(slotCycle) // a connection keeps the order
	}
	s.last = at
	return at
}

// send puts a segment on its way to s, or holds it, or loses it. The network is locked.
func (l *lane) send(s *stream, seg segment) {
	if d := s.resets(len(seg.bytes)); d != nil && !seg.fin {
		d.resets++
		s.pipe.reset()
		return
	}
	switch d := l.blocked(); {
	case d == nil && len(l.held) == 0:
		seg.arrives = s.arrival(len(seg.bytes))
		s.queue = append(s.queue, seg)
		s.signal()
	case d != nil && d.how.Drop:
		d.bytes += len(seg.bytes)
		s.lost = true
	default:
		for _, d := range l.disturbances {
			if d.how.Cut {
				d.bytes += len(seg.bytes)
			}
		}
		l.held = append(l.held, heldSegment{s, seg})
	}
}

// heal lifts a disturbance: held segments go on their way in order, and connections that lost something are reset.
// The network is locked.
func (l *lane) heal(d *disturbance, pipes map[*pipe]struct{}) {
	for i, x := range l.disturbances {
		if x == d {
			l.disturbances = append(l.disturbances[:i:i], l.disturbances[i+1:]...)
			break
		}
	}
	if l.blocked() != nil {
		return
	}
	held := l.held
	l.held = nil
	for _, h := range held {
		l.send(h.to, h.seg)
	}
	for p := range pipes {
		if p.there.lost || p.back.lost {
			p.reset()
		}
	}
	close(l.freed)
	l.freed = make(chan struct{})
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): a good bijection of 64 bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
