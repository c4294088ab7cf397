package aftermath

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/docker"
	"github.com/lockfault/lockfault/docker/internal/notes"
	"github.com/lockfault/lockfault/results"
)

// binary is the command as a user builds it.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(notes.Wanted) == "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "lockfault-aftermath-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "lockfault")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/lockfault").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// needContainers skips a test without an engine or an image, and says so.
func needContainers(t *testing.T) {
	t.Helper()
	if os.Getenv(notes.Wanted) == "" {
		t.Skip(notes.Alone)
	}
	err := docker.Ready(context.Background(), docker.Config{})
	var unavailable *docker.Unavailable
	if errors.As(err, &unavailable) && os.Getenv(notes.Required) == "" {
		notes.Add(notes.Skipped, err)
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// world is what there is on the machine that a run could leave behind.
type world struct{ containers, networks, processes []string }

func look(t *testing.T) world {
	t.Helper()
	return world{
		containers: engine(t, "ps", "--all", "--quiet", "--no-trunc"),
		networks:   engine(t, "network", "ls", "--quiet", "--no-trunc"),
		processes:  ours(),
	}
}

func engine(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("docker", args...).Output()
	if err != nil {
		t.Fatalf("docker %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}

// ours are the living processes that run the command, clients included.
func ours() []string {
	var pids []string
	programs, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, program := range programs {
		if target, err := os.Readlink(program); err == nil && target == binary {
			pids = append(pids, filepath.Base(filepath.Dir(program)))
		}
	}
	return pids
}

// nothingNew compares what there is with what there was.
func nothingNew(t *testing.T, before world) {
	t.Helper()
	after := look(t)
	for _, kind := range []struct {
		name          string
		before, after []string
	}{
		{"containers", before.containers, after.containers},
		{"networks", before.networks, after.networks},
		{"processes", before.processes, after.processes},
	} {
		left := slices.DeleteFunc(kind.after, func(id string) bool { return slices.Contains(kind.before, id) })
		if len(left) > 0 {
			t.Errorf("%s left behind: %v", kind.name, left)
		}
	}
}

// underWay is a run of the command.
type underWay struct {
	*exec.Cmd
	out            string // folder of its files
	stdout, stderr bytes.Buffer
}

// start begins a command with its results in a folder.
func start(t *testing.T, out string, args ...string) *underWay {
	t.Helper()
	r := &underWay{out: out}
	r.Cmd = exec.Command(binary, append(args, "--testbed", "docker", "--out", out)...)
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Process.Kill() })
	return r
}

// slow is a comparison whose first run takes half a minute, of which the holder stands still for fifteen seconds.
var slow = []string{"compare", "--locks", "single,single-del", "--scenarios", "A1", "--fencing", "off", "--speed", "1"}

// history is the file of the run that is under way.
func (r *underWay) history() string {
	return filepath.Join(r.out, "single", "pause-after-acquire", "unfenced", results.HistoryFile)
}

// paused tells whether the first run has come to the pause of its holder.
func (r *underWay) paused() bool {
	text, _ := os.ReadFile(r.history())
	return bytes.Contains(text, []byte(`"op":"pause"`))
}

// awaitState waits until the run has come so far.
func (r *underWay) awaitState(t *testing.T, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !come(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came about that %s\n%s", what, r.stderr.String())
		}
	}
}

// ends waits for the end, and returns the exit status and how long it took.
func (r *underWay) ends(t *testing.T) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	guard := time.AfterFunc(10*time.Minute, func() { _ = r.Process.Kill() })
	defer guard.Stop()
	_ = r.Wait()
	return r.ProcessState.ExitCode(), time.Since(began)
}

// partial is a history that was cut off: it can be read, and nothing is taken for held.
func partial(t *testing.T, path string) {
	t.Helper()
	cmd := exec.Command(binary, "check", path, "--format", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Fatalf("check of the partial history: exit status %d, want 2 (undecided): %s", code, stderr.String())
	}
	var report results.Report
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	for name, v := range report.Runs[0].Verdicts {
		if v.Status != checker.Undecided {
			t.Errorf("%s is %v in a history that was cut off: %s", name, v.Status, v.Reason)
		}
	}
	if !strings.Contains(stderr.String(), "the run was cut off here") {
		t.Errorf("nothing says that the history was cut off: %q", stderr.String())
	}
}

// again runs a small comparison into the same folder at once.
func again(t *testing.T, out string) {
	t.Helper()
	r := start(t, out, "compare", "--locks", "single", "--scenarios", "N3", "--fencing", "off", "--speed", "1")
	if code, _ := r.ends(t); code != 0 {
		t.Errorf("the next comparison: exit status %d\n%s%s", code, r.stdout.String(), r.stderr.String())
	}
}

func TestSignalLeavesNothingAndKeepsTheHistory(t *testing.T) {
	needContainers(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			before := look(t)
			r := start(t, t.TempDir(), slow...)
			r.awaitState(t, "the holder is paused", r.paused)
			_ = r.Process.Signal(signal)
			code, took := r.ends(t)
			if code != 3 || took > 10*time.Second {
				t.Errorf("exit status %d after %v, want 3 within 10 s\n%s", code, took, r.stderr.String())
			}
			t.Logf("ended %v after the signal", took)
			nothingNew(t, before)
			for _, want := range []string{"interrupted", "0 of 2 runs", "as far as it got: " + r.history()} {
				if !strings.Contains(r.stderr.String(), want) {
					t.Errorf("standard error is %q, want %q in it", r.stderr.String(), want)
				}
			}
			partial(t, r.history())
			again(t, r.out)
			nothingNew(t, before)
		})
	}
}

// A container that the engine is still making when the signal comes is removed too.
func TestSignalWhileServersStartLeavesNothing(t *testing.T) {
	needContainers(t)
	for _, servers := range []int{0, 1, 4, 8} {
		t.Run(fmt.Sprintf("%d are there", servers), func(t *testing.T) {
			before := look(t)
			r := start(t, t.TempDir(), slow...)
			r.awaitState(t, "the servers start", func() bool {
				return len(engine(t, "network", "ls", "--quiet")) > len(before.networks) &&
					len(engine(t, "ps", "--all", "--quiet")) >= len(before.containers)+servers
			})
			_ = r.Process.Signal(syscall.SIGINT)
			if code, took := r.ends(t); code != 3 || took > 10*time.Second {
				t.Errorf("exit status %d after %v, want 3 within 10 s\n%s", code, took, r.stderr.String())
			}
			nothingNew(t, before)
		})
	}
}

func TestKilledRunIsCleanedAway(t *testing.T) {
	needContainers(t)
	before := look(t)
	r := start(t, t.TempDir(), slow...)
	r.awaitState(t, "the holder is paused", r.paused)
	if n := len(ours()) - len(before.processes); n != 4 {
		t.Errorf("%d processes at work, want the harness, two clients and the probe", n)
	}
	clean := func(want ...string) {
		t.Helper()
		out, err := exec.Command(binary, "clean").CombinedOutput()
		if err != nil {
			t.Errorf("clean: %v", err)
		}
		for _, want := range want {
			if !strings.Contains(string(out), want) {
				t.Errorf("clean says %q, want %q in it", out, want)
			}
		}
	}
	clean("removed 0 containers and 0 networks", "whose processes still run") // it spares who lives
	_ = r.Process.Kill()
	r.ends(t)
	r.awaitState(t, "the clients have ended with their harness, also the one that stands still", func() bool {
		return len(ours()) == len(before.processes)
	})
	if len(engine(t, "ps", "--quiet")) <= len(before.containers) {
		t.Error("no container is left; this test shows nothing")
	}
	clean("removed ", " containers and 1 networks\n")
	nothingNew(t, before)
	partial(t, r.history())
	again(t, r.out)
	nothingNew(t, before)
}

// TestOneRunDoesNotDisturbAnother: one is interrupted while the other is under way, which goes as expected.
func TestOneRunDoesNotDisturbAnother(t *testing.T) {
	needContainers(t)
	before := look(t)
	one := start(t, t.TempDir(), "compare", "--locks", "single", "--scenarios", "A1", "--fencing", "both", "--speed", "1")
	one.awaitState(t, "the first one's holder is paused", one.paused)
	other := start(t, t.TempDir(), slow...)
	other.awaitState(t, "the other one's holder is paused", other.paused)
	_ = other.Process.Signal(syscall.SIGINT)
	if code, _ := other.ends(t); code != 3 {
		t.Errorf("the interrupted one: exit status %d\n%s", code, other.stderr.String())
	}
	if code, _ := one.ends(t); code != 0 {
		t.Errorf("the other one: exit status %d\n%s%s", code, one.stdout.String(), one.stderr.String())
	}
	nothingNew(t, before)
}

// TestFullDiskIsSaid: nothing is lost in silence, and nothing left behind.
func TestFullDiskIsSaid(t *testing.T) {
	needContainers(t)
	if exec.Command("unshare", "--mount", "true").Run() != nil {
		t.Skip("cannot mount a small disk")
	}
	before := look(t)
	disk := t.TempDir()
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=64k none "$1" && head -c 48k /dev/zero >"$1/filler" && shift && exec "$@"`,
		"sh", disk, binary, "run", "--testbed", "docker", "--lock", "single", "--scenario", "N3", "--fencing", "off", "--speed", "3",
		"--out", filepath.Join(disk, "out"))
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(out), "history.jsonl") ||
		!strings.Contains(string(out), "no space left on device") {
		t.Errorf("exit status %d, want 3: %s", code, out)
	}
	t.Logf("%s", out)
	nothingNew(t, before)
}
