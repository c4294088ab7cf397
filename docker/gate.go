package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// traffic is what a worker's connections pass: they count themselves on the board, wait while the client is stalled, and,
// for a client of which somebody waits to hear that a server answered, give a reply on only once the harness knows.
type traffic struct {
	board   *board
	client  string
	watched bool
	making  atomic.Bool // the lock is being made: what it asks a server then is no part of the run, and held by nobody
	ask     func(held)  // tells the harness of a reply that waits
	ways    map[string]way
	dialer  net.Dialer

	mu     sync.Mutex
	ready  map[string]net.Conn // by address: a connection from before the run, for the first who asks
	opened chan struct{}       // closed when a stall may be over
	lifts  map[uint64]chan struct{}
	number atomic.Uint64
}

// held is a reply that waits to be given on.
type held struct {
	ID   uint64 `json:"id"`
	Node int    `json:"node"` // its place among the lock servers
}

func newTraffic(b *board, client string, watched bool, ways map[string]way, ask func(held)) *traffic {
	return &traffic{
		board: b, client: client, watched: watched, ask: ask, ways: ways, ready: map[string]net.Conn{},
		opened: make(chan struct{}), lifts: map[uint64]chan struct{}{},
	}
}

// pass waits while the client is stalled.
func (t *traffic) pass() {
	waited := false
	for {
		t.mu.Lock()
		opened := t.opened
		t.mu.Unlock()
		if t.board.stalled.Load() == 0 {
			return
		}
		if !waited {
			waited = true
			t.board.held.Add(1)
		}
		<-opened
	}
}

// reopen makes those that wait in pass look again.
func (t *traffic) reopen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.opened)
	t.opened = make(chan struct{})
}

// hold waits until the harness has made what it will of a reply.
func (t *traffic) hold(node int) {
	id := t.number.Add(1)
	lifted := make(chan struct{})
	t.mu.Lock()
	t.lifts[id] = lifted
	t.mu.Unlock()
	t.ask(held{id, node})
	<-lifted
}

// lift lets a reply go on.
func (t *traffic) lift(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.lifts[id]; c != nil {
		close(c)
		delete(t.lifts, id)
	}
}

// connect makes a connection to each lock server ready, so that the first use of a lock takes no longer than any other.
func (t *traffic) connect(ctx context.Context, nodes []string) error {
	for _, addr := range nodes {
		way := t.ways[addr]
		conn, err := t.dialer.DialContext(ctx, "tcp", way.Proxy)
		if err == nil {
			err = greet(ctx, conn, clientPrefix+t.client)
		}
		if err != nil {
			return err
		}
		link := &t.board.links[way.Node]
		link.dials.Add(1)
		link.dialled.Add(1)
		t.ready[addr] = conn
	}
	return nil
}

// hangUp closes the connections that nobody has asked for.
func (t *traffic) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, conn := range t.ready {
		conn.Close()
	}
	clear(t.ready)
}

// open returns a connection on which a round trip has just succeeded.
func (t *traffic) open(ctx context.Context, network, addr string) (net.Conn, error) {
	t.mu.Lock()
	conn := t.ready[addr]
	delete(t.ready, addr)
	t.mu.Unlock()
	if conn != nil {
		t.board.links[t.ways[addr].Node].closed.Add(1) // it counts as another one from now on
		err := greet(ctx, conn, clientPrefix+t.client)
		if err == nil {
			return conn, nil
		}
		conn.Close()
		if ctx.Err() != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: err}
		}
		// The server has ended it meanwhile.
	}
	conn, err := t.dialer.DialContext(ctx, network, t.ways[addr].Proxy)
	if err != nil {
		return nil, err
	}
	if err := greet(ctx, conn, clientPrefix+t.client); err != nil {
		conn.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: err}
	}
	return conn, nil
}

// dialLock opens a connection to a lock server. It is open once the server has answered: a proxy accepts connections also
// while its link is cut. With its first command the connection tells the server whose it is. What a client has to do with
// Sentinels is neither counted nor held.
func (t *traffic) dialLock(ctx context.Context, network, addr string) (net.Conn, error) {
	way, ok := t.ways[addr]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%w: %s", errNoServer, addr)}
	}
	if way.Node == aSentinel {
		return t.open(ctx, network, addr)
	}
	remote, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	t.pass()
	link := &t.board.links[way.Node]
	link.dials.Add(1)
	conn, err := t.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t.pass()
	link.dialled.Add(1)
	return &lockConn{countedConn: countedConn{Conn: conn, link: link}, traffic: t, node: way.Node, remote: remote}, nil
}

// aLongTimeAgo is a deadline that has passed.
var aLongTimeAgo = time.Unix(1, 0)

// greet names the connection and waits for the answer, or until ctx is done.
func greet(ctx context.Context, conn net.Conn, name string) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(aLongTimeAgo) })
	_, err := io.WriteString(conn, inline("CLIENT", "SETNAME", name))
	var answer []byte
	one := make([]byte, 1)
	for err == nil && (len(answer) == 0 || answer[len(answer)-1] != '\n') { // byte by byte: nothing behind it may be taken
		if _, err = io.ReadFull(conn, one); err == nil {
			answer = append(answer, one[0])
		}
	}
	if !stop() {
		return context.Cause(ctx)
	}
	switch {
	case err != nil:
		return err
	case answer[0] != '+':
		return fmt.Errorf("the server says %q", answer)
	}
	return nil
}

// dialResource opens a connection to the protected resource, which no stall concerns.
func (t *traffic) dialResource(ctx context.Context, addr string) (net.Conn, error) {
	link := &t.board.links[resourceLink]
	link.dials.Add(1)
	conn, err := t.dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	link.dialled.Add(1)
	return &countedConn{Conn: conn, link: link}, nil
}

// countedConn counts itself on the board.
type countedConn struct {
	net.Conn
	link   *linkBoard
	closed atomic.Bool
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		// Data that have arrived win over a deadline that has passed meanwhile, as when a stopped process goes on.
		if late, ok := readLate(c.Conn, b); ok {
			n, err = late, nil
		}
	}
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		c.link.resets.Add(1)
	case err == io.EOF:
		c.link.ends.Add(1)
	}
	if n > 0 {
		c.link.read.Add(int64(n))
		if sent := c.link.lastWrite.Load(); sent > 0 {
			took := int64(monotonic()) - sent
			for longest := c.link.slowest.Load(); took > longest && !c.link.slowest.CompareAndSwap(longest, took); {
				longest = c.link.slowest.Load()
			}
		}
	}
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.link.lastWrite.Store(int64(monotonic()))
	c.link.messages.Add(1)
	n, err := c.Conn.Write(b)
	c.link.written.Add(int64(n))
	return n, err
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.link.closed.Add(1)
	}
	return c.Conn.Close()
}

// SyscallConn lets client libraries see whether an idle connection is still good, as they do with one of their own.
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

// lockConn is a connection to a lock server.
type lockConn struct {
	countedConn
	traffic *traffic
	node    int
	remote  net.Addr
}

// RemoteAddr is the address that was dialled, and not that of the proxy: by it a client library tells to which server a
// connection leads.
func (c *lockConn) RemoteAddr() net.Addr { return c.remote }

func (c *lockConn) Read(b []byte) (int, error) {
	n, err := c.countedConn.Read(b)
	if n > 0 && c.traffic.watched && !c.traffic.making.Load() {
		c.traffic.hold(c.node)
	}
	c.traffic.pass()
	return n, err
}

func (c *lockConn) Write(b []byte) (int, error) {
	c.traffic.pass()
	return c.countedConn.Write(b)
}
