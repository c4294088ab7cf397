// Package adapters_test holds the adapters to the protocol and, on containers, to the catalogue. See `make test-adapters`.
package adapters_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// adapters are run from the top of the repository.
var adapters = []struct {
	name, file string
	fails      string // what adapter-check finds; empty if it is a good one
}{
	{"redis-py", "python/redis_py.py", ""},
	{"redlock-py", "python/redlock.py", ""},
	{"naive-py", "python/naive.py", "FAIL  releases-own"},
	{"redlock-php", "php/redlock.php", ""},
	{"naive-php", "php/naive.php", "FAIL  releases-own"},
}

const top = "../.."

// Environment variables: these tests are wanted, though they run in real time; what would be skipped fails instead; the
// interpreter of Python.
const (
	testDocker    = "LOCKFAULT_TEST_DOCKER"
	requireDocker = "LOCKFAULT_REQUIRE_DOCKER"
	pythonCommand = "LOCKFAULT_PYTHON"
)

// command of an adapter. Without its interpreter or Redis client the test is skipped, and says so.
func command(t *testing.T, file string) string {
	t.Helper()
	needQuiet(t)
	interpreter, probe := "php", []string{"-r", "exit(extension_loaded('redis') ? 0 : 1);"}
	if strings.HasSuffix(file, ".py") {
		// The distribution's Python comes first: its package is of no use to another one.
		interpreter, probe = "/usr/bin/python3", []string{"-c", "import redis"}
		if p := os.Getenv(pythonCommand); p != "" {
			interpreter = p
		}
	}
	if err := exec.Command(interpreter, probe...).Run(); err != nil {
		why := fmt.Sprintf("%s has no Redis client (%v): make adapters-deps", interpreter, err)
		if os.Getenv(requireDocker) != "" {
			t.Fatal(why)
		}
		fmt.Fprintf(os.Stderr, "\nSKIPPED, THE ADAPTERS ARE NOT TESTED: %s: %s\n\n", t.Name(), why)
		t.Skip(why)
	}
	return interpreter + " locks/adapters/" + file
}

// needQuiet skips what runs in real time unless it was asked for, alone.
func needQuiet(t *testing.T) {
	t.Helper()
	if os.Getenv(testDocker) == "" {
		t.Skip("in real time, with nothing beside it: make test-adapters")
	}
}

var binary string

func TestMain(m *testing.M) {
	if os.Getenv(testDocker) == "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "lockfault-adapters")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "lockfault")
	build := exec.Command("go", "build", "-o", binary, "./cmd/lockfault")
	build.Dir, build.Stderr = top, os.Stderr
	code := 1
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// lockfault runs the command and returns its exit status and what it wrote.
func lockfault(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = top, &out, &said
	err := cmd.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// TestAdaptersAreChecked: the good ones pass, and the naive ones are caught.
func TestAdaptersAreChecked(t *testing.T) {
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) {
			code, stdout, stderr := lockfault(t, "adapter-check", command(t, a.file))
			switch {
			case a.fails == "" && (code != 0 || strings.Contains(stdout, "FAIL")):
				t.Errorf("exit status %d\n%s%s", code, stdout, stderr)
			case a.fails != "" && (code != 1 || !strings.Contains(stdout, a.fails)):
				t.Errorf("exit status %d, want 1 and %q\n%s%s", code, a.fails, stdout, stderr)
			}
		})
	}
}

// TestAdaptersGiveTheCataloguesVerdicts on containers, in every scenario that containers support: those of the lock in Go
// that each is like.
func TestAdaptersGiveTheCataloguesVerdicts(t *testing.T) {
	for _, a := range adapters {
		t.Run(a.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			code, stdout, stderr := lockfault(t, "compare", "--lock", "exec:"+command(t, a.file), "--fencing", "off", "--format", "json",
				"--quiet", "--out", dir)
			var report struct {
				Runs []struct {
					Lock, Scenario, Unsupported, Error string
					AsExpected                         bool `json:"as_expected"`
					Unexpected                         []string
					Verdicts                           map[string]struct{ Status string }
				}
			}
			if err := json.Unmarshal([]byte(stdout), &report); err != nil {
				unavailable(t, stderr)
				t.Fatalf("exit status %d: %v\n%s", code, err, stderr)
			}
			judged, strained, harmed := 0, 0, 0
			for _, r := range report.Runs {
				switch {
				case r.Lock != a.name:
					t.Errorf("the lock is called %s", r.Lock)
				case r.Unsupported != "":
				case strings.Contains(r.Error, "the machine was too busy"):
					strained++
					t.Logf("%s: %s", r.Scenario, r.Error)
				case r.Error != "" || !r.AsExpected:
					t.Errorf("%s: %s%s", r.Scenario, r.Error, strings.Join(r.Unexpected, "; "))
				default:
					judged++
				}
				if r.Verdicts["ownership"].Status == "violated" || r.Verdicts["progress"].Status == "violated" {
					harmed++
				}
			}
			t.Logf("%d as expected, %d with a machine too busy, of %d", judged, strained, len(report.Runs))
			if judged < 12 || 4*strained > judged {
				t.Errorf("only %d runs show something", judged)
			}
			if a.fails != "" && harmed == 0 {
				t.Error("no release of another's lease, and no lock left for ever: this lock is to be caught")
			}
		})
	}
}

// unavailable skips a test for which there is no container testbed, unless it is required.
func unavailable(t *testing.T, stderr string) {
	t.Helper()
	for _, why := range []string{"start Docker", "make images", "reaper of testcontainers"} {
		if strings.Contains(stderr, why) && os.Getenv(requireDocker) == "" {
			fmt.Fprintf(os.Stderr, "\nSKIPPED, THE ADAPTERS ARE NOT TESTED ON CONTAINERS: %s\n\n", stderr)
			t.Skip(stderr)
		}
	}
}
