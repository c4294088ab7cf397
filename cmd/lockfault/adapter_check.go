package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/conformance"
	"github.com/lockfault/lockfault/locks/program"
)

// adapterCheck tests whether a program speaks the protocol and is a lock at all, on servers in this process.
func adapterCheck(c *call) (int, error) {
	var quiet bool
	c.flags.BoolVar(&quiet, "quiet", false, "print only the checks that fail")
	if err := c.parse(1); err != nil {
		return 0, err
	}
	if len(c.args) == 0 {
		return 0, usagef("say which command, as in\n\n  lockfault adapter-check 'python3 my_lock.py'")
	}
	command := strings.TrimPrefix(c.args[0], program.Prefix)
	failed, made := 0, 0
	told := map[string]string{} // how the program broke: the first check that met it
	d, err := conformance.Run(c.ctx, command, func(r conformance.Result) {
		made++
		switch {
		case r.Err != nil:
			failed++
			fmt.Fprintf(c.stdout, "FAIL  %-13s %s\n", r.Name, r.Claim)
			cause := breakage(r.Err)
			if first, known := told[cause]; known && cause != "" {
				fmt.Fprintf(c.stdout, "      the same as in %s\n", first)
				return
			}
			told[cause] = r.Name
			for line := range strings.Lines(r.Err.Error()) {
				fmt.Fprintf(c.stdout, "      %s\n", strings.TrimSpace(line))
			}
			fmt.Fprintf(c.stdout, "      to do: %s\n", r.Hint)
		case quiet:
		case r.Skipped != "":
			fmt.Fprintf(c.stdout, "skip  %-13s %s\n", r.Name, r.Skipped)
		default:
			fmt.Fprintf(c.stdout, "ok    %-13s %s\n", r.Name, r.Claim)
		}
	})
	var notStarted *exec.Error
	var noFile *fs.PathError
	switch {
	case c.ctx.Err() != nil:
		return 0, errors.New("interrupted")
	case errors.As(err, &notStarted), errors.As(err, &noFile), errors.Is(err, program.ErrCommand):
		return 0, err
	case err != nil:
		fmt.Fprintf(c.stdout, "FAIL  %-13s the program says what it is\n      %v\n      to do: %s\n", "hello", err, helloHint(err))
		return exitUnexpected, nil
	}
	about := d.Name
	if d.Version != "" {
		about += " (" + d.Version + ")"
	}
	if failed > 0 {
		fmt.Fprintf(c.stdout, "\n%s on %s: %d of %d checks failed\n", about, d.Servers, failed, made)
		return exitUnexpected, nil
	}
	if !quiet {
		fmt.Fprintf(c.stdout, "\n%s on %s is ready: lockfault compare --lock %s\n", about, d.Servers, quoted(program.Prefix+command))
	}
	return exitExpected, nil
}

// breakage is how the program broke, if it did, in the words in which each check that meets it says so.
func breakage(err error) string {
	_, how, _ := strings.Cut(err.Error(), locks.ErrBroken.Error()+": ")
	return how
}

// helloHint is what to do about a program that did not say what it is.
func helloHint(err error) string {
	const hint = "answer hello with name and servers, also the first one, which has no nodes; locks/program/PROTOCOL.md has an example"
	switch {
	case errors.Is(err, program.ErrEnded):
		return "run the command by hand and see what it says; it must not go on in the background, as after setsid; then " + hint
	case errors.Is(err, program.ErrNoAnswer):
		return hint + "; it may have answered without flushing: flush standard output after each line"
	}
	return hint
}
