package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Doors are addresses in this process behind which the lock servers are. What a program sends there goes on through the
// testbed's Dial, as what a lock in Go sends does.
//
// They belong in a process that goes on when the program is paused: a kernel takes in what servers send to a process that
// stands still, and so do they.
type Doors struct {
	Addrs []string // in the order of the servers

	dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	listeners []net.Listener
	ctx       context.Context
	cancel    context.CancelFunc

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// OpenDoors opens one for each server, given as host:port; dial must be safe for concurrent use.
func OpenDoors(nodes []string, dial func(ctx context.Context, network, addr string) (net.Conn, error)) (*Doors, error) {
	d := &Doors{dial: dial, open: map[net.Conn]bool{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	for _, node := range nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("open a port for the program: %w", err)
		}
		d.listeners = append(d.listeners, l)
		d.Addrs = append(d.Addrs, l.Addr().String())
		go d.serve(l, node)
	}
	return d, nil
}

func (d *Doors) serve(l net.Listener, node string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		if d.keep(conn) {
			go d.carry(conn.(*net.TCPConn), node)
		}
	}
}

// keep takes a connection into those that close ends; it ends it at once if that was called before.
func (d *Doors) keep(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		conn.Close()
		return false
	}
	d.open[conn] = true
	return true
}

func (d *Doors) end(conn net.Conn) {
	d.mu.Lock()
	delete(d.open, conn)
	d.mu.Unlock()
	conn.Close()
}

// carry takes bytes both ways until one side ends. What the program had sent is delivered also if it has given up meanwhile,
// as by a kernel. A server that cannot be reached, or that resets the connection, is seen as a reset.
func (d *Doors) carry(program *net.TCPConn, node string) {
	defer d.end(program)
	server, err := d.dial(d.ctx, "tcp", node)
	if err != nil {
		_ = program.SetLinger(0)
		return
	}
	if !d.keep(server) {
		return
	}
	go func() {
		_, _ = io.Copy(server, program)
		d.end(server)
	}()
	if _, err := io.Copy(program, server); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = program.SetLinger(0)
	}
}

// Close ends what is open, at once.
func (d *Doors) Close() {
	d.cancel()
	for _, l := range d.listeners {
		l.Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for conn := range d.open {
		conn.Close()
	}
}
