// Package program tests locks in any language: the lock is a program that reads one JSON request per line on standard
// input and writes one JSON answer per line on standard output. PROTOCOL.md beside this file is the whole protocol.
//
// A program may do anything: never answer, answer twice, say what is no answer, fill standard error, die, leave children
// behind that keep its pipes open. All of that ends as an error that says what it did, and nothing here waits without end,
// keeps what it says without bound, or fails with it.
package program

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/mattn/go-shellwords"

	"github.com/lockfault/lockfault/locks"
)

const (
	helloLimit = 10 * time.Second // for an interpreter to start and to say hello
	quitLimit  = time.Second      // to end when told to
	writeLimit = time.Second      // to take in a request
	drainLimit = 200 * time.Millisecond
)

// Program is a lock in another process. Safe for concurrent use, but it is asked one thing at a time.
type Program struct {
	command     string
	cmd         *exec.Cmd
	place       place
	stdin       *os.File
	said        *tail
	description Description

	answers chan answer
	ended   chan struct{} // closed when the process is gone and all that it answered has been heard
	turn    sync.Mutex    // held while it is asked something

	mu      sync.Mutex
	last    int64 // id of the latest request
	waiting bool  // for an answer to it
	broken  error // the first thing that it did and no program may
	told    bool  // somebody was told of it
	closing bool
	onLost  func(lease int64)
}

// ErrCommand is wrapped by errors that say that a command cannot be one.
var ErrCommand = errors.New("not a command")

// Wrapped by errors of Start and the like, and of a lock that is a program, beside locks.ErrBroken.
var (
	ErrEnded    = errors.New("it ended by itself")
	ErrNoAnswer = errors.New("it did not answer")
)

// words splits a command as a shell does, without its other services.
func words(command string) ([]string, error) {
	p := shellwords.NewParser()
	args, err := p.Parse(command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %q: %w", ErrCommand, command, err)
	case p.Position >= 0:
		return nil, fmt.Errorf("%w: %q: there is no shell behind it; put %q in quotes, or call one: sh -c '...'", ErrCommand, command, command[p.Position:])
	case len(args) == 0:
		return nil, fmt.Errorf("%w: it is empty; want one such as \"python3 my_lock.py\"", ErrCommand)
	}
	return args, nil
}

// Start starts a program in this process's group, so that what stops or ends the group stops or ends it too, and asks who it
// is. The command is split into words as by a shell, with quotes and backslashes, but without variables, pipes and the like.
func Start(command string) (*Program, error) { return start(command, place{}) }

// StartAlone is Start in a process group of the program's own, which Close ends as a whole.
func StartAlone(command string) (*Program, error) { return start(command, place{own: true}) }

// place is the process group of a program: without more, that of this process.
type place struct {
	own    bool // one that it is the head of
	within int  // that of another process; 0, none
}

func start(command string, where place) (*Program, error) {
	args, err := words(command)
	if err != nil {
		return nil, err
	}
	p := &Program{
		command: command, cmd: exec.Command(args[0], args[1:]...), place: where, said: &tail{},
		answers: make(chan answer, 1), ended: make(chan struct{}), onLost: func(int64) {},
	}
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("start %q: %w", command, err)
	}
	a, err := p.ask(request{Op: "hello", Protocol: Protocol}, helloLimit)
	if err == nil && a.Outcome != okOutcome {
		err = fmt.Errorf("hello: %s: %s", a.Outcome, a.Error)
	}
	if err == nil {
		p.description = a.Description
		err = a.Description.check()
	}
	if err != nil {
		_ = p.Close()
		return nil, fmt.Errorf("%q: %w", command, err)
	}
	return p, nil
}

// Description is what the program has said of itself.
func (p *Program) Description() Description { return p.description }

// run starts the process. Its pipes are files, so that nobody has to wait for their end.
func (p *Program) run() error {
	var files []*os.File
	pipe := func() (*os.File, *os.File) {
		r, w, err := os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w
	}
	theirStdin, stdin := pipe()
	stdout, theirStdout := pipe()
	stderr, theirStderr := pipe()
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			_ = f.Close()
		}
	}
	if len(files) < 6 {
		closeAll(files...)
		return errors.New("no pipe can be had: too many open files")
	}
	p.stdin = stdin
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirStdin, theirStdout, theirStderr
	p.cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1")
	prepare(p.cmd, p.place)
	started := make(chan error)
	go func() {
		// The kernel takes the end of the thread that started a child for the end of its parent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		closeAll(theirStdin, theirStdout, theirStderr)
		started <- err
		if err == nil {
			p.attend(stdout, stderr)
		}
	}()
	if err := <-started; err != nil {
		closeAll(stdin, stdout, stderr)
		return err
	}
	return nil
}

// attend hears the program until it ends. Children that it leaves may keep the pipes open: what they say is not awaited.
func (p *Program) attend(stdout, stderr *os.File) {
	var hearing sync.WaitGroup
	hearing.Go(func() { p.listen(stdout) })
	hearing.Go(func() { p.said.listen(stderr) })
	err := p.cmd.Wait()
	for _, f := range []*os.File{stdout, stderr} {
		_ = f.SetReadDeadline(time.Now().Add(drainLimit))
	}
	hearing.Wait()
	p.mu.Lock()
	if p.broken == nil && !p.closing {
		if err == nil {
			err = errors.New("exit status 0")
		}
		p.broken = fmt.Errorf("%w (%w)", ErrEnded, err)
	}
	p.mu.Unlock()
	for _, f := range []*os.File{stdout, stderr, p.stdin} {
		_ = f.Close()
	}
	close(p.ended)
}

// listen hears the program's lines until they end. One that no program may write ends the program.
func (p *Program) listen(stdout *os.File) {
	lines := bufio.NewReaderSize(stdout, lineLimit)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("it wrote a line of more than %d KiB, which begins %s", lineLimit>>10, excerpt(string(line)))
		case err != nil && len(line) > 0:
			err = fmt.Errorf("its last line has no end: %s", excerpt(string(line)))
		case err != nil:
			return
		default:
			err = p.hear(line)
		}
		if err != nil {
			p.breakOff(err)
			return
		}
	}
}

func (p *Program) hear(line []byte) error {
	a, err := parse(line)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case a.Lost > p.last:
		return fmt.Errorf("it wrote %s, but no acquire had that id", excerpt(string(line)))
	case a.Lost != 0:
		go p.onLost(a.Lost)
		return nil
	case p.waiting && a.ID == p.last:
		p.waiting = false
		select {
		case p.answers <- a:
		default: // nobody waits any more
		}
		return nil
	case p.waiting:
		return fmt.Errorf("it answered request %d, but was asked %d: %s", a.ID, p.last, excerpt(string(line)))
	case a.ID == p.last:
		return fmt.Errorf("it answered request %d a second time: %s", a.ID, excerpt(string(line)))
	default:
		return fmt.Errorf("it answered request %d, but was not asked anything (the latest was %d): %s", a.ID, p.last, excerpt(string(line)))
	}
}

// breakOff ends a program that did what no program may.
func (p *Program) breakOff(why error) {
	p.mu.Lock()
	if p.broken == nil && !p.closing {
		p.broken = why
	}
	p.mu.Unlock()
	end(p.cmd, p.place)
}

// Fault is what the program has done that no program may; nil if nothing.
func (p *Program) Fault() error {
	if err := p.fault(); !errors.Is(err, errClosed) {
		return err
	}
	return nil
}

var errClosed = errors.New("the program was ended")

// fault is why the program can be asked nothing more. It wraps locks.ErrBroken unless the program was only closed.
func (p *Program) fault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		return errClosed
	}
	p.told = true
	return fmt.Errorf("%w: %s: %w; %s", locks.ErrBroken, p.command, p.broken, p.said)
}

// ask makes a request and waits for its answer, at most for as long as limit in which this process ran: while both stand
// still, no time passes. An error means that there will be none.
func (p *Program) ask(r request, limit time.Duration) (answer, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.mu.Lock()
	p.last++
	p.waiting = true
	r.ID = p.last
	p.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	select {
	case <-p.ended:
		return answer{}, p.fault()
	default:
	}
	_ = p.stdin.SetWriteDeadline(time.Now().Add(writeLimit))
	_, _ = p.stdin.Write(append(line, '\n')) // if it is not taken in, it is not answered either
	const beat = 20 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for passed := time.Duration(0); passed < limit; {
		select {
		case a := <-p.answers:
			return a, nil
		case <-p.ended:
			select { // what it answered before it ended counts
			case a := <-p.answers:
				return a, nil
			default:
			}
			return answer{}, p.fault()
		case <-tick.C:
			passed += beat
		}
	}
	p.breakOff(fmt.Errorf("%w %s within %v", ErrNoAnswer, r.Op, limit))
	<-p.ended
	return answer{}, p.fault()
}

// latest is the id of the latest request.
func (p *Program) latest() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Close tells the program to quit and, if it does not do so at once, ends it. An error says what it has done that no program
// may, unless an earlier one has, and wraps locks.ErrBroken.
func (p *Program) Close() error {
	p.mu.Lock()
	asked := p.waiting
	p.mu.Unlock()
	if !asked { // one that is asked something does not listen
		p.Quit()
	}
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	end(p.cmd, p.place)
	<-p.ended
	p.mu.Lock()
	silent := p.broken == nil || p.told
	p.mu.Unlock()
	if silent {
		return nil
	}
	return p.fault()
}

// Kill ends the program at once, as a crash does. The lock or its Close must be called all the same.
func (p *Program) Kill() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	end(p.cmd, p.place)
	<-p.ended
}

// HangUp closes the program's standard input, and tells whether it ends within a second.
func (p *Program) HangUp() bool {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	_ = p.stdin.Close()
	return p.awaitEnd()
}

// Quit tells the program to quit, and whether it does within a second.
func (p *Program) Quit() bool {
	p.mu.Lock()
	p.closing, p.waiting = p.broken == nil, true // whether it answers does not matter
	p.last++
	line, _ := json.Marshal(request{ID: p.last, Op: "quit"})
	p.mu.Unlock()
	_ = p.stdin.SetWriteDeadline(time.Now().Add(quitLimit))
	_, _ = p.stdin.Write(append(line, '\n'))
	_ = p.stdin.Close()
	return p.awaitEnd()
}

func (p *Program) awaitEnd() bool {
	guard := time.NewTimer(quitLimit)
	defer guard.Stop()
	select {
	case <-p.ended:
		return true
	case <-guard.C:
		return false
	}
}
