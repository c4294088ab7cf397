package sim

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// segment is what one write put on a lane; fin closes the stream.
type segment struct {
	bytes   []byte
	fin     bool
	arrives time.Time
}

// stream carries bytes one way of one connection, each write arriving after its own delay, in order. The network's mutex
// guards it.
type stream struct {
	lane    *lane
	pipe    *pipe
	slot    time.Duration
	key     uint64    // of the delays
	sent    uint64    // messages
	last    time.Time // arrival of the newest
	clear   time.Time // when a slow link will have carried all that it was given
	passed  map[*disturbance]int64
	queue   []segment
	partial []byte
	done    bool          // the writer has closed
	lost    bool          // a drop swallowed something
	broken  error         // the connection is gone: nothing more arrives
	changed chan struct{} // wakes the reader
}

// newStream makes one direction of the link's connection of a number.
func newStream(l *lane, number int) *stream {
	return &stream{
		lane: l, slot: l.slot + time.Duration(number%connSlots), key: mix(l.key + uint64(number)<<32),
		changed: make(chan struct{}, 1),
	}
}

func (s *stream) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// take returns bytes that have arrived, or how long until the next do; negative: nothing is under way.
func (s *stream) take(b []byte) (n int, wait time.Duration, err error) {
	s.lane.net.mu.Lock()
	defer s.lane.net.mu.Unlock()
	if len(s.partial) == 0 && len(s.queue) > 0 {
		if wait = time.Until(s.queue[0].arrives); wait > 0 && s.broken == nil {
			return 0, wait, nil
		}
		if s.broken == nil {
			if s.queue[0].fin {
				return 0, 0, io.EOF
			}
			s.partial, s.queue = s.queue[0].bytes, s.queue[1:]
		}
	}
	if len(s.partial) > 0 {
		n = copy(b, s.partial)
		s.partial = s.partial[n:]
		return n, 0, nil
	}
	if s.broken != nil {
		return 0, 0, s.broken
	}
	return 0, -1, nil
}

func (s *stream) write(seg segment) error {
	s.lane.net.mu.Lock()
	defer s.lane.net.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	if s.done {
		return net.ErrClosed
	}
	s.done = seg.fin
	s.lane.send(s, seg)
	return nil
}

// pipe is one connection over a link.
type pipe struct {
	link           *link
	there, back    *stream // client to server, server to client
	client, server *end
}

// attempt numbers a connection before it is made: the number decides its delays and slots.
func (l *link) attempt() *pipe {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	l.conns++
	p := &pipe{link: l, there: newStream(l.requests, l.conns), back: newStream(l.replies, l.conns)}
	p.there.pipe, p.back.pipe = p, p
	p.client = &end{pipe: p, in: p.back, out: p.there}
	p.server = &end{pipe: p, in: p.there, out: p.back}
	return p
}

// open makes the connection part of the link: faults strike it from now on.
func (p *pipe) open() {
	p.link.net.mu.Lock()
	defer p.link.net.mu.Unlock()
	p.link.pipes[p] = struct{}{}
}

// forget takes it away again.
func (p *pipe) forget() {
	p.link.net.mu.Lock()
	defer p.link.net.mu.Unlock()
	delete(p.link.pipes, p)
}

// reset breaks the connection at both ends at once. The network is locked.
func (p *pipe) reset() {
	p.breakWith(syscall.ECONNRESET, syscall.ECONNRESET)
}

// breakWith ends the connection: the client's side sees one error, the server's the other. The network is locked.
func (p *pipe) breakWith(client, server error) {
	if p.back.broken == nil {
		p.back.broken = client
	}
	if p.there.broken == nil {
		p.there.broken = server
	}
	p.back.signal()
	p.there.signal()
	delete(p.link.pipes, p)
}

// end is one end of a connection, a net.Conn.
type end struct {
	pipe    *pipe
	in, out *stream
	gates   []*gate // client's end: what stops its process
	onRead  func([]byte)
	onWrite func([]byte) // server's end: called when a reply is on its way

	mu           sync.Mutex
	readDeadline time.Time
	closed       bool
}

var errTimeout = os.ErrDeadlineExceeded

// Read returns what has arrived. Data that arrived win over a deadline that has passed meanwhile, as they do when a
// stopped process goes on.
func (e *end) Read(b []byte) (int, error) {
	for {
		if err := passAll(e.gates, e.in.slot); err != nil {
			return 0, e.failed("read", err)
		}
		e.mu.Lock()
		deadline, closed := e.readDeadline, e.closed
		e.mu.Unlock()
		if closed {
			return 0, e.failed("read", net.ErrClosed)
		}
		n, wait, err := e.in.take(b)
		if n > 0 {
			if e.onRead != nil {
				e.onRead(b[:n])
			}
			return n, nil
		}
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		if err != nil {
			if errors.Is(err, syscall.ECONNRESET) {
				e.in.lane.net.align(e.in.slot) // a reset strikes many connections at once; each learns of it in its slot
			}
			return 0, e.failed("read", err)
		}
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left <= 0 {
				return 0, e.failed("read", errTimeout)
			}
			if wait < 0 || left < wait {
				wait = left
			}
		}
		if wait < 0 {
			<-e.in.changed
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-e.in.changed:
			timer.Stop()
		}
	}
}

// Write hands bytes to the network and never waits for it, as with a roomy socket buffer.
func (e *end) Write(b []byte) (int, error) {
	if err := passAll(e.gates, e.out.slot); err != nil {
		return 0, e.failed("write", err)
	}
	if err := e.out.write(segment{bytes: append([]byte(nil), b...)}); err != nil {
		return 0, e.failed("write", err)
	}
	if e.onWrite != nil {
		e.onWrite(b)
	}
	return len(b), nil
}

// Close lets what was written arrive first, as TCP does.
func (e *end) Close() error {
	e.mu.Lock()
	already := e.closed
	e.closed = true
	e.mu.Unlock()
	if already {
		return nil
	}
	_ = e.out.write(segment{fin: true}) // a broken connection needs no farewell
	e.in.signal()
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	e.readDeadline = t
	e.mu.Unlock()
	e.in.signal()
	return nil
}

func (e *end) SetDeadline(t time.Time) error    { return e.SetReadDeadline(t) }
func (e *end) SetWriteDeadline(time.Time) error { return nil } // a write never waits
func (e *end) LocalAddr() net.Addr              { return address }
func (e *end) RemoteAddr() net.Addr             { return address }

var address = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6379}

func (e *end) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: address, Err: err}
}
