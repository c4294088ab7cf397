package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// What is judged event by event needs no more memory for a history that is ten times as long, compressed or not; and it
// says the same, with the same lines, as when the whole is judged.
func TestCheckStreams(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("asks the kernel for the memory that a process used, in its units on Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check := func(path string, args ...string) (told string, peak int64) {
		cmd := &exec.Cmd{Path: self, Args: append([]string{"lockfault", "check", path}, args...)}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitUnexpected {
			t.Fatalf("exit status %d\n%s", code, out)
		}
		return string(out), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
	}
	for _, name := range []string{"history.jsonl", "history.jsonl.gz"} {
		short, long := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		writeTurns(t, short, 15_000, true)
		writeTurns(t, long, 150_000, true)
		properties := []string{"--property", "exclusion,fence-order"}
		_, few := check(short, properties...)
		told, many := check(long, properties...)
		whole, all := check(long, append(properties, "--resource", "stock")...)
		if many > few+few/4 {
			t.Errorf("%s: %d bytes for ten times as many events, %d before", name, many, few)
		}
		if all < 2*many {
			t.Errorf("%s: the whole takes %d bytes, the stream %d", name, all, many)
		}
		if told != whole || !strings.Contains(told, "exclusion: see ") {
			t.Errorf("%s: a stream says\n%s\nand the whole\n%s", name, told, whole)
		}
	}
}

// A line of 200 MB is refused for its length, not read.
func TestCheckHoldsNoLongLine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("asks the kernel for the memory that a process used, in its units on Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	line := `{"index":0,"time_ns":5,"process":"A","type":"invoke","op":"acquire"}` + "\n"
	if err := os.WriteFile(path, []byte(line+strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 200<<20); err != nil { // zeros, which no memory of this process need hold: a child's counts it
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--property", "exclusion"}, {"--to", "jsonl"}, {"--to", "edn"}} {
		cmd := &exec.Cmd{Path: self, Args: append([]string{"lockfault", "check", path}, args...)}
		out, _ := cmd.CombinedOutput()
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), "long.jsonl:2: line longer") || peak > 100<<20 {
			t.Errorf("check %v: %v, %d bytes of memory\n%s", args, cmd.ProcessState, peak, out)
		}
	}
}
