package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks are the commands whose output stands in a page, in a block with a name.
var blocks = []struct{ page, block, args string }{
	{"../../README.md", "matrix", "compare --format matrix"},
	{"../../README.md", "story", "run --lock redlock --scenario pause-after-acquire"},
	{"../../results/libraries.md", "libraries", "compare --locks single,redsync,redislock,single-watchdog,rueidislock,redlock,redsync-5 " +
		"--fencing off --format matrix"},
}

// TestReadmeShowsTheRealOutput of the commands it names, as other pages do; -update writes it. It also shows that virtual
// time works in an ordinary binary.
func TestReadmeShowsTheRealOutput(t *testing.T) {
	binary := ordinaryBinary(t)
	for _, s := range blocks {
		text, err := os.ReadFile(s.page)
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		if !strings.Contains(page, "lockfault "+s.args+"\n") {
			t.Errorf("%s does not name the command that writes its block %q: lockfault %s", s.page, s.block, s.args)
		}
		got := timeless(output(t, binary, s.args))
		begin := strings.Index(page, "<!-- "+s.block+":")
		end := strings.Index(page, "<!-- /"+s.block+" -->")
		if begin < 0 || end < begin {
			t.Fatalf("%s has no block %s", s.page, s.block)
		}
		begin += strings.Index(page[begin:], "\n") + 1
		want := page[begin:end]
		if block := "```\n" + got + "```\n"; *update {
			page = page[:begin] + block + page[end:]
		} else if timeless(want) != block {
			t.Errorf("%s: the block %q is not what the command prints; -update writes it\n%s", s.page, s.block, got)
		}
		if *update {
			if err := os.WriteFile(s.page, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pythonLock is what the Python example of locks/README.md takes for granted.
const pythonLock = `
import threading

class Lock:
    def __init__(self):
        self.mutex = threading.Lock()

    def acquire(self, blocking_timeout):
        return self.mutex.acquire(timeout=blocking_timeout)

    def release(self):
        self.mutex.release()

lock, item = Lock(), "item"

def save(item):
    pass
`

// TestPythonExampleWritesARecording that is judged: two grants that held, one that was refused, and with broken calls one of
// which nobody knows whether it happened.
func TestPythonExampleWritesARecording(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	text, err := os.ReadFile("../../locks/README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples, want the functions and their use", len(examples))
	}
	functions, use := string(examples[0][1]), string(examples[1][1])
	refused := "lock.acquire(0)\n" + strings.ReplaceAll(use, "blocking_timeout=5", "blocking_timeout=0") + "lock.release()\n"
	breaks := "def save(item):\n    raise TimeoutError()\n" + use
	dir := t.TempDir()
	program := exec.Command(python, "-c", pythonLock+functions+use+use+refused+breaks)
	program.Dir = dir
	if out, err := program.CombinedOutput(); err == nil || !strings.Contains(string(out), "TimeoutError") {
		t.Fatalf("%v, want the error of its last call\n%s", err, out)
	}
	recorded, err := os.ReadFile(filepath.Join(dir, "lock.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{
		`"op": "start"`: 1, `"op": "acquire"`: 4, `"op": "write"`: 3, `"op": "release"`: 3, `"op": "end"`: 1,
		`"outcome": "ok"`: 8, `"outcome": "fail"`: 1, `"outcome": "unknown"`: 1,
	} {
		if got := strings.Count(string(recorded), what); got != want {
			t.Errorf("%s: %d times, want %d\n%s", what, got, want, recorded)
		}
	}
	verdict := output(t, "lockfault", "check --clock-error 20ms --property exclusion "+filepath.Join(dir, "lock.jsonl"))
	if !strings.Contains(verdict, "3 grants, and no two clients") {
		t.Errorf("%s\n%s", verdict, recorded)
	}
}

// ordinaryBinary builds the command as a user does: no test binary, no race detector.
func ordinaryBinary(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockfault")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// output of a command that must go as expected.
func output(t *testing.T, binary, args string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(binary, strings.Fields(args)...)
	c.Dir, c.Stdout, c.Stderr = t.TempDir(), &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("lockfault %s: %v\n%s", args, err, stderr.String())
	}
	return stdout.String()
}

var (
	elapsed = regexp.MustCompile(`; [0-9.]+ s\n`)
	folder  = regexp.MustCompile(`\d{8}T\d{6}Z`)
)

// timeless takes out what differs from run to run.
func timeless(text string) string {
	text = elapsed.ReplaceAllString(text, "; 5.2 s\n")
	return folder.ReplaceAllString(text, "20261130T180000Z")
}
