package conformance

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// still is an error if the program writes anything in a time in which it was asked nothing.
func (b *bench) still(c *client, what string) error {
	if err := b.rest(quiet); err != nil {
		return err
	}
	if err := c.program.Fault(); err != nil {
		return fmt.Errorf("after %s: %w", what, err)
	}
	return nil
}

func answers(b *bench) error {
	a, err := b.join("A")
	if err != nil {
		return err
	}
	if err := b.still(a, "hello"); err != nil {
		return err
	}
	lease, err := a.get("acquire")
	if err != nil {
		return err
	}
	if err := b.still(a, "acquire"); err != nil {
		return err
	}
	type step struct {
		what string
		do   func() error
	}
	steps := []step{
		{"valid", func() error { return a.valid(lease) }},
		{"extend", func() error { return a.extend(lease) }},
		{"release", func() error { return a.release(lease, promptly) }},
	}
	for _, s := range steps {
		if s.what == "extend" && noExtend(b.description) != "" {
			continue
		}
		if err := want(s.what, s.do(), nil); err != nil {
			return err
		}
		if err := b.still(a, s.what); err != nil {
			return err
		}
	}
	return nil
}

func proxies(b *bench) error {
	a, err := b.join("A")
	if err != nil {
		return err
	}
	if _, err := a.get("acquire"); err != nil {
		return err
	}
	if a.net.sent.Load() == 0 {
		return errors.New("acquire was answered ok, but nothing was sent to the addresses in hello")
	}
	if a.net.named.Load() {
		return errors.New("it named a connection (CLIENT SETNAME, or HELLO with SETNAME)")
	}
	return nil
}

func excludes(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	if _, err := all[0].get("A's acquire"); err != nil {
		return err
	}
	_, err = all[1].try(promptly)
	return want("B's acquire, while A held the lock", err, locks.ErrNotAcquired)
}

func resources(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	one, err := all[0].tryOn("one", 0, promptly)
	if err := want("A's acquire of one", err, nil); err != nil {
		return err
	}
	_, err = all[1].tryOn("two", 0, promptly)
	if err := want("B's acquire of two, while A held one", err, nil); err != nil {
		return err
	}
	if err := want("A's release of one", all[0].release(one, promptly), nil); err != nil {
		return err
	}
	_, err = all[0].tryOn("two", 0, promptly)
	return want("A's acquire of two, which B held, after A's release of one", err, locks.ErrNotAcquired)
}

// lasts checks a lease's end, asked for at a time.
func lasts(what string, lease *locks.Lease, asked time.Time) error {
	left := lease.Until().Sub(asked)
	switch {
	case lease.Until().IsZero():
		return nil // renewed until it is released
	case left > TTL+TTL/50: // the request was sent a moment after that
		return fmt.Errorf("%s: validity_ms says that the lease lasts %v from the request, longer than the TTL of %v", what, left, TTL)
	case !lease.Until().After(time.Now()):
		return fmt.Errorf("%s: validity_ms says that the lease was over when it was granted, %v after the request", what, left)
	case left < TTL/2:
		return fmt.Errorf("%s: validity_ms leaves %v of a TTL of %v on servers that answered at once: is it in milliseconds?", what, left, TTL)
	}
	return nil
}

func validity(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	asked := time.Now()
	lease, err := all[0].get("acquire")
	if err != nil {
		return err
	}
	if !lease.Until().IsZero() {
		return lasts("acquire", lease, asked)
	}
	if err := b.rest(2*TTL + allowance); err != nil {
		return err
	}
	_, err = all[1].try(promptly)
	return want("B's acquire, while A held a lease without validity_ms for two TTLs", err, locks.ErrNotAcquired)
}

func expires(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := all[0].get("A's acquire"); err != nil {
		return err
	}
	granted := time.Now()
	all[0].program.Kill()
	if err := b.rest(time.Until(began.Add(TTL * 6 / 10))); err != nil {
		return err
	}
	return b.freeAt(all[1], "A had died", began, granted)
}

// freeAt checks that a client is refused the lock before the TTL is over and gets it afterwards. The lease was asked for and
// granted at the times given.
func (b *bench) freeAt(c *client, why string, asked, granted time.Time) error {
	if time.Since(asked) < TTL*9/10 { // else this machine was too slow to ask before
		_, err := c.try(promptly)
		if time.Since(asked) < TTL {
			if err := want(fmt.Sprintf("%s's acquire, when %s and the TTL was not over", c.name, why), err, locks.ErrNotAcquired); err != nil {
				return err
			}
		}
	}
	if err := b.rest(time.Until(granted.Add(TTL + allowance))); err != nil {
		return err
	}
	_, err := c.try(promptly)
	return want(fmt.Sprintf("%s's acquire, when %s and the TTL had been over for %v", c.name, why, allowance), err, nil)
}

func releases(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	lease, err := all[0].get("A's acquire")
	if err != nil {
		return err
	}
	if err := want("A's release", all[0].release(lease, promptly), nil); err != nil {
		return err
	}
	_, err = all[1].try(promptly)
	return want("B's acquire, after A's release", err, nil)
}

// succeed has A hold a lease that is over, and B hold the lock.
func (b *bench) succeed() (all []*client, old, lease *locks.Lease, err error) {
	if all, err = b.joinAll("A", "B", "C"); err != nil {
		return nil, nil, nil, err
	}
	if old, err = all[0].get("A's acquire"); err != nil {
		return nil, nil, nil, err
	}
	b.flush()
	lease, err = all[1].get("B's acquire, after A's key had gone")
	return all, old, lease, err
}

func releasesOwn(b *bench) error {
	all, old, lease, err := b.succeed()
	if err != nil {
		return err
	}
	released := all[0].release(old, promptly)
	_, err = all[2].try(promptly)
	if err := want("C's acquire, while B held the lock and A had released a lease that was over", err, locks.ErrNotAcquired); err != nil {
		return err
	}
	if err := want("A's release of a lease that was over", released, locks.ErrNotHeld); err != nil {
		return err
	}
	return want("B's release, after A's", all[1].release(lease, promptly), nil)
}

func extends(b *bench) error {
	all, err := b.joinAll("A", "B")
	if err != nil {
		return err
	}
	lease, err := all[0].get("A's acquire")
	if err != nil {
		return err
	}
	if err := b.rest(TTL * 6 / 10); err != nil {
		return err
	}
	asked := time.Now()
	if err := want("A's extend", all[0].extend(lease), nil); err != nil {
		return err
	}
	granted := time.Now()
	if err := lasts("extend", lease, asked); err != nil {
		return err
	}
	if lease.Until().IsZero() { // renewed in the background: the claim of validity
		return nil
	}
	if err := b.rest(time.Until(asked.Add(TTL * 7 / 10))); err != nil {
		return err
	}
	return b.freeAt(all[1], "A had extended its lease", asked, granted)
}

func extendsOwn(b *bench) error {
	all, old, lease, err := b.succeed()
	if err != nil {
		return err
	}
	if err := want("A's extend of a lease that was over, while B held the lock", all[0].extend(old), locks.ErrNotHeld); err != nil {
		return err
	}
	return want("B's release, after A's extend", all[1].release(lease, promptly), nil)
}

func valid(b *bench) error {
	a, err := b.join("A")
	if err != nil {
		return err
	}
	lease, err := a.get("acquire")
	if err != nil {
		return err
	}
	if err := want("valid, during the lease", a.valid(lease), nil); err != nil {
		return err
	}
	if lease.Until().IsZero() { // it does not run out
		return nil
	}
	if err := b.rest(TTL + allowance); err != nil {
		return err
	}
	return want("valid, after the lease had run out", a.valid(lease), locks.ErrNotHeld)
}

func fences(b *bench) error {
	var last int64
	for _, name := range []string{"A", "B", "C"} {
		c, err := b.joinFenced(name, true)
		if err != nil {
			return err
		}
		lease, err := c.get(name + "'s acquire")
		if err != nil {
			return err
		}
		if lease.Fence <= last {
			return fmt.Errorf("%s was granted fence %d, after %d", name, lease.Fence, last)
		}
		last = lease.Fence
		if err := want(name+"'s release", c.release(lease, promptly), nil); err != nil {
			return err
		}
	}
	return nil
}
