package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// peakFile is the environment variable that has lockfault write down how much memory it used, in that file.
const peakFile = "LOCKFAULT_TEST_PEAK"

// peakMemory is the most memory that this process had since it became this program, as /proc/self/status has it. What wait
// tells of a child (ru_maxrss) includes what its parent had when the child was made.
func peakMemory() []byte {
	status, _ := os.ReadFile("/proc/self/status")
	return regexp.MustCompile(`VmHWM:.*`).Find(status)
}

// ordinaryTests builds the test binary without the race detector, which takes several times the memory.
func ordinaryTests(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockfault.test")
	if out, err := exec.Command("go", "test", "-c", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return path
}

// checkInProcess has a process of its own check a file, and tells how much memory it used, in bytes.
func checkInProcess(t *testing.T, binary string, args ...string) (state *os.ProcessState, told string, peak int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peak")
	cmd := &exec.Cmd{Path: binary, Args: append([]string{"lockfault", "check"}, args...), Env: append(os.Environ(), peakFile+"="+path)}
	out, _ := cmd.CombinedOutput()
	line, err := os.ReadFile(path)
	if err == nil {
		_, err = fmt.Sscanf(string(line), "VmHWM: %d kB", &peak)
	}
	if err != nil {
		t.Fatalf("%q: %v\n%s", line, err, out)
	}
	return cmd.ProcessState, string(out), peak << 10
}

// What is judged event by event needs no more memory for a history that is ten times as long, compressed or not; and it
// says the same, with the same lines, as when the whole is judged.
func TestCheckStreams(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("asks Linux for the memory that a process used")
	}
	binary := ordinaryTests(t)
	check := func(path string, args ...string) (told string, peak int64) {
		state, told, peak := checkInProcess(t, binary, append([]string{path}, args...)...)
		if code := state.ExitCode(); code != exitUnexpected {
			t.Fatalf("exit status %d\n%s", code, told)
		}
		return told, peak
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
		// Room for the events is made once: growing would hold them twice.
		if most := int64(600_000*eventBytes + 128<<20); all > most && name == "history.jsonl" {
			t.Errorf("%s: the whole takes %d bytes, more than %d", name, all, most)
		}
		if told != whole || !strings.Contains(told, "exclusion: see ") {
			t.Errorf("%s: a stream says\n%s\nand the whole\n%s", name, told, whole)
		}
	}
}

// A line of 200 MB is refused for its length, not read.
func TestCheckHoldsNoLongLine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("asks Linux for the memory that a process used")
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	line := `{"index":0,"time_ns":5,"process":"A","type":"invoke","op":"acquire"}` + "\n"
	if err := os.WriteFile(path, []byte(line+strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 200<<20); err != nil { // zeros, which no memory of this process need hold: a child's counts it
		t.Fatal(err)
	}
	binary := ordinaryTests(t)
	for _, args := range [][]string{nil, {"--property", "exclusion"}, {"--to", "jsonl"}, {"--to", "edn"}} {
		state, told, peak := checkInProcess(t, binary, append([]string{path}, args...)...)
		if state.ExitCode() != exitFailed || !strings.Contains(told, "long.jsonl:2: line longer") || peak > 100<<20 {
			t.Errorf("check %v: %v, %d bytes of memory\n%s", args, state, peak, told)
		}
	}
}
