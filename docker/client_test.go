package docker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// misbehaveVerb makes the test binary a client's process that goes wrong in the way that its argument names, on its first
// order.
const misbehaveVerb = "misbehave"

const anOperation = `{"number":1,"done":{"Type":"ok","Began":1,"At":2}}`

func misbehave(how string) {
	orders := bufio.NewReader(os.Stdin)
	_, _ = orders.ReadString('\n')
	switch how {
	case "behaves":
		fmt.Println(anOperation)
	case "rubbish":
		fmt.Println("panic: not what you expect")
	case "half a line":
		fmt.Print(anOperation[:12])
		os.Exit(0)
	case "a huge line":
		line := bytes.Repeat([]byte("x"), 1<<20)
		for range 64 {
			os.Stdout.Write(line)
		}
	case "two answers":
		fmt.Println(anOperation + "\n" + anOperation)
	case "no type":
		fmt.Println(`{"number":1,"done":{"Began":1,"At":2}}`)
	case "backwards":
		fmt.Println(`{"number":1,"done":{"Type":"ok","Began":3,"At":2}}`)
	case "empty":
		fmt.Println(`{}`)
	case "complains":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	}
	_, _ = orders.ReadString(0) // silence, until the end of orders
}

func startMisbehaving(t *testing.T, how string) *client {
	t.Helper()
	if err := workersWorkHere(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := startClient("A", 0, []string{self, misbehaveVerb, how}, func(*client, held) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	return c
}

// TestProcessThatGoesWrongEndsItsOperationAsUnknown, and the run says what was wrong.
func TestProcessThatGoesWrongEndsItsOperationAsUnknown(t *testing.T) {
	for how, want := range map[string]string{
		"rubbish":     "cannot be understood",
		"half a line": "ended by itself",
		"a huge line": "a line of more than 1048576 bytes",
		"no type":     "the end of an operation as Type(0)",
		"backwards":   "began at 3ns and ended at 2ns",
		"empty":       "an empty report",
		"complains":   "its process ended (exit status 7): out of luck",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := startMisbehaving(t, how)
			done := c.Do(runner.Command{Op: history.Acquire})
			if done.Type != history.Info || !strings.Contains(done.Broken, "client A: ") || !strings.Contains(done.Broken, want) {
				t.Errorf("%+v, want info and %q", done, want)
			}
			if alive := syscall.Kill(c.cmd.Process.Pid, 0) == nil; alive {
				t.Error("the process is still there")
			}
		})
	}
}

// The twin: who behaves is believed.
func TestProcessThatBehavesIsBelieved(t *testing.T) {
	c := startMisbehaving(t, "behaves")
	if done := c.Do(runner.Command{Op: history.Acquire}); done.Type != history.Ok || done.Broken != "" {
		t.Errorf("%+v, want ok", done)
	}
}

func TestSecondAnswerIsRubbish(t *testing.T) {
	c := startMisbehaving(t, "two answers")
	c.Do(runner.Command{Op: history.Acquire}) // the first answer may be heard before the second
	done := c.Do(runner.Command{Op: history.Release})
	if done.Type != history.Info || !strings.Contains(done.Broken, "the end of operation 1, which is not the one that it is to do") {
		t.Errorf("%+v", done)
	}
}

func TestProcessThatIsKilledFromOutsideIsNamed(t *testing.T) {
	c := startMisbehaving(t, "silence")
	done := make(chan runner.Completion, 1)
	go func() { done <- c.Do(runner.Command{Op: history.Acquire}) }()
	if err := syscall.Kill(c.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if d := <-done; d.Type != history.Info || !strings.Contains(d.Broken, "client A: its process ended (signal: killed)") {
		t.Errorf("%+v", d)
	}
}

// A process that the nemesis kills has done nothing wrong.
func TestProcessThatTheNemesisKillsIsNotToBlame(t *testing.T) {
	c := startMisbehaving(t, "silence")
	c.die()
	c.end()
	if d := c.Do(runner.Command{Op: history.Acquire}); d.Type != history.Info || d.Broken != "" {
		t.Errorf("%+v", d)
	}
}

// TestSilenceIsNotWaitedOutForEver, neither before the run nor at its end.
func TestSilenceIsNotWaitedOutForEver(t *testing.T) {
	answerLimit = 100 * time.Millisecond
	defer func() { answerLimit = consoleLimit * 3 / 2 }()
	c := startMisbehaving(t, "silence")
	if err := c.prepare(order{Join: &place{}}); err == nil || !strings.Contains(err.Error(), "did not answer within 100ms") {
		t.Error(err)
	}
	done := make(chan runner.Completion, 1)
	go func() { done <- c.Do(runner.Command{Op: history.Acquire}) }()
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "Close did not return within") {
		t.Error(err)
	}
	if d := <-done; d.Type != history.Info || d.Broken == "" {
		t.Errorf("%+v", d)
	}
}

// TestRunSaysThatAClientWasKilledFromOutside, or that it was stopped: neither is a verdict on the lock.
func TestRunSaysWhatBecameOfAClient(t *testing.T) {
	bed := testbed(t)
	entry, err := locks.Find("single")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		signal syscall.Signal
		want   string
	}{
		{syscall.SIGKILL, "client A: its process ended (signal: killed)"},
		{syscall.SIGSTOP, "client A stood still by itself"},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			struck := make(chan error, 1)
			end := make(chan struct{})
			go func() { struck <- strikeFirst(bed, "A", c.signal, end) }()
			s := parse(t, strings.TrimSuffix(section, "faults:\n"))
			s.Horizon = 2 * s.TTL // who stands still for good need not be waited for longer
			o, err := runner.Run(bed, runner.Plan{Lock: entry, Scenario: s, Speed: 5}, nil)
			close(end)
			if err := errors.Join(err, <-struck); err != nil {
				t.Fatal(err)
			}
			if o.Err == nil || !strings.Contains(o.Err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", o.Err, c.want)
			}
			for _, e := range o.Events {
				if e.Process == "A" && e.Op == history.Write && e.Type == history.Ok {
					t.Error("A went on: the signal came too late")
				}
			}
		})
	}
}

// strikeFirst sends a signal to a client's process as soon as it is told to do something.
func strikeFirst(bed *Testbed, name string, signal syscall.Signal, end <-chan struct{}) error {
	for {
		if c := bed.current.Load(); c != nil && c.clients[name].busy() {
			return syscall.Kill(c.clients[name].cmd.Process.Pid, signal)
		}
		select {
		case <-end:
			return errors.New("the client did nothing")
		case <-time.After(time.Millisecond):
		}
	}
}
