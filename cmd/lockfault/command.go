package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockfault/lockfault/results"
)

// Exit statuses.
const (
	exitExpected   = 0 // everything as expected
	exitUnexpected = 1 // a violation, or an expected violation that did not show
	exitUndecided  = 2 // something could be neither shown nor refuted
	exitFailed     = 3 // the harness failed, was interrupted, or was called wrongly
)

// verb is one subcommand. It returns an exit status, or an error for exitFailed.
type verb struct {
	name, args, summary string
	run                 func(c *call) (int, error)
}

// verbs is a function since help lists them.
func verbs() []verb {
	return []verb{
		{"compare", "", "locks x scenarios, without and with fencing: the main job", compare},
		{"run", "", "one scenario on one lock, with the verdict of every property", runOne},
		{"replay", "RUN", "a stored run again, from its plan", replay},
		{"check", "FILE", "judge a history that was recorded elsewhere", check},
		{"list", "[locks|scenarios|faults|properties]", "what there is", list},
	}
}

// call is one invocation of a verb.
type call struct {
	ctx            context.Context
	verb           verb
	args           []string // behind the flags
	stdout, stderr io.Writer
	flags          *pflag.FlagSet
	command        string // as it was typed
}

// usageError is a call that was wrong; its text says what to do.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		usage(stdout)
		return exitExpected
	}
	if args[0] == cellVerb {
		return serveCells(stdin, stdout, stderr)
	}
	for _, v := range verbs() {
		if v.name != args[0] {
			continue
		}
		c := &call{ctx: ctx, verb: v, args: args[1:], stdout: stdout, stderr: stderr,
			flags: pflag.NewFlagSet(v.name, pflag.ContinueOnError), command: "lockfault " + strings.Join(args, " ")}
		c.flags.SetOutput(io.Discard)
		c.flags.SortFlags = false
		code, err := v.run(c)
		return c.finish(code, err)
	}
	fmt.Fprintf(stderr, "lockfault: there is no verb %q; `lockfault help` lists them\n", args[0])
	return exitFailed
}

func (c *call) finish(code int, err error) int {
	switch {
	case err == nil:
		return code
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(c.stdout, "%s: %s\n\nusage: lockfault %s [flags]\n\n%s", c.verb.name, c.verb.summary,
			strings.TrimSpace(c.verb.name+" "+c.verb.args), c.flags.FlagUsages())
		return exitExpected
	}
	fmt.Fprintf(c.stderr, "lockfault %s: %v\n", c.verb.name, err)
	var wrong usageError
	if errors.As(err, &wrong) {
		fmt.Fprintf(c.stderr, "`lockfault %s --help` lists the flags\n", c.verb.name)
	}
	return exitFailed
}

// parse reads the flags and checks how many arguments are left.
func (c *call) parse(most int) error {
	if err := c.flags.Parse(c.args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	c.args = c.flags.Args()
	if len(c.args) > most {
		return usagef("do not know what to do with %q", c.args[most])
	}
	return nil
}

func usage(w io.Writer) {
	fmt.Fprint(w, "lockfault tries to break distributed locks, and proves what broke.\n\nusage: lockfault VERB [flags]\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(w, "  %-10s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, `
exit status: 0 as expected, 1 not as expected, 2 undecided, 3 the harness failed or the call was wrong

The main job, which needs no server:  lockfault compare
One story in full:                    lockfault run --lock redlock --scenario pause-after-acquire
`)
}

// statusOf is the exit status that a report deserves.
func statusOf(r results.Report) int {
	s := r.Summary()
	switch {
	case s.Failed > 0:
		return exitFailed
	case s.NotAsExpected > 0:
		return exitUnexpected
	case s.Undecided > 0:
		return exitUndecided
	}
	return exitExpected
}
