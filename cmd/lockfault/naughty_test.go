package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// withNaughtyLocks is the environment variable with which the test binary knows these locks beside the real ones, as the
// parent and as the child. They are registered nowhere else.
const withNaughtyLocks = "LOCKFAULT_TEST_NAUGHTY"

var naughtyLocks = []locks.Entry{
	naughty("panics-in-new", func(l *naughtyLock) { panic("no lock today") }),
	naughty("panics-in-acquire", func(l *naughtyLock) { l.acquire = func() *locks.Lease { panic("acquire is hard") } }),
	naughty("panics-in-background", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			go func() { panic("nobody recovers me") }()
			time.Sleep(time.Second)
			return grant()
		}
	}),
	naughty("panics-after-chatter", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			fmt.Fprint(os.Stderr, strings.Repeat("panic: not yet\n", 50_000))
			go func() { panic("now indeed") }()
			time.Sleep(time.Second)
			return grant()
		}
	}),
	naughty("overflows-stack", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			debug.SetMaxStack(1 << 20) // the usual one takes a while to fill
			return deeper(0)
		}
	}),
	naughty("deadlocks-in-close", func(l *naughtyLock) { l.close = func() { select {} } }),
	naughty("panics-in-close", func(l *naughtyLock) { l.close = func() { panic("close is hard") } }),
	naughty("leaks-a-ticker", func(l *naughtyLock) {
		go func() {
			for range time.Tick(time.Second) {
				os.Getpid()
			}
		}()
	}),
	naughty("blocks-for-ever", func(l *naughtyLock) { l.acquire = func() *locks.Lease { select {} } }),
	naughty("holds-a-mutex", func(l *naughtyLock) {
		var mu sync.Mutex
		mu.Lock()
		l.acquire = func() *locks.Lease { mu.Lock(); return grant() }
	}),
	naughty("spins", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			for spinning.Store(true); ; {
			}
		}
	}),
	naughty("returns-nothing", func(l *naughtyLock) { l.acquire = func() *locks.Lease { return nil } }),
	naughty("returns-an-empty-lease", func(l *naughtyLock) { l.acquire = func() *locks.Lease { return new(locks.Lease) } }),
	naughty("makes-leases-up", func(l *naughtyLock) { l.acquire = grant }),
	naughty("exits", func(l *naughtyLock) { l.acquire = func() *locks.Lease { os.Exit(0); return nil } }),
	naughty("stops-its-process", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			_ = exec.Command("sleep", "1").Run() // in real time: the kernel stops threads one after another
			return grant()
		}
	}),
	naughty("exits-later", func(l *naughtyLock) { l.close = func() { exitSoon <- struct{}{} } }),
	naughty("chatters", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			text := []byte(`{"run":{"lock":"single","as_expected":true}}` + "\n" + strings.Repeat("lorem ipsum ", 200_000))
			os.Stdout.Write(text)
			os.Stderr.Write(text)
			return grant()
		}
	}),
	naughty("reads-stdin", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			_, _ = os.Stdin.Read(make([]byte, 1<<16))
			return grant()
		}
	}),
	naughty("talks-over-everything", func(l *naughtyLock) {
		l.acquire = func() *locks.Lease {
			for fd := range uintptr(10) {
				_, _ = os.NewFile(fd, "").WriteString("}{\n")
			}
			return grant()
		}
	}),
}

// spinning tells that a lock in this process will never come to rest.
var spinning atomic.Bool

// naughtyAndPolite has a polite lock behind each naughty one. It wants its process to itself.
func naughtyAndPolite() []locks.Entry {
	single, err := locks.Find("single")
	if err != nil {
		panic(err)
	}
	polite := single
	polite.New = func(env locks.Env) (locks.Lock, error) {
		if spinning.Load() {
			return nil, errors.New("another lock is still spinning in this process")
		}
		return single.New(env)
	}
	var all []locks.Entry
	for _, l := range naughtyLocks {
		polite.Name = politeAfter + l.Name
		all = append(all, l, polite)
	}
	return all
}

const politeAfter = "polite-after-"

// exitSoon ends the process some time after a run is over: the next lock must not be blamed.
var exitSoon = func() chan<- struct{} {
	c := make(chan struct{}, 100)
	if os.Getenv(withNaughtyLocks) != "" {
		go func() {
			<-c
			time.Sleep(50 * time.Millisecond)
			os.Exit(7)
		}()
	}
	return c
}()

// naughtyLock is polite but for what misbehave makes of it.
type naughtyLock struct {
	acquire func() *locks.Lease
	close   func()
}

func naughty(name string, misbehave func(*naughtyLock)) locks.Entry {
	return locks.Entry{Name: name, Summary: "misbehaves", New: func(locks.Env) (locks.Lock, error) {
		l := &naughtyLock{acquire: grant, close: func() {}}
		misbehave(l)
		return l, nil
	}}
}

// grant is a lease that nobody granted.
func grant() *locks.Lease { return locks.NewLease("stock", "token", 0, time.Now().Add(time.Minute)) }

func deeper(n int) *locks.Lease {
	if n < 0 {
		return nil
	}
	l := deeper(n + 1)
	return l
}

func (l *naughtyLock) Acquire(context.Context, string) (*locks.Lease, error) { return l.acquire(), nil }
func (l *naughtyLock) Extend(context.Context, *locks.Lease) error            { return nil }
func (l *naughtyLock) Release(context.Context, *locks.Lease) error           { return nil }
func (l *naughtyLock) Close() error                                          { l.close(); return nil }
