package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// naughtyVariable chooses what the lock of TestNaughty gets wrong.
const naughtyVariable = "LOCKTEST_TEST_NAUGHTY"

// naughty is a good lock that gets one thing wrong.
type naughty struct {
	locks.Lock
	wrong string
}

func (n naughty) Acquire(ctx context.Context, resource string) (*locks.Lease, error) {
	switch n.wrong {
	case "panic":
		panic("boom")
	case "leak":
		go func() {
			for {
				time.Sleep(time.Second)
			}
		}()
	case "spin":
		for end := time.Now(); !time.Now().After(end); { // virtual time stands still
		}
	case "nothing":
		return nil, nil
	}
	return n.Lock.Acquire(ctx, resource)
}

func (n naughty) Close() error {
	if n.wrong == "stuck" {
		<-make(chan struct{})
	}
	return n.Lock.Close()
}

// TestNaughty is what the next test runs, in a process of its own.
func TestNaughty(t *testing.T) {
	wrong := os.Getenv(naughtyVariable)
	if wrong == "" {
		t.Skip("part of the next test")
	}
	single := find(t, "single")
	limit := func(s *settings) {
		s.limit = time.Second
		if wrong == "late" {
			s.budget = 1
		}
	}
	Run(t, func(env Env) (locks.Lock, error) {
		if wrong == "unmade" {
			return nil, fmt.Errorf("no luck")
		}
		if wrong == "elsewhere" {
			env.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("a real network") }
		}
		lock, err := single.New(env)
		return naughty{lock, wrong}, err
	}, limit)
}

// TestWhatALockGetsWrongIsAFailureNotACrash: a message, other scenarios skipped if they might be disturbed, and an end.
func TestWhatALockGetsWrongIsAFailureNotACrash(t *testing.T) {
	for wrong, want := range map[string][]string{
		"panic":   {"the lock panicked: boom"},
		"leak":    {"goroutines running after Close", "not run: what the lock left behind in TestNaughty/contract/one-holder"},
		"spin":    {"keeps a processor busy", "not run: what the lock left behind"},
		"stuck":   {"Close never returned", "not run: what the lock left behind"},
		"nothing": {"neither a lease nor an error"},
		"unmade":  {"no luck"},

		"elsewhere": {"did not dial by env.Dial", "Dialer: env.Dial"},
	} {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestNaughty$", "-test.v")
			c.Env = append(os.Environ(), naughtyVariable+"="+wrong)
			out, _ := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit status %d", code)
			}
			text := string(out)
			for _, w := range append(want, "--- FAIL: TestNaughty") {
				if !strings.Contains(text, w) {
					t.Errorf("does not say %q:\n%s", w, text[:min(len(text), 3000)])
				}
			}
			if strings.Contains(text, "fatal error") || strings.Contains(text, "goroutine 1 [") {
				t.Errorf("crashed:\n%s", text[:min(len(text), 3000)])
			}
		})
	}
}

// TestASpentBudgetSkipsAndSaysSo, which is no failure.
func TestASpentBudgetSkipsAndSaysSo(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNaughty$", "-test.v")
	c.Env = append(os.Environ(), naughtyVariable+"=late")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "not run: the budget of 1ns is spent"); n < 20 {
		t.Errorf("%d scenarios say so", n)
	}
}
