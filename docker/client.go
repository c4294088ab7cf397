package docker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// client is one client's process, seen from the harness. It implements runner.Hands.
type client struct {
	name   string
	index  int // of its proxies
	board  *board
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	said   *tail         // on standard error
	ended  chan struct{} // closed when the process is gone and all that it reported has been heard
	why    error         // how it ended; set before ended is closed
	onHeld func(held)
	onLost func(lost)

	gateway *gateway // of a lock that is a program; else nil

	writing sync.Mutex
	ready   chan *problem
	done    chan *runner.Completion
	closed  chan *problem

	mu      sync.Mutex
	shuts   int           // pauses in force
	open    chan struct{} // closed on resuming; nil while the client runs
	resumed time.Duration // since when it has been running, on the monotonic clock
	dead    bool          // killed by the nemesis
	waits   int           // steps that found the client standing still, ever
	told    int64         // number of the latest operation
	asked   atomic.Int64  // number of the one that is to be answered, 0 if none is
	closes  atomic.Bool   // it was told to close
}

// startClient starts the process.
func startClient(name string, index int, command []string, onHeld func(*client, held)) (*client, error) {
	b, file, err := newBoard()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	c := &client{
		name: name, index: index, board: b, cmd: exec.Command(command[0], command[1:]...), said: &tail{},
		ended: make(chan struct{}), ready: make(chan *problem, 1), done: make(chan *runner.Completion, 1),
		closed: make(chan *problem, 1),
	}
	c.onHeld = func(h held) { onHeld(c, h) }
	c.cmd.Env = append(os.Environ(), "GOTRACEBACK=single", insideWorker+"=1")
	c.cmd.Stderr = c.said
	c.cmd.ExtraFiles = []*os.File{file} // file descriptor 3, see boardFile
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := spawn(c.cmd); err != nil {
		return nil, fmt.Errorf("start the process of client %s: %w", name, err)
	}
	go c.listen(stdout)
	return c, nil
}

func (c *client) order(o order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.stdin.Write(append(line, '\n'))
	return err
}

// listen hears what the process reports, a line each, until it ends. A process that reports rubbish is ended.
func (c *client) listen(stdout io.Reader) {
	reports := bufio.NewReaderSize(stdout, history.MaxLine)
	var rubbish error
	for rubbish == nil {
		line, err := reports.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			rubbish = fmt.Errorf("a line of more than %d bytes", history.MaxLine)
		} else if err != nil {
			break // with it goes what it has half said
		} else {
			rubbish = c.hear(line)
		}
	}
	if rubbish != nil {
		_ = kill(c.cmd.Process.Pid)
	}
	err := c.cmd.Wait()
	switch {
	case rubbish != nil:
		c.why = fmt.Errorf("its process answered what cannot be understood: %w", rubbish)
	case err == nil:
		c.why = fmt.Errorf("its process ended by itself: %s", c.said)
	default:
		c.why = fmt.Errorf("its process ended (%v): %s", err, c.said)
	}
	close(c.ended)
}

func (c *client) hear(line []byte) error {
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	switch {
	case r.Ready != nil:
		return give(c.ready, r.Ready)
	case r.Done != nil:
		switch d := r.Done; {
		case r.Number == 0 || !c.asked.CompareAndSwap(r.Number, 0):
			return fmt.Errorf("the end of operation %d, which is not the one that it is to do", r.Number)
		case d.Type != history.Ok && d.Type != history.Fail && d.Type != history.Info:
			return fmt.Errorf("the end of an operation as %v", d.Type)
		case d.At < d.Began:
			return fmt.Errorf("an operation that began at %v and ended at %v", d.Began, d.At)
		}
		return give(c.done, r.Done)
	case r.Lost != nil:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.onLost == nil {
			return errors.New("a lost lease before there was a lock")
		}
		go c.onLost(*r.Lost)
	case r.Held != nil:
		go c.onHeld(*r.Held)
	case r.Closed != nil:
		return give(c.closed, r.Closed)
	default:
		return errors.New("an empty report")
	}
	return nil
}

// give passes an answer on; there is room for one.
func give[T any](to chan *T, answer *T) error {
	select {
	case to <- answer:
		return nil
	default:
		return errors.New("a second answer to one order")
	}
}

// answerLimit is how long a process may take until it is ready. Only tests change it.
var answerLimit = consoleLimit * 3 / 2 // it gives up by itself before

// prepare gives the process an order and waits until it is ready.
func (c *client) prepare(o order) error {
	if err := c.order(o); err != nil {
		return fmt.Errorf("client %s: %w", c.name, err)
	}
	guard := time.NewTimer(answerLimit)
	defer guard.Stop()
	select {
	case p := <-c.ready:
		return p.err()
	case <-c.ended:
		return fmt.Errorf("client %s: %w", c.name, c.why)
	case <-guard.C:
		return fmt.Errorf("client %s: its process did not answer within %v", c.name, answerLimit)
	}
}

// Do implements runner.Hands.
func (c *client) Do(command runner.Command) runner.Completion {
	c.told++
	c.asked.Store(c.told)
	defer c.asked.Store(0)
	err := c.order(order{Do: &command, Number: c.told})
	if err == nil {
		select {
		case done := <-c.done:
			return *done
		case <-c.ended:
		}
		select { // what it reported before it ended counts
		case done := <-c.done:
			return *done
		default:
		}
	} else {
		<-c.ended
	}
	gone := runner.Completion{Type: history.Info, Error: "the client's process is gone"}
	if !c.isDead() {
		gone.Broken = "client " + c.name + ": " + c.why.Error()
	}
	return gone
}

// closeLimit is how long a lock's Close may take.
const closeLimit = 5 * time.Second

// Close implements runner.Hands.
func (c *client) Close() error {
	if c.isDead() || c.closes.Swap(true) {
		return nil
	}
	defer c.end()
	select {
	case <-c.ended: // Do has told
		return nil
	default:
	}
	if err := c.order(order{Close: true}); err != nil {
		return nil // it has just ended; Do tells
	}
	guard := time.NewTimer(closeLimit)
	defer guard.Stop()
	select {
	case p := <-c.closed:
		return p.err()
	case <-c.ended:
		return fmt.Errorf("client %s, while it closed its lock: %w", c.name, c.why)
	case <-guard.C:
		return fmt.Errorf("client %s: Close did not return within %v", c.name, closeLimit)
	}
}

// end ends the process for good.
func (c *client) end() {
	_ = kill(c.cmd.Process.Pid)
	<-c.ended
	_ = c.stdin.Close()
	if c.gateway != nil {
		c.gateway.close(c.board)
	}
}

// lift gives on a reply that is held.
func (c *client) lift(id uint64) {
	if c.gateway != nil {
		c.gateway.traffic.lift(id)
		return
	}
	_ = c.order(order{Lift: id}) // a client that is dead needs none
}

// lookUp has those look again who wait for the end of a stall.
func (c *client) lookUp() {
	if c.gateway != nil {
		c.gateway.traffic.reopen()
	}
	_ = c.order(order{Look: true}) // a client that is dead need not
}

// busy tells whether an operation is under way.
func (c *client) busy() bool { return c.asked.Load() != 0 }

// step waits until the client runs.
func (c *client) step() error {
	for {
		c.mu.Lock()
		wait, dead := c.open, c.dead
		if wait != nil && !dead {
			c.waits++
		}
		c.mu.Unlock()
		switch {
		case dead:
			return errKilled
		case wait == nil:
			return nil
		}
		<-wait
	}
}

var errKilled = errors.New("the client was killed")

func (c *client) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// tail keeps the beginning of what a dying process says, which names the reason, and drops the rest.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - t.text.Len(); room > 0 {
		t.text.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// String is the first line that tells something.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(t.text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "it said nothing"
}
