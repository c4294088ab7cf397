package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockfault/lockfault/docker"
)

// Exit statuses.
const (
	exitExpected   = 0 // everything as expected
	exitUnexpected = 1 // a violation, or an expected violation that did not show
	exitUndecided  = 2 // something could be neither shown nor refuted
	exitFailed     = 3 // the harness failed, was interrupted, or was called wrongly
)

const statuses = "exit status: 0 as expected, 1 not as expected, 2 undecided or nothing could be run,\n" +
	"3 the harness failed, was interrupted, or the call was wrong"

// verb is one subcommand. It returns an exit status, or an error for exitFailed.
type verb struct {
	name, args, summary string
	examples            string // lines of arguments
	run                 func(c *call) (int, error)
}

// verbs is a function since help lists them.
func verbs() []verb {
	return []verb{
		{"compare", "", "locks x scenarios, without and with fencing: the main job", `
  lockfault compare
  lockfault compare --locks single,redlock --scenarios A1,D4 --format markdown
  lockfault compare --lock redlock --budget 30s --format junit > lockfault.xml`, compare},
		{"run", "", "one scenario on one lock, with the verdict of every property", `
  lockfault run --lock redlock --scenario pause-after-acquire
  lockfault run --lock single --scenario ticket.yaml --fencing on`, runOne},
		{"replay", "RUN", "a stored run again, from its plan; is the history the same?", `
  lockfault replay latest/redlock/pause-after-acquire/unfenced`, replay},
		{"check", "FILE...", "judge a history that was recorded elsewhere", `
  lockfault check history.jsonl
  lockfault check --clock-error 20ms web-1.jsonl web-2.jsonl
  lockfault check - < history.jsonl`, check},
		{"adapter-check", "COMMAND", "does a program speak the protocol for locks in any language?", `
  lockfault adapter-check 'python3 my_lock.py'`, adapterCheck},
		{"list", "[locks|scenarios|faults|properties]", "what there is", `
  lockfault list scenarios`, list},
		{"report", "[RUN]", "render a stored run again: a page, a picture, a table, a trace", `
  lockfault report --html > comparison.html
  lockfault report latest --svg --lock redlock --scenario A1 --fencing off > a1.svg
  lockfault report latest --csv > runs.csv
  lockfault report --serve`, report},
		{"clean", "", "remove the containers that a killed run left behind", `
  lockfault clean`, clean},
	}
}

func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return names
}

// call is one invocation of a verb.
type call struct {
	ctx            context.Context
	verb           verb
	args           []string // behind the flags
	stdout, stderr io.Writer
	flags          *pflag.FlagSet
	command        string         // as it was typed
	docker         *docker.Config // of the container testbed, if it is wanted
	files          inputs         // of check
}

// usageError is a call that was wrong; its text says what to do.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 { // a script whose variable is empty must not pass
		usage(stderr)
		return exitFailed
	}
	if slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
		if len(args) == 1 {
			usage(stdout)
			return exitExpected
		}
		args = []string{args[1], "--help"}
	}
	switch args[0] {
	case cellVerb:
		return serveCells(stderr)
	case docker.WorkerVerb:
		return docker.ServeWorker(os.Stdin, stdout, stderr)
	}
	at := slices.Index(verbNames(), args[0])
	if at < 0 {
		fmt.Fprintf(stderr, "lockfault: there is no verb %q%s\n`lockfault help` lists them\n", args[0], didYouMean(args[0], verbNames()))
		return exitFailed
	}
	v := verbs()[at]
	c := &call{
		ctx: ctx, verb: v, args: args[1:], stdout: stdout, stderr: stderr,
		flags: pflag.NewFlagSet(v.name, pflag.ContinueOnError), command: commandLine(args),
	}
	c.flags.SetOutput(io.Discard)
	c.flags.SortFlags = false
	return c.finish(v.run(c))
}

func (c *call) finish(code int, err error) int {
	switch {
	case err == nil:
		return code
	case errors.Is(err, pflag.ErrHelp):
		c.help()
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
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return usageError{err}
		}
		var names []string
		c.flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return usagef("%w%s", err, didYouMean("--"+unknown.GetSpecifiedName(), names))
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
		fmt.Fprintf(w, "  %-14s %s\n", v.name, v.summary)
	}
	fmt.Fprintf(w, `
%s
`+"`lockfault VERB --help` says more about one of them."+`

The main job, which needs no server:  lockfault compare
One story in full:                    lockfault run --lock redlock --scenario pause-after-acquire
`, statuses)
}

func (c *call) help() {
	fmt.Fprintf(c.stdout, "lockfault %s: %s\n\nusage: lockfault %s [flags]\n", c.verb.name, c.verb.summary,
		strings.TrimSpace(c.verb.name+" "+c.verb.args))
	if flags := c.flags.FlagUsagesWrapped(100); flags != "" {
		fmt.Fprintf(c.stdout, "\n%s", flags)
	}
	fmt.Fprintf(c.stdout, "\nexamples:%s\n\n%s\n", c.verb.examples, statuses)
}

var plainArgument = regexp.MustCompile(`^[\w./:=,@%+#-]+$`)

// commandLine is a call that a shell takes back.
func commandLine(args []string) string {
	line := "lockfault"
	for _, arg := range args {
		line += " " + quoted(arg)
	}
	return line
}

// quoted is an argument as a shell takes it.
func quoted(arg string) string {
	if plainArgument.MatchString(arg) && !strings.HasPrefix(arg, "#") {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
