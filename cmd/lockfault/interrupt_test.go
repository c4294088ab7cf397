package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/results"
)

// running is a comparison under way, of which some runs are done; the last one never ends.
type running struct {
	*exec.Cmd
	out      string // its folder
	children []int
	stderr   bytes.Buffer
}

// startLong starts a comparison with more runs than it can ever do: each child sooner or later meets a lock that spins.
func startLong(t *testing.T, stdout *os.File) *running {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc to find processes in")
	}
	r := &running{out: t.TempDir()}
	r.Cmd = exec.Command("lockfault", "compare", "--out", r.out, "--fencing", "off", "--locks", "single,consensus,makes-leases-up,spins",
		"--scenarios", "testdata/two-sections.yaml,A1,A2,A3,D4")
	r.Env = append(os.Environ(), withNaughtyLocks+"=1", noLimit+"=1")
	r.Stdout, r.Stderr = stdout, &r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Process.Kill() })
	eventually(t, "three runs are judged and one spins", func() bool {
		judged, _ := filepath.Glob(filepath.Join(r.out, "*", "*", "*", results.VerdictsFile))
		begun, _ := filepath.Glob(filepath.Join(r.out, "spins", "*", "*", results.HistoryFile))
		return len(judged) >= 3 && len(begun) > 0
	})
	if r.children = childrenOf(r.Process.Pid); len(r.children) == 0 {
		t.Fatal("no children at work")
	}
	return r
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came about that %s", what)
		}
	}
}

// childrenOf lists the living children of a process.
func childrenOf(parent int) []int {
	var children []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		if pid, state, of := readStat(file); of == parent && state != "Z" {
			children = append(children, pid)
		}
	}
	return children
}

func alive(pid int) bool {
	_, state, _ := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && state != "Z"
}

// readStat reads a process's number, state and parent; all zero if it is gone.
func readStat(file string) (pid int, state string, parent int) {
	text, _ := os.ReadFile(file)
	_, behindName, _ := strings.Cut(string(text), ") ")
	_, _ = fmt.Sscan(string(text), &pid)
	_, _ = fmt.Sscan(behindName, &state, &parent)
	return pid, state, parent
}

func (r *running) noChildIsLeft(t *testing.T) {
	t.Helper()
	for _, pid := range r.children {
		eventually(t, fmt.Sprintf("child %d is gone", pid), func() bool { return !alive(pid) })
	}
}

func TestSignalEndsAComparisonAtOnceAndKeepsWhatWasJudged(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			r := startLong(t, nil)
			for range 2 { // a terminal sends it to all; they leave it to the parent
				for _, pid := range r.children {
					_ = syscall.Kill(pid, signal)
				}
				time.Sleep(100 * time.Millisecond)
			}
			for _, pid := range r.children {
				if !alive(pid) {
					t.Errorf("child %d has not left the signal to its parent", pid)
				}
			}
			began := time.Now()
			if err := r.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = r.Wait()
			if code, took := r.ProcessState.ExitCode(), time.Since(began); code != exitFailed || took > 5*time.Second {
				t.Errorf("exit status %d after %v, want %d at once", code, took, exitFailed)
			}
			r.noChildIsLeft(t)
			report, err := results.Load(r.out)
			if err != nil {
				t.Fatal(err)
			}
			made, all := len(report.Runs), len(report.Runs)+report.NotRun
			if made < 3 || all != 20 {
				t.Errorf("the store has %d of %d runs, want at least 3 of 20", made, all)
			}
			if want := fmt.Sprintf("interrupted; what was judged until then is shown and kept: %d of %d runs", made, all); !strings.Contains(r.stderr.String(), want) {
				t.Errorf("standard error is %q, want %q in it", r.stderr.String(), want)
			}
			if want := "as far as it got: " + filepath.Join(r.out, "spins"); !strings.Contains(r.stderr.String(), want) {
				t.Errorf("standard error is %q, want %q in it", r.stderr.String(), want)
			}
			for _, run := range report.Runs {
				if run.Outcome() == results.Failed {
					t.Errorf("%s is blamed for the signal: %s", run.Key(), run.Error)
				}
			}
		})
	}
}

// The report of what was judged may take its time, here for ever: nobody reads it.
func TestSecondSignalEndsTheProcess(t *testing.T) {
	t.Parallel()
	r := startLong(t, fullPipe(t))
	_ = r.Process.Signal(syscall.SIGINT)
	eventually(t, "the verdicts are stored", func() bool { report, err := results.Load(r.out); return err == nil && len(report.Runs) > 0 })
	time.Sleep(100 * time.Millisecond)
	if !alive(r.Process.Pid) {
		t.Fatal("ended though its report was not read; the second signal proves nothing")
	}
	_ = r.Process.Signal(syscall.SIGINT)
	eventually(t, "the process ends", func() bool { return !alive(r.Process.Pid) })
	_ = r.Wait()
	if status := r.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("ended by %v, want the signal", r.ProcessState)
	}
	r.noChildIsLeft(t)
}

// fullPipe is the end of a pipe into which nothing more goes.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); in.Close() })
	_ = in.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := in.Write(make([]byte, 1<<21)); err == nil {
		t.Skip("pipes here take more than two megabytes")
	}
	return in
}

func TestKilledParentLeavesNoChildrenAndAFolderThatCanBeUsed(t *testing.T) {
	t.Parallel()
	r := startLong(t, nil)
	_ = r.Process.Kill()
	_ = r.Wait()
	r.noChildIsLeft(t)
	letter := filepath.Join(r.out, "single", "letter.txt")
	if err := os.WriteFile(letter, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := exec.Command("lockfault", "compare", "--out", r.out, "--fencing", "off", "--locks", "consensus", "--scenarios", "N3,A1")
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if files, _ := filepath.Glob(filepath.Join(r.out, "*", "*", "*", "*")); len(files) != 6 {
		t.Errorf("the folder holds %v, want the files of two runs", files)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
}
