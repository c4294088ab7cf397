package program

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// patienceTTLs is how long, in TTLs, an answer is awaited beyond the time that an operation was given: as long as a
// scenario lasts. A lock that hangs is for the run to judge; this only makes sure that nobody waits for ever.
const patienceTTLs = 12

// lock is a program as a locks.Lock.
type lock struct {
	program *Program
	env     locks.Env
	doors   *Doors

	mu     sync.Mutex
	leases map[*locks.Lease]int64  // by the id of their acquire
	losses map[int64]chan struct{} // the same, of those that may still be lost
	early  map[int64]bool          // lost before the answer to their acquire
}

// Lock tells the program where it stands, and returns it as a lock. A program becomes one lock only; closing the lock closes
// the program. With env.Dial the program is given addresses in this process, from where what it sends goes on through
// env.Dial.
func (p *Program) Lock(env locks.Env) (locks.Lock, error) {
	env.TTL = env.TTL.Truncate(time.Millisecond)
	l := &lock{
		program: p, env: env, leases: map[*locks.Lease]int64{}, losses: map[int64]chan struct{}{}, early: map[int64]bool{},
	}
	nodes := env.Nodes
	if env.Dial != nil {
		var err error
		if l.doors, err = OpenDoors(env.Nodes, env.Dial); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		nodes = l.doors.Addrs
	}
	p.mu.Lock()
	p.onLost = l.lost
	p.mu.Unlock()
	a, err := p.ask(request{
		Op: "hello", Protocol: Protocol, Client: env.Client, Nodes: nodes, TTL: env.TTL.Milliseconds(), Fencing: &env.Fencing,
	}, helloLimit)
	if err == nil && a.Outcome != okOutcome {
		err = fmt.Errorf("%s: hello: %s: %s", p.command, a.Outcome, a.Error)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// outcome makes an error of an answer, as the rule of locks.Lock says; not is what wraps a certain no. Of an unknown outcome
// it has the reason only: who passes it on says what it is a reason for, as locks.Env.Poll does.
func (a answer) outcome(not error) error {
	text := a.Error
	if text == "" {
		text = "the program gives no reason"
	}
	switch a.Outcome {
	case okOutcome:
		return nil
	case failOutcome:
		return fmt.Errorf("%w: %s", not, text)
	}
	return errors.New(text)
}

// said is outcome, in full.
func (a answer) said(not error) error {
	err := a.outcome(not)
	if a.Outcome == unknownOutcome {
		return fmt.Errorf("outcome unknown: %w", err)
	}
	return err
}

// Acquire asks the program again and again, unless it waits by itself.
func (l *lock) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	if l.program.description.Waits {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("acquire %q: %w: %w", resource, locks.ErrNotAcquired, context.Cause(ctx))
		}
		return l.acquire(ctx, resource, answer.said)
	}
	return l.env.Poll(ctx, resource, func(ctx context.Context) (*locks.Lease, error) {
		return l.acquire(ctx, resource, answer.outcome)
	})
}

// acquire asks the program once; outcome makes an error of the answer.
func (l *lock) acquire(ctx context.Context, resource string, outcome func(answer, error) error) (*locks.Lease, error) {
	asked := time.Now() // the lease is counted from the request, not from the answer
	var wait time.Duration
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(0, time.Until(deadline))
	}
	ms := wait.Milliseconds()
	a, err := l.program.ask(request{Op: "acquire", Resource: resource, Wait: &ms}, wait+l.patience())
	if err == nil {
		err = outcome(a, locks.ErrNotAcquired)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case l.env.Fencing && a.Fence <= 0:
		return nil, l.misbehaved("it granted the lock without a fence, though its hello said that it mints them and fencing was asked for")
	case !l.env.Fencing:
		a.Fence = 0
	}
	lease := locks.NewLease(resource, a.Token, a.Fence, a.until(asked))
	lost := make(chan struct{})
	lease.Lost = lost
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases[lease] = a.ID
	if l.early[a.ID] {
		close(lost)
	} else {
		l.losses[a.ID] = lost
	}
	return lease, nil
}

// until is the end of a lease that was asked for at a time; zero if the program knows of none.
func (a answer) until(asked time.Time) time.Time {
	if a.Validity == nil {
		return time.Time{}
	}
	return asked.Add(milliseconds(a.Waited) + milliseconds(*a.Validity))
}

func (l *lock) patience() time.Duration { return patienceTTLs * l.env.TTL }

// misbehaved ends the program.
func (l *lock) misbehaved(why string) error {
	l.program.breakOff(errors.New(why))
	<-l.program.ended
	return l.program.fault()
}

// about asks the program something about a lease.
func (l *lock) about(ctx context.Context, op string, lease *locks.Lease) (answer, error) {
	l.mu.Lock()
	id, known := l.leases[lease]
	l.mu.Unlock()
	if !known {
		return answer{}, fmt.Errorf("%s %q: %w: not a lease of this client", op, lease.Resource, locks.ErrNotHeld)
	}
	limit := l.patience()
	if deadline, ok := ctx.Deadline(); ok {
		limit += max(0, time.Until(deadline))
	}
	a, err := l.program.ask(request{Op: op, Resource: lease.Resource, Lease: id, Token: lease.Token}, limit)
	if err == nil {
		err = a.said(locks.ErrNotHeld)
	}
	if err != nil {
		return a, fmt.Errorf("%s %q: %w", op, lease.Resource, err)
	}
	return a, nil
}

// Extend asks the program to, unless it has said that it cannot.
func (l *lock) Extend(ctx context.Context, lease *locks.Lease) error {
	if extends := l.program.description.Extends; extends != nil && !*extends {
		return fmt.Errorf("extend %q: %w: the program says so", lease.Resource, locks.ErrUnsupported)
	}
	asked := time.Now()
	a, err := l.about(ctx, "extend", lease)
	if err == nil {
		lease.SetUntil(a.until(asked))
	}
	return err
}

// Release asks the program to.
func (l *lock) Release(ctx context.Context, lease *locks.Lease) error {
	_, err := l.about(ctx, "release", lease)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.losses, l.leases[lease])
	return err
}

// Valid asks the program whether it still takes the lease for its own: nil, it does; locks.ErrNotHeld, it does not.
func (l *lock) Valid(ctx context.Context, lease *locks.Lease) error {
	_, err := l.about(ctx, "valid", lease)
	return err
}

// lost hears that the lease of an acquire is over.
func (l *lock) lost(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lost, ok := l.losses[id]; ok {
		close(lost)
		delete(l.losses, id)
	} else if id == l.program.latest() {
		l.early[id] = true
	}
}

// Close ends the program.
func (l *lock) Close() error {
	err := l.program.Close()
	if l.doors != nil {
		l.doors.Close()
	}
	return err
}
