package conformance

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
)

// notOk is an error if an acquire was granted, or not answered.
func notOk(what string, err error) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s: it was granted", what)
	case errors.Is(err, errLate), errors.Is(err, locks.ErrBroken):
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func unreachable(b *bench) error {
	a, err := b.join("A")
	if err != nil {
		return err
	}
	a.net.refuses.Store(true)
	for _, m := range b.nodes {
		m.Close() // which ends the connections
	}
	_, err = a.try(patience)
	return notOk("acquire, with no server reachable", err)
}

func silence(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	lease, err := all[0].get("A's acquire")
	if err != nil {
		return err
	}
	all[0].net.silence()
	all[1].net.silence()
	_, err = all[1].try(patience)
	if err := notOk("B's acquire, with no server answering", err); err != nil {
		return err
	}
	err = all[0].release(lease, patience)
	switch {
	case errors.Is(err, errLate), errors.Is(err, locks.ErrBroken):
		return fmt.Errorf("%s's release, with no server answering: %w", all[0].name, err)
	case err == nil, errors.Is(err, locks.ErrNotHeld):
		return fmt.Errorf("%s's release, with no server answering: want unknown, got %s", all[0].name, outcomeOf(err))
	}
	return unheard(b)
}

// unheard has the servers carry out an acquire and say nothing. A program that says fail all the same has either undone its
// attempt, or says of a key that was set that it was not. Nobody looks for the key itself: how it is called and what else a
// lock keeps is the program's. Another client, which hears the servers, does not get the lock if it is there.
func unheard(b *bench) error {
	b.flush()
	all, err := b.joinAll("C", "D")
	if err != nil {
		return err
	}
	lease, err := all[0].get("C's acquire") // so that it is connected, and the lock is one that can be had
	if err != nil {
		return err
	}
	if err := want("C's release", all[0].release(lease, promptly), nil); err != nil {
		return err
	}
	b.keepAll() // else the key of a program with a long time-out is gone when it answers
	all[0].net.muteServers()
	_, err = all[0].try(patience)
	const what = "C's acquire, whose answer from the servers was held back"
	if err := notOk(what, err); err != nil {
		return err
	}
	if !errors.Is(err, locks.ErrNotAcquired) {
		return nil
	}
	// What undoes the attempt may still be on its way.
	if _, other := all[1].tryOn(resource, allowance, promptly); errors.Is(other, locks.ErrNotAcquired) {
		return fmt.Errorf("%s: want unknown, got %s; the key was set: say unknown", what, outcomeOf(err))
	}
	return nil
}

func waits(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	lease, err := all[0].get("A's acquire")
	if err != nil {
		return err
	}
	granted := time.Now()
	_, err = all[1].tryOn(resource, TTL/5, promptly)
	if err := want("B's acquire with wait_ms 200, while A held the lock", err, locks.ErrNotAcquired); err != nil {
		return err
	}
	released := make(chan error, 1)
	go func() {
		time.Sleep(time.Until(granted.Add(TTL * 8 / 10)))
		released <- all[0].release(lease, promptly)
	}()
	next, err := all[1].tryOn(resource, 3*TTL, promptly)
	if err := errors.Join(want("A's release", <-released, nil), want("B's acquire, which waited for A's release", err, nil)); err != nil {
		return err
	}
	if left := time.Until(next.Until()); !next.Until().IsZero() && left < TTL*6/10 {
		return fmt.Errorf("%s's acquire, which waited: its lease ends %v after the answer; validity_ms and waited_ms do not say when",
			all[1].name, left)
	}
	return nil
}

// group has a program's process group stand still, as a pause of its client does. The program is not the head of the group:
// what leaves a group, such as timeout, does not leave one that it is the head of.
func group(b *bench) error {
	g, err := program.NewGroup()
	if err != nil {
		return err
	}
	b.groups = append(b.groups, g)
	p, err := program.StartIn(g, b.command)
	if err != nil {
		return err
	}
	a, err := b.joinAs("A", p, false)
	if err != nil {
		return err
	}
	if err := g.Stop(); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		_, err := a.try(allowance + promptly)
		answered <- err
	}()
	select {
	case err := <-answered:
		_ = g.Continue() // what was in it can be told to quit
		return fmt.Errorf("acquire, while the program's process group stood still: it was answered, with %s", outcomeOf(err))
	case <-time.After(allowance):
	}
	if err := g.Continue(); err != nil {
		return err
	}
	if err := <-answered; errors.Is(err, errLate) || errors.Is(err, locks.ErrBroken) {
		return fmt.Errorf("acquire, while the program's process group stood still for %v: %w", allowance, err)
	}
	return nil
}

func ends(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	if !all[0].program.Quit() {
		return errors.New("it did not end within a second of quit")
	}
	if !all[1].program.HangUp() {
		return errors.New("it did not end within a second of the end of its standard input")
	}
	return nil
}
