package locks

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// link is the test network between one client and one server. Its faults may be set at any time.
type link struct {
	serve         func(net.Conn)
	refuse        atomic.Bool // dialling fails at once
	ignore        atomic.Bool // dialling has no answer
	loseRequests  atomic.Bool // what the client sends vanishes
	loseReplies   atomic.Bool // what the server sends vanishes
	latency       atomic.Int64
	stoppedUntil  atomic.Pointer[time.Time] // the client is stopped: it reads nothing before, not even a timeout
	holdUntil     atomic.Pointer[time.Time] // what the client sends arrives no sooner
	commandsTried atomic.Int64              // writes of the client
}

func (l *link) dial(ctx context.Context) (net.Conn, error) {
	if l.ignore.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if l.refuse.Load() {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	requests, replies := newStream(), newStream()
	l.serve(&end{in: requests, out: replies, lose: &l.loseReplies, link: l})
	return &end{in: replies, out: requests, lose: &l.loseRequests, link: l, client: true}, nil
}

// end is one end of a connection.
type end struct {
	in, out  *stream
	lose     *atomic.Bool
	link     *link
	client   bool
	deadline atomic.Pointer[time.Time]
}

func (e *end) Write(b []byte) (int, error) {
	arrives := time.Now().Add(time.Duration(e.link.latency.Load()))
	if e.client {
		e.link.commandsTried.Add(1)
		if hold := e.link.holdUntil.Load(); hold != nil && hold.After(arrives) {
			arrives = *hold
		}
	}
	if e.lose.Load() {
		return len(b), nil
	}
	return len(b), e.out.write(b, arrives)
}

func (e *end) Read(b []byte) (int, error) {
	for {
		if e.client {
			if stop := e.link.stoppedUntil.Load(); stop != nil && time.Now().Before(*stop) {
				time.Sleep(time.Until(*stop))
			}
		}
		n, wait, err := e.in.take(b)
		if n > 0 || err != nil {
			return n, err
		}
		if d := e.deadline.Load(); d != nil && !d.IsZero() {
			left := time.Until(*d)
			if stop := e.link.stoppedUntil.Load(); left <= 0 && (stop == nil || !time.Now().Before(*stop)) {
				return 0, os.ErrDeadlineExceeded
			}
			wait = min(wait, max(left, 0))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-e.in.changed:
		}
		timer.Stop()
	}
}

func (e *end) Close() error {
	e.out.close()
	e.in.close()
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error  { e.deadline.Store(&t); return nil }
func (e *end) SetDeadline(t time.Time) error      { return e.SetReadDeadline(t) }
func (e *end) SetWriteDeadline(t time.Time) error { return nil }
func (e *end) LocalAddr() net.Addr                { return new(net.TCPAddr) }
func (e *end) RemoteAddr() net.Addr               { return new(net.TCPAddr) }

// stream carries bytes one way, in order.
type stream struct {
	mu      sync.Mutex
	queue   []segment
	closed  bool
	changed chan struct{}
}

type segment struct {
	bytes   []byte
	arrives time.Time
}

func newStream() *stream { return &stream{changed: make(chan struct{}, 1)} }

func (s *stream) write(b []byte, arrives time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return io.ErrClosedPipe
	}
	s.queue = append(s.queue, segment{append([]byte(nil), b...), arrives})
	s.signal()
	return nil
}

// take returns what has arrived, or how long to wait for something that may.
func (s *stream) take(b []byte) (n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		if s.closed {
			return 0, 0, io.EOF
		}
		return 0, time.Hour, nil
	}
	head := &s.queue[0]
	if wait = time.Until(head.arrives); wait > 0 {
		return 0, wait, nil
	}
	n = copy(b, head.bytes)
	if head.bytes = head.bytes[n:]; len(head.bytes) == 0 {
		s.queue = s.queue[1:]
	}
	return n, 0, nil
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal()
}

func (s *stream) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
