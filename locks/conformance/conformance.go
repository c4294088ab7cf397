// Package conformance tests a program that is to be a lock, see locks/program, against Redis servers in this process. It
// finds what makes an adapter useless for runs, before faults come into it: answers that are late, wrong or unasked for, and
// answers that are not so.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
)

// TTL of the leases in the checks.
const TTL = time.Second

const (
	promptly  = time.Second            // for any answer by servers that work
	patience  = 5 * time.Second        // for any answer by servers that do not
	quiet     = 200 * time.Millisecond // after each answer, in which nothing may come
	allowance = TTL / 2                // for an expiry to be seen
)

// Check is one demand on a program.
type Check struct {
	Name  string
	Claim string
	Hint  string // what to do if it fails
	skip  func(program.Description) string
	run   func(*bench) error
}

// Result is what came of a check.
type Result struct {
	Check
	Err     error  // why it failed
	Skipped string // why it was not made
}

// All lists the checks, in order.
var All = []Check{
	{
		Name: "answers", Claim: "each request is answered once, within a second, and nothing else is written",
		Hint: "write one line per request to standard output, flush it, and write everything else to standard error",
		run:  answers,
	},
	{
		Name: "proxies", Claim: "the servers are reached through the addresses in hello, on connections without names",
		Hint: "connect to hello's nodes only, and set no client name: faults strike these links, and lockfault names the connections",
		run:  proxies,
	},
	{
		Name: "excludes", Claim: "while one client holds the lock, another's acquire fails",
		Hint: "answer ok only if the server has set the key for this very attempt, and fail if another has it",
		run:  excludes,
	},
	{
		Name: "resources", Claim: "locks on two resources do not disturb each other",
		Hint: "make the key from the request's resource",
		run:  resources,
	},
	{
		Name: "validity", Claim: "a lease is said to last for the TTL or less, from the request",
		Hint: "validity_ms is what remains of ttl_ms when you answer; leave it out only if you renew the lease until it is released",
		run:  validity,
	},
	{
		Name: "expires", Claim: "the lock of a client that died is free again at the TTL, and not before",
		Hint: "give the key the expiry ttl_ms, in milliseconds, in the command that sets it",
		run:  expires,
	},
	{
		Name: "releases", Claim: "after a release the lock is free",
		Hint: "answer ok only when the server has deleted the key",
		run:  releases,
	},
	{
		Name: "releases-own", Claim: "a release deletes the caller's own lease only, and fails if that is over",
		Hint: "compare the key with your token and delete it in one script; answer fail if the script deleted nothing",
		run:  releasesOwn,
	},
	{
		Name: "extends", Claim: "an extended lease lasts for another TTL, and not longer",
		Hint: "set the key's expiry to ttl_ms again, and answer ok only if that was done; if you cannot, say \"extends\": false in hello",
		skip: noExtend, run: extends,
	},
	{
		Name: "extends-own", Claim: "an extension of a lease that is over fails, and prolongs nobody's",
		Hint: "compare the key with your token and set its expiry in one script; answer fail if the script did nothing",
		skip: noExtend, run: extendsOwn,
	},
	{
		Name: "valid", Claim: "valid says ok during the lease, and fail when it has run out",
		Hint: "compare the time since the acquire was sent with the validity, or ask the server for the key",
		run:  valid,
	},
	{
		Name: "fences", Claim: "each grant has a greater fence than the one before",
		Hint: "count up in the script that sets the key, and give the counter no expiry",
		skip: func(d program.Description) string {
			if !d.Fences {
				return "its hello does not say \"fences\": true"
			}
			return ""
		},
		run: fences,
	},
	{
		Name: "unreachable", Claim: "without a server, acquire is answered within 5 s, and not with ok",
		Hint: "catch the connection's error, and answer fail if certainly nothing was sent, else unknown",
		run:  unreachable,
	},
	{
		Name: "silence", Claim: "when no server answers, a release says unknown within 5 s, and so does an acquire unless nothing is left of it",
		Hint: "give the Redis client a time-out, and answer unknown when it strikes, not fail: the command may have been carried out",
		run:  silence,
	},
	{
		Name: "waits", Claim: "an acquire that waits gets the lock when it is free, with a validity that counts from then, and else fails in time",
		Hint: "wait at most wait_ms; waited_ms is the time from the request to the attempt that was granted",
		skip: func(d program.Description) string {
			if !d.Waits {
				return "its hello does not say \"waits\": true; lockfault asks again by itself"
			}
			return ""
		},
		run: waits,
	},
	{
		Name: "group", Claim: "the program stands still with the process group that it was started in",
		Hint: "call the program without timeout, setsid or sudo, and start no process group in it: a pause would not stop it",
		skip: func(program.Description) string {
			if runtime.GOOS != "linux" {
				return "process groups are looked at on Linux only"
			}
			return ""
		},
		run: group,
	},
	{
		Name: "ends", Claim: "the program ends on quit, and when its standard input ends",
		Hint: "end when you read quit, and when there is nothing more to read: a program that stays is killed",
		run:  ends,
	},
}

func noExtend(d program.Description) string {
	if d.Extends != nil && !*d.Extends {
		return "its hello says \"extends\": false"
	}
	return ""
}

// Run makes every check on the program with that command, each on servers of its own, and calls each with the results as they
// come. The error says that the program could not be started or did not say what it is. It ends early when ctx is done.
func Run(ctx context.Context, command string, each func(Result)) (program.Description, error) {
	p, err := program.StartAlone(command)
	if err != nil {
		return program.Description{}, err
	}
	d := p.Description()
	if err := p.Close(); err != nil {
		return d, err
	}
	for _, check := range All {
		if err := ctx.Err(); err != nil {
			return d, context.Cause(ctx)
		}
		r := Result{Check: check}
		if check.skip != nil {
			r.Skipped = check.skip(d)
		}
		if r.Skipped == "" {
			r.Err = onBench(ctx, command, d, check.run)
		}
		each(r)
	}
	return d, nil
}

// onBench makes a check on fresh servers.
func onBench(ctx context.Context, command string, d program.Description, check func(*bench) error) (err error) {
	b, err := newBench(ctx, command, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return check(b)
}

// want compares an answer with the only one that is right.
func want(what string, err, right error) error {
	switch {
	case errors.Is(err, errLate), errors.Is(err, locks.ErrBroken):
		return fmt.Errorf("%s: %w", what, err)
	case right == nil && err != nil:
		return fmt.Errorf("%s: want ok, got %s", what, outcomeOf(err))
	case right != nil && !errors.Is(err, right):
		return fmt.Errorf("%s: want fail, got %s", what, outcomeOf(err))
	}
	return nil
}

// outcomeOf words an error as the answer that it was.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, locks.ErrNotAcquired), errors.Is(err, locks.ErrNotHeld):
		return fmt.Sprintf("fail (%v)", err)
	}
	return fmt.Sprintf("unknown (%v)", err)
}
