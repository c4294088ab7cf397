package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// BenchmarkCheckMillionOperations takes a history of a million operations (two million events) by twenty clients from
// its file to every verdict, in a process of its own, and reports the greatest memory that the kernel saw it use.
func BenchmarkCheckMillionOperations(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, law := range []struct {
		name     string
		violated bool
		args     []string
		status   int
	}{
		{"valid", false, nil, exitExpected},
		{"violated", true, nil, exitUnexpected},
		{"exclusion-only", false, []string{"--property", "exclusion"}, exitExpected},
	} {
		b.Run(law.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "history.jsonl")
			writeTurns(b, path, 500_000, law.violated)
			var peak int64
			var cpu time.Duration
			for b.Loop() {
				cmd := &exec.Cmd{Path: self, Args: append([]string{"lockfault", "check", path}, law.args...)}
				out, _ := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != law.status {
					b.Fatalf("%v\n%s", cmd.ProcessState, out)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
					peak = max(peak, usage.Maxrss*1024)
				}
			}
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// writeTurns writes turns of acquire and release, with gzip if the name says so; in a violated history, one near the end
// comes too early.
func writeTurns(b testing.TB, path string, turns int, violated bool) {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var compressed io.WriteCloser = file
	if strings.HasSuffix(path, ".gz") {
		compressed, _ = gzip.NewWriterLevel(file, gzip.BestSpeed)
	}
	out := bufio.NewWriterSize(compressed, 1<<20)
	w := history.NewWriter(out)
	n := 0
	write := func(e history.Event) {
		e.Index, e.Time = n, time.Duration(n)*17*time.Microsecond
		n++
		if err := w.Write(e); err != nil {
			b.Fatal(err)
		}
	}
	write(history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.Begin, Detail: history.Plan{TTL: 10 * time.Second}.Detail()})
	for turn := range turns {
		client := string(rune('A' + turn*7%20))
		e := history.Event{Process: client, Op: history.Acquire, Resource: "stock", Lease: fmt.Sprintf("%s#%d", client, turn)}
		for _, op := range []history.Op{history.Acquire, history.Release} {
			if violated && turn == turns-10 && op == history.Release {
				continue // it believes on, and the next ones are granted
			}
			e.Op, e.Type, e.Fence = op, history.Invoke, 0
			write(e)
			e.Type = history.Ok
			if op == history.Acquire {
				e.Fence = int64(turn + 1)
			}
			write(e)
		}
	}
	write(history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.End})
	if err := errors.Join(out.Flush(), compressed.Close()); err != nil {
		b.Fatal(err)
	}
}
