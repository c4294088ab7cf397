package docker

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// board is memory that a worker shares with the harness, so that the harness can see what a client does also while the
// client stands still or when it is dead. Every field is read and written atomically.
type board struct {
	beat    atomic.Int64 // monotonic clock at the worker's last heartbeat, in ns
	stalled atomic.Int64 // set by the harness: traffic with lock servers is to wait
	held    atomic.Int64 // calls that a stall has made wait
	links   [boardLinks]linkBoard
}

// linkBoard counts what a client did on one link.
type linkBoard struct {
	written, read atomic.Int64 // bytes
	messages      atomic.Int64 // writes
	dials         atomic.Int64 // connections asked for
	dialled       atomic.Int64 // and had
	closed        atomic.Int64 // connections closed by the client
	resets        atomic.Int64 // connections that the other side ended by a TCP RST
	ends          atomic.Int64 // and those by a farewell
	slowest       atomic.Int64 // longest time from a write to the next read, in ns
	lastWrite     atomic.Int64 // monotonic clock, in ns
}

// boardLinks is how many links a client can have: to the lock servers in order, and to the resource in the last place.
const (
	boardLinks   = 8
	resourceLink = boardLinks - 1
)

const boardSize = int(unsafe.Sizeof(board{}))

// beatEvery is the period of a worker's heartbeat.
const beatEvery = 2 * time.Millisecond

// linkCount is what a link's counters show at one moment.
type linkCount struct{ written, read, messages, dials, dialled, closed, resets, ends int64 }

func (l *linkBoard) count() linkCount {
	return linkCount{l.written.Load(), l.read.Load(), l.messages.Load(), l.dials.Load(), l.dialled.Load(), l.closed.Load(), l.resets.Load(), l.ends.Load()}
}

// minus is what has come about since an earlier count.
func (c linkCount) minus(o linkCount) linkCount {
	return linkCount{
		c.written - o.written, c.read - o.read, c.messages - o.messages, c.dials - o.dials, c.dialled - o.dialled,
		c.closed - o.closed, c.resets - o.resets, c.ends - o.ends,
	}
}

// open is how many connections there are.
func (c linkCount) open() int64 { return c.dialled - c.closed }
