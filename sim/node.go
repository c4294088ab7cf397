package sim

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// redisNode is one Redis server with a wall clock of its own.
type redisNode struct {
	name     string
	observer runner.Observer
	replica  *replication // nil unless the node is a primary

	mu       sync.Mutex
	mini     *miniredis.Miniredis
	clock    wallClock
	ticked   time.Time // wall clock at the last tick
	state    snapshot  // after the last command
	saved    []savedState
	writers  map[string]string // key -> client that wrote its present value
	up       bool
	refused  int            // dials while it was down
	answered map[string]int // commands, by client
}

// savedState is the node's data from an instant on, kept for a crash that loses the last second.
type savedState struct {
	since time.Time // virtual time
	state snapshot
}

func newRedisNode(name string, o runner.Observer) *redisNode {
	n := &redisNode{
		name: name, observer: o, mini: miniredis.NewMiniRedis(), clock: newWallClock(),
		state: snapshot{}, writers: map[string]string{}, answered: map[string]int{}, up: true,
	}
	n.ticked = n.clock.now()
	n.saved = []savedState{{time.Now(), n.state}}
	if c, err := n.mini.Dial(); err == nil { // starts the server without a listener
		c.Close()
	}
	return n
}

// tick brings the server's data up to its wall clock: keys whose time has come are gone. A backward step of the clock
// lengthens what is left of a key's life, since its expiry is absolute.
func (n *redisNode) tick() {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.now()
	passed := now.Sub(n.ticked)
	n.ticked = now
	n.mini.SetTime(now)
	switch {
	case passed > 0:
		n.mini.FastForward(passed)
	case passed < 0:
		for key, r := range n.state {
			if !r.expires.IsZero() {
				n.mini.SetTTL(key, r.expires.Sub(now))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n.state)) {
		if r := n.state[key]; !r.expires.IsZero() && !r.expires.After(now) {
			n.observer.Event(n.keyEvent(history.KeyExpired, key, ""))
			n.forget(key)
		}
	}
}

// forget drops a key from a copy of the state: saved states share it.
func (n *redisNode) forget(key string) {
	n.state = maps.Clone(n.state)
	delete(n.state, key)
	delete(n.writers, key)
	n.save()
}

// savedFor is more than any crash loses.
const savedFor = time.Minute

func (n *redisNode) save() {
	now := time.Now()
	n.saved = append(n.saved, savedState{now, n.state})
	for len(n.saved) > 1 && now.Sub(n.saved[1].since) > savedFor {
		n.saved = n.saved[1:]
	}
}

func (n *redisNode) keyEvent(op history.Op, key, by string) history.Event {
	e := history.Event{Process: n.name, Role: history.Node, Type: history.Ok, Op: op, Resource: key, By: by}
	r, exists := n.state[key]
	if !exists {
		return e
	}
	e.Detail = map[string]string{"value": r.value()}
	if owner := n.writers[key]; owner != "" {
		e.Detail["owner"] = owner
	}
	if !r.expires.IsZero() {
		e.Detail["ttl"] = r.expires.Sub(n.clock.now()).String()
	}
	return e
}

// executed compares the data with what they were before the client's command, and tells the observer. It returns whether
// the command set a key.
func (n *redisNode) executed(client string) (wrote bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.state
	after := takeSnapshot(n.mini, n.ticked)
	if maps.EqualFunc(before, after, func(a, b record) bool { return a.sameValue(b) && a.expires.Equal(b.expires) }) {
		return false
	}
	var gone []string
	for key := range before {
		if _, still := after[key]; !still {
			gone = append(gone, key)
		}
	}
	slices.Sort(gone)
	for _, key := range gone {
		n.observer.Event(n.keyEvent(history.KeyDeleted, key, client))
		delete(n.writers, key)
	}
	n.state = after
	for _, key := range slices.Sorted(maps.Keys(after)) {
		old, existed := before[key]
		switch r := after[key]; {
		case !existed || !r.sameValue(old):
			wrote = true
			n.writers[key] = client
			n.observer.Event(n.keyEvent(history.KeySet, key, client))
		case !r.expires.Equal(old.expires):
			n.observer.Event(n.keyEvent(history.KeyTTL, key, client))
		}
	}
	n.save()
	if n.replica != nil {
		n.replica.ship(n.state, n.writers)
	}
	return wrote
}

func (n *redisNode) accept(client string, conn *end) bool {
	n.mu.Lock()
	if !n.up {
		n.refused++
		n.mu.Unlock()
		return false
	}
	mini := n.mini
	n.mu.Unlock()
	var last lastRequest
	conn.onRead = func(b []byte) {
		last.set(b)
		n.tick() // not in the server's hook before commands: it also runs within scripts, with the server locked
	}
	conn.onWrite = func(reply []byte) {
		if last.isHandshake() || bytes.HasPrefix(reply, []byte("-NOSCRIPT")) {
			return
		}
		n.mu.Lock()
		n.answered[client]++
		n.mu.Unlock()
		n.observer.Answered(client, n.name, n.executed(client))
	}
	mini.Server().ServeConn(conn)
	return true
}

// lastRequest remembers what a connection was asked last: reading and answering are different goroutines.
type lastRequest struct {
	mu   sync.Mutex
	text []byte
}

func (r *lastRequest) set(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text[:0], b...)
}

func (r *lastRequest) isHandshake() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return isHandshake(r.text)
}

// isHandshake tells the commands with which client libraries greet a server from those that a lock sends.
func isHandshake(request []byte) bool {
	for _, verb := range []string{"hello", "client", "auth", "select", "ping", "info"} {
		if len(request) < 8+len(verb) {
			continue
		}
		if i := bytes.Index(request, []byte("\r\n$")); i >= 0 {
			if j := bytes.Index(request[i+3:], []byte("\r\n")); j >= 0 {
				name := request[i+3+j+2:]
				if len(name) >= len(verb) && bytes.EqualFold(name[:len(verb)], []byte(verb)) {
					return true
				}
			}
		}
	}
	return false
}

// crash stops the node. Its connections are the network's to reset.
func (n *redisNode) crash() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up = false
}

// restart implements lockServer.
func (n *redisNode) restart(keep nemesis.Survival, crashed time.Time, unsynced time.Duration) (lost, missed int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	state := n.state
	switch keep {
	case nemesis.LoseAll:
		state = snapshot{}
	case nemesis.LoseSecond:
		for _, s := range n.saved {
			if crashed.Sub(s.since) >= unsynced {
				state = s.state
			}
		}
		if crashed.Sub(n.saved[0].since) < unsynced {
			state = n.saved[0].state
		}
	}
	for key, r := range n.state {
		if kept, ok := state[key]; !ok || !kept.sameValue(r) {
			lost++
		}
	}
	n.load(state)
	n.up = true
	if n.replica != nil {
		n.replica.ship(n.state, n.writers)
	}
	return lost, 0
}

// load replaces the data. The node is locked.
func (n *redisNode) load(state snapshot) {
	now := n.clock.now()
	n.ticked = now
	n.mini.SetTime(now)
	state.restore(n.mini, now)
	n.state = takeSnapshot(n.mini, now)
	for key := range n.writers {
		if _, ok := n.state[key]; !ok {
			delete(n.writers, key)
		}
	}
	n.save()
}

func (n *redisNode) dialsRefused() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused
}

func (n *redisNode) stepClock(by time.Duration) (before, after time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before = n.clock.now()
	n.clock.step(by)
	return before, n.clock.now()
}

func (n *redisNode) setRate(rate float64) (wall time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock.setRate(rate)
	return n.clock.now()
}

func (n *redisNode) close() { n.mini.Close() }

// replication carries a primary's data to its replica over their link, a whole state with each write.
type replication struct {
	replica *redisNode
	conn    *end

	mu      sync.Mutex
	states  []shipped
	applied int
	stopped bool
}

type shipped struct {
	state   snapshot
	writers map[string]string
}

// replicate connects a primary with its replica.
func replicate(primary, replica *redisNode, l *link) *replication {
	p := l.attempt()
	p.open()
	r := &replication{replica: replica, conn: p.client}
	primary.replica = r
	go r.receive(p.server)
	return r
}

// ship sends the state on its way. The primary is locked.
func (r *replication) ship(state snapshot, writers map[string]string) {
	r.mu.Lock()
	r.states = append(r.states, shipped{state, maps.Clone(writers)})
	number := len(r.states)
	r.mu.Unlock()
	_, _ = r.conn.Write([]byte(strconv.Itoa(number) + "\n"))
}

// receive applies what arrives, in order, until the connection ends.
func (r *replication) receive(conn *end) {
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		for range bytes.Count(buf[:n], []byte("\n")) {
			r.mu.Lock()
			if r.stopped {
				r.mu.Unlock()
				return
			}
			next := r.states[r.applied]
			r.applied++
			r.mu.Unlock()
			r.replica.mu.Lock()
			r.replica.writers = maps.Clone(next.writers)
			r.replica.load(next.state)
			r.replica.mu.Unlock()
		}
	}
}

// offsets are the writes that the primary has sent and the replica has applied.
func (r *replication) offsets() (sent, applied int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.states), r.applied
}

// stop ends the replication for good, with what is under way.
func (r *replication) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.conn.Close()
}
