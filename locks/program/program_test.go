package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// program starts the test binary as a program with a habit.
func program(t *testing.T, habit string) (*Program, error) {
	t.Helper()
	t.Setenv(mode, habit)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else it ends a second late
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return StartAlone(strconv.Quote(self))
}

// asLock is program, as a lock.
func asLock(t *testing.T, habit string, fencing bool) (locks.Lock, *Program) {
	t.Helper()
	p, err := program(t, habit)
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Lock(locks.Env{
		Client: "A", Nodes: []string{"127.0.0.1:1"}, TTL: 200 * time.Millisecond, Fencing: fencing, Rand: rng(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, p
}

func acquire(t *testing.T, l locks.Lock, wait time.Duration) (*locks.Lease, error) {
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	return l.Acquire(ctx, "r")
}

// TestHostileProgramsAreNamed: whatever a program does, the call ends soon, and the error says what it was.
func TestHostileProgramsAreNamed(t *testing.T) {
	for habit, want := range map[string]string{
		"never answers":         `it did not answer acquire within \d`,
		"answers another":       `it answered request 77, but was asked 3: "{\\"id\\":77`,
		"answers nobody":        `it answered request 1, but was asked 3`,
		"chatters":              `no answer: "connecting to redis ...\\n" .*write anything else to standard error`,
		"says null":             `neither an answer, with an id, nor the news of a lost lease`,
		"says two things":       `more than one value on the line`,
		"misspells":             `unknown field "validty_ms"`,
		"has its own outcome":   `outcome "granted" is none of ok, fail, unknown`,
		"is valid before":       `milliseconds from 0 on`,
		"forgets the fence":     `granted the lock without a fence`,
		"loses what it has not": `no acquire had that id`,
		"writes a huge line":    `a line of more than 64 KiB, which begins "xxx`,
		"stops in mid-line":     `its last line has no end: "{\\"id\\":3,"`,
		"dies":                  `it ended by itself \(exit status 4\); it said on standard error: panic: no memory`,
		"fills stderr and dies": `it ended by itself \(exit status 1\); .*\| a line on standard error \| the last line$`,
		"forks and dies":        `it ended by itself \(exit status 5\); .*child \d+`,
	} {
		t.Run(habit, func(t *testing.T) {
			l, p := asLock(t, habit, true)
			began := time.Now()
			lease, err := acquire(t, l, 100*time.Millisecond)
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("took %v", took)
			}
			if lease != nil || !errors.Is(err, locks.ErrBroken) || errors.Is(err, locks.ErrNotAcquired) ||
				!regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("lease %v, error %v; want %s", lease, err, want)
			}
			if len(err.Error()) > 3000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if _, again := acquire(t, l, time.Second); !errors.Is(again, locks.ErrBroken) {
				t.Errorf("the next acquire: %v", again)
			}
			if err := l.Close(); err != nil {
				t.Errorf("closing tells it again: %v", err)
			}
			gone(t, p)
		})
	}
}

// TestWhatIsDoneAfterwardsIsToldInTheEnd: a program that answers well and then misbehaves is found out by the next call or,
// if there is none, on closing.
func TestWhatIsDoneAfterwardsIsToldInTheEnd(t *testing.T) {
	for habit, want := range map[string]string{
		"answers twice": `it answered request 3 a second time`,
		"chatters late": `no answer: "done\\n"`,
		"dies between":  `it ended by itself \(exit status 0\)`,
	} {
		t.Run(habit, func(t *testing.T) {
			l, p := asLock(t, habit, false)
			if _, err := acquire(t, l, time.Second); err != nil && !errors.Is(err, locks.ErrBroken) {
				t.Fatal(err)
			} else if err != nil { // it was found out at once
				if !regexp.MustCompile(want).MatchString(err.Error()) {
					t.Error(err)
				}
				return
			}
			<-p.ended
			if err := l.Close(); !errors.Is(err, locks.ErrBroken) || !regexp.MustCompile(want).MatchString(err.Error()) {
				t.Errorf("closing: %v; want %s", err, want)
			}
		})
	}
}

// gone checks that the process and its children are.
func gone(t *testing.T, p *Program) {
	t.Helper()
	pids := []string{fmt.Sprint(p.cmd.Process.Pid)}
	for _, m := range regexp.MustCompile(`child (\d+)`).FindAllStringSubmatch(p.said.String(), -1) {
		pids = append(pids, m[1])
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %s still runs: %s", pid, stat)
			}
		}
	}
}

// TestClosingWaitsForNobody: not for children that keep the pipes open, nor for a program that does not want to end.
func TestClosingWaitsForNobody(t *testing.T) {
	for _, habit := range []string{"", "forks", "ignores quit", "forks and ignores quit", "fills stderr"} {
		t.Run(habit, func(t *testing.T) {
			if habit == "" {
				habit = "plain"
			}
			l, p := asLock(t, habit, true)
			lease, err := acquire(t, l, time.Second)
			if err != nil || lease.Fence == 0 {
				t.Fatalf("lease %+v, error %v", lease, err)
			}
			if err := l.Release(t.Context(), lease); err != nil {
				t.Error(err)
			}
			began := time.Now()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("closing took %v", took)
			}
			gone(t, p)
			if len(p.said.text) > tailLimit {
				t.Errorf("%d bytes of standard error are kept", len(p.said.text))
			}
		})
	}
}

// TestClosingEndsACallThatHangs: the call then says that nobody knows.
func TestClosingEndsACallThatHangs(t *testing.T) {
	p, err := program(t, "never answers")
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Lock(locks.Env{Nodes: []string{"127.0.0.1:1"}, TTL: time.Hour, Rand: rng()})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := l.Acquire(context.Background(), "r")
		done <- err
	}()
	for p.latest() < 3 { // until it is asked
		time.Sleep(time.Millisecond)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, locks.ErrBroken) {
		t.Errorf("acquire: %v", err)
	}
}

func TestProgramsThatCannotBeStarted(t *testing.T) {
	for habit, want := range map[string]string{
		"has a bad name":   `name "My Lock!": want at most 40 of a-z`,
		"has no servers":   `servers "": want one of one-node, primary-replica, five-nodes`,
		"is called single": `name "single" is that of a lock which lockfault has`,
		"is like nothing":  `like: no lock "y"; there are none,`,
		"is asked more":    `hello: fail: protocol 1 is too old`,
	} {
		if _, err := program(t, habit); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v; want %s", habit, err, want)
		}
	}
	for command, want := range map[string]string{
		"":                   "it is empty",
		"/nowhere/my-lock":   "no such file",
		"false":              "it ended by itself (exit status 1)",
		"a | b":              "there is no shell behind it",
		"python3 'my_lock":   "invalid command line",
		"sh -c 'echo hello'": `no answer: "hello\n"`,
	} {
		if _, err := StartAlone(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", command, err, want)
		}
	}
}

// TestNoHelloIsGivenUp: also by a program that hears nothing at all.
func TestNoHelloIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a hello may")
	}
	for _, habit := range []string{"never says hello", "deaf"} {
		t.Run(habit, func(t *testing.T) {
			if _, err := program(t, habit); err == nil || !strings.Contains(err.Error(), "it did not answer hello within 10s") ||
				!errors.Is(err, ErrNoAnswer) {
				t.Error(err)
			}
		})
	}
}
