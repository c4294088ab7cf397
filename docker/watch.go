package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// watch listens to one Redis server: to each command that it carries out, and to each change of a key. Both come on one
// connection, since Redis 7 in one order: a change stands before the command that made it, or between a script and the
// script's own commands. So it is certain which connection made it; and the connections of clients have names.
//
// What it hears it puts in a queue that never fills, and tells from there: whoever is told may take its time, and may
// crash the server meanwhile.
type watch struct {
	node string
	addr string

	mu    sync.Mutex
	conn  net.Conn
	ended chan struct{} // closed when the present connection has ended and all of it is in the queue
	queue []heard
	wake  chan struct{}
	tell  func(heard) // nil: nobody wants to know

	echoes   map[string]chan struct{} // barriers under way
	echo     atomic.Int64
	shutting chan struct{}
}

// heard is one item of the stream: a command, or a change of a key.
type heard struct {
	at     time.Duration // on the machine's monotonic clock
	from   string        // command: address of the connection, or "lua"
	args   []string      // command
	change string        // change: "set", "expire", "del", "expired", ...
	key    string        // change
}

func openWatch(ctx context.Context, node, addr string) (*watch, error) {
	w := &watch{
		node: node, addr: addr, wake: make(chan struct{}, 1), echoes: map[string]chan struct{}{}, shutting: make(chan struct{}),
	}
	go w.deliver()
	return w, w.connect(ctx)
}

// connect begins to listen, for the first time or after the server came back.
func (w *watch) connect(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.node, err)
	}
	lines := bufio.NewReaderSize(conn, 64<<10)
	_ = conn.SetDeadline(time.Now().Add(consoleLimit))
	request := inline("HELLO", "3", "SETNAME", harnessName) + inline("PSUBSCRIBE", changePattern) + inline("MONITOR")
	if _, err := io.WriteString(conn, request); err != nil {
		return fmt.Errorf("watch %s: %w", w.node, err)
	}
	for _, want := range []string{"%", ">", "+"} { // the greeting, the subscription, the monitor's OK
		if reply, err := readReply(lines); err != nil || reply.kind != want[0] {
			conn.Close()
			return fmt.Errorf("watch %s: unexpected answer %c %v: %w", w.node, reply.kind, reply.text, err)
		}
	}
	_ = conn.SetDeadline(time.Time{})
	w.mu.Lock()
	w.conn, w.ended = conn, make(chan struct{})
	ended := w.ended
	w.mu.Unlock()
	go w.listen(conn, lines, ended)
	return nil
}

const (
	changePattern = "__keyevent@0__:*"
	changePrefix  = "__keyevent@0__:"
)

// inline writes a command as Redis wants it.
func inline(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// listen puts what comes into the queue, until the connection ends.
func (w *watch) listen(conn net.Conn, lines *bufio.Reader, ended chan struct{}) {
	defer close(ended)
	defer conn.Close()
	for {
		reply, err := readReply(lines)
		if err != nil {
			return
		}
		h := heard{at: monotonic()}
		switch {
		case reply.kind == '>' && len(reply.items) == 4 && reply.items[0] == "pmessage":
			h.change, h.key = strings.TrimPrefix(reply.items[2], changePrefix), reply.items[3]
		case reply.kind == '+':
			var ok bool
			if h.from, h.args, ok = parseMonitor(reply.text); !ok {
				return // what cannot be understood must not be left out
			}
		default:
			return
		}
		w.mu.Lock()
		w.queue = append(w.queue, h)
		w.mu.Unlock()
		w.poke()
	}
}

func (w *watch) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// deliver tells what is in the queue, in order.
func (w *watch) deliver() {
	for {
		select {
		case <-w.wake:
		case <-w.shutting:
			return
		}
		for {
			w.mu.Lock()
			if len(w.queue) == 0 {
				w.mu.Unlock()
				break
			}
			h, tell := w.queue[0], w.tell
			w.queue = w.queue[1:]
			w.mu.Unlock()
			if tell != nil {
				tell(h)
			}
			w.passed(h)
		}
	}
}

// passed ends the wait of a barrier.
func (w *watch) passed(h heard) {
	if len(h.args) != 2 || !strings.EqualFold(h.args[0], "echo") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.echoes[h.args[1]]; c != nil {
		close(c)
		delete(w.echoes, h.args[1])
	}
}

// listenTo has tell told of everything from now on; nil for nobody.
func (w *watch) listenTo(tell func(heard)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell = tell
	w.queue = nil
}

var errWatchEnded = errors.New("the server ended the connection")

// barrier returns when all that the server has carried out before the call has been told.
func (w *watch) barrier(ctx context.Context, command func(ctx context.Context, echo string) error) error {
	name := "lockfault-" + strconv.FormatInt(w.echo.Add(1), 10)
	come := make(chan struct{})
	w.mu.Lock()
	w.echoes[name] = come
	ended := w.ended
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.echoes, name)
		w.mu.Unlock()
	}()
	if err := command(ctx, name); err != nil {
		return fmt.Errorf("watch %s: %w", w.node, err)
	}
	select {
	case <-come:
		return nil
	case <-ended:
		return fmt.Errorf("watch %s: %w", w.node, errWatchEnded)
	case <-ctx.Done():
		return fmt.Errorf("watch %s: %w", w.node, ctx.Err())
	}
}

// awaitEnd returns when the present connection has ended.
func (w *watch) awaitEnd(ctx context.Context) error {
	w.mu.Lock()
	ended := w.ended
	w.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *watch) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

func (w *watch) close() {
	close(w.shutting)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		w.conn.Close()
	}
}

// reply is one answer of the server, as far as a watch needs it.
type reply struct {
	kind  byte
	text  string
	items []string // of an array, push or map, flat
}

// readReply reads one answer in RESP3.
func readReply(r *bufio.Reader) (reply, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return reply{}, errors.New("an empty line")
	}
	a := reply{kind: line[0], text: line[1:]}
	switch a.kind {
	case '$', '=':
		n, err := strconv.Atoi(a.text)
		if err != nil || n < 0 {
			return a, err
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return a, err
		}
		a.text = string(b[:n])
	case '*', '>', '~', '%':
		n, err := strconv.Atoi(a.text)
		if err != nil {
			return a, err
		}
		if a.kind == '%' {
			n *= 2
		}
		for range n {
			item, err := readReply(r)
			if err != nil {
				return a, err
			}
			a.items = append(a.items, item.text)
		}
	}
	return a, nil
}

// parseMonitor reads a line such as: 1796065487.234713 [0 127.0.0.1:58122] "SET" "a" "b"
func parseMonitor(line string) (from string, args []string, ok bool) {
	_, rest, found := strings.Cut(line, " [")
	if !found {
		return "", nil, line == "OK"
	}
	head, rest, found := strings.Cut(rest, "] ")
	_, from, named := strings.Cut(head, " ")
	if !found || !named {
		return "", nil, false
	}
	for rest != "" {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", nil, false
		}
		arg, err := strconv.Unquote(quoted)
		if err != nil {
			return "", nil, false
		}
		args = append(args, arg)
		rest = strings.TrimPrefix(rest[len(quoted):], " ")
	}
	return from, args, len(args) > 0
}
