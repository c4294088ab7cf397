package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
)

// Hands carry out one client's operations: they hold its lock and its connection to the protected resource. On the sim
// testbed they are in this process, see NewHands; elsewhere they may be a process of their own. One goroutine calls Do at
// a time.
type Hands interface {
	// Do carries out an operation and tells what came of it. It may return late or never, as the lock does.
	Do(Command) Completion
	// Close ends the client: its lock is closed and its connections too. An error says what the lock did wrong in it.
	Close() error
}

// Command is one operation that a client is told to do.
type Command struct {
	Op    history.Op
	Lease string        // names one acquire and all that follows from it
	For   time.Duration // Acquire: how long to wait; else: time-out
	Value int64         // Write: what to store or take; 0 stands for the value last read plus one, or for one piece
}

// Completion is what came of a command.
type Completion struct {
	Type           history.Type  // Ok, Fail or Info
	Error          string        // unless Ok
	Fence          int64         // Acquire
	Until          time.Duration // Acquire, Extend: when the lease ends, on the clock of the run; 0: never
	Value, Version int64         // Read, Write: as the resource answered
	Broken         string        // what no lock may do, such as a panic
	// When the client began the command and when it was done, on the clock of the run; 0 if whoever asks is to say.
	Began, At time.Duration
}

// HandsConfig is what hands work with.
type HandsConfig struct {
	Client   string
	Resource string // name of what is locked and protected
	Lock     locks.Entry
	Env      locks.Env // without Nodes and Dial, which the testbed adds
	Kind     scenarios.DataKind
	Data     DataClient           // the testbed adds it
	Now      func() time.Duration // the clock of the run
	Seed     uint64               // of the plan; Random makes Env.Rand from it
	// Lost is called when the lock says that a lease is over which the client has not released; at is when it did, 0 for
	// now.
	Lost func(lease string, at time.Duration)
}

// hands are Hands in this process.
type hands struct {
	HandsConfig
	lock     locks.Lock
	hold     *hold // nil between sections
	lastRead int64
}

// hold is a lease with what the client knows of it.
type hold struct {
	lease *locks.Lease
	id    string
	over  chan struct{} // closed when the client lets go

	mu   sync.Mutex
	lost bool
}

// NewHands makes the lock and returns hands that use it, in this process.
func NewHands(cfg HandsConfig) (Hands, error) {
	lock, err := newLock(cfg)
	if err != nil {
		return nil, fmt.Errorf("lock %s for client %s: %w", cfg.Lock.Name, cfg.Client, err)
	}
	return &hands{HandsConfig: cfg, lock: lock}, nil
}

func newLock(cfg HandsConfig) (lock locks.Lock, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the lock panicked in New: %v (%s)", p, panicSite())
		}
	}()
	lock, err = cfg.Lock.New(cfg.Env)
	if err == nil && lock == nil {
		err = errors.New("the lock's New returned neither a lock nor an error")
	}
	return lock, err
}

// Do implements Hands. What the lock under test gets wrong is told, never passed on as a panic.
func (h *hands) Do(c Command) (done Completion) {
	defer func() {
		if p := recover(); p != nil {
			done = Completion{
				Type: history.Info, Error: fmt.Sprintf("panic: %v", p),
				Broken: fmt.Sprintf("the lock panicked in %s: %v (%s)", c.Op, p, panicSite()),
			}
		}
	}()
	var err error
	switch c.Op {
	case history.Acquire:
		err = h.acquire(c, &done)
	case history.Extend:
		err = h.withLease(c, &done, h.lock.Extend)
	case history.Release:
		h.letGo()
		err = h.withLease(c, &done, h.lock.Release)
		h.hold = nil
	case history.Check:
		err = h.check(c)
	case history.Read, history.Write:
		err = h.access(c, &done)
	}
	done.Type, done.Error = outcome(err)
	if errors.Is(err, locks.ErrBroken) {
		done.Broken = err.Error()
	}
	return done
}

// outcome says of an error whether the operation happened.
func outcome(err error) (history.Type, string) {
	switch {
	case err == nil:
		return history.Ok, ""
	case errors.Is(err, locks.ErrNotAcquired), errors.Is(err, locks.ErrNotHeld), errors.Is(err, locks.ErrUnsupported),
		errors.Is(err, errRefused), errors.Is(err, ErrNotSent), errors.Is(err, errExpired):
		return history.Fail, err.Error()
	default:
		return history.Info, err.Error()
	}
}

func (h *hands) acquire(c Command, done *Completion) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.For)
	defer cancel()
	lease, err := h.lock.Acquire(ctx, h.Resource)
	if err == nil && lease == nil {
		err = errors.New("the lock's Acquire returned neither a lease nor an error")
		done.Broken = err.Error()
	}
	if err != nil {
		return err
	}
	h.letGo() // of a lease that was never released
	h.hold = &hold{lease: lease, id: c.Lease, over: make(chan struct{})}
	done.Fence, done.Until = lease.Fence, h.until(lease)
	h.watchLost(h.hold)
	return nil
}

// until is the end of a lease on the clock of the history; 0 if it has none.
func (h *hands) until(l *locks.Lease) time.Duration {
	if l.Until().IsZero() {
		return 0
	}
	return h.Now() + time.Until(l.Until())
}

func (h *hands) withLease(c Command, done *Completion, f func(context.Context, *locks.Lease) error) error {
	if h.hold == nil {
		return fmt.Errorf("%w: nothing was acquired", locks.ErrNotHeld)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.For)
	defer cancel()
	err := f(ctx, h.hold.lease)
	if c.Op == history.Extend && err == nil {
		done.Until = h.until(h.hold.lease)
	}
	return err
}

var errExpired = errors.New("the lease is over")

// validator is a lock that has an opinion of its own on whether it still holds a lease.
type validator interface {
	Valid(ctx context.Context, lease *locks.Lease) error
}

// check is what a careful client does before it writes.
func (h *hands) check(c Command) error {
	if h.hold == nil || h.hold.expired() {
		return errExpired
	}
	lock, asks := h.lock.(validator)
	if !asks {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.For)
	defer cancel()
	if err := lock.Valid(ctx, h.hold.lease); err != nil {
		return err
	}
	if h.hold.expired() { // meanwhile
		return errExpired
	}
	return nil
}

// expired tells whether the lease is over, as far as its holder knows.
func (h *hold) expired() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := h.lease.Until()
	return h.lost || (!until.IsZero() && !time.Now().Before(until))
}

// access reads or writes the protected resource.
func (h *hands) access(c Command, done *Completion) error {
	r := scenarios.Request{Op: c.Op, Client: h.Client, Lease: c.Lease, Value: c.Value}
	if h.hold != nil {
		r.Fence = h.hold.lease.Fence
	}
	if c.Op == history.Write && r.Value == 0 {
		r.Value = h.nextValue()
	}
	done.Value = r.Value
	answer, err := h.Data.Do(r, c.For)
	if err != nil {
		return err
	}
	if answer.Refused != "" {
		return fmt.Errorf("%w: %s", errRefused, answer.Refused)
	}
	done.Version = answer.Version
	if c.Op == history.Read {
		done.Value, h.lastRead = answer.Value, answer.Value
	}
	return nil
}

func (h *hands) nextValue() int64 {
	if h.Kind == scenarios.InventoryData {
		return 1
	}
	return h.lastRead + 1
}

// watchLost tells when the lock says that the lease is over.
func (h *hands) watchLost(held *hold) {
	if held.lease.Lost == nil {
		return
	}
	go func() {
		select {
		case <-held.over:
		case <-held.lease.Lost:
			held.mu.Lock()
			held.lost = true
			held.mu.Unlock()
			h.Lost(held.id, 0)
		}
	}()
}

// letGo ends what watches the client's lease.
func (h *hands) letGo() {
	if h.hold == nil {
		return
	}
	select {
	case <-h.hold.over:
	default:
		close(h.hold.over)
	}
}

// Close implements Hands.
func (h *hands) Close() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the lock panicked in Close: %v (%s)", p, panicSite())
		}
	}()
	h.letGo()
	h.Data.Close()
	if err := h.lock.Close(); errors.Is(err, locks.ErrBroken) { // other errors: connections that a fault has broken may say so
		return err
	}
	return nil
}

// panicSite is the innermost line that is not the runtime's.
func panicSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, line %d", f.Function, f.Line)
		}
		if !more {
			return "unknown place"
		}
	}
}
