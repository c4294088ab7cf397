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

// TestReadmeShowsTheRealOutput of the commands it names; -update writes it. It also shows that virtual time works in an
// ordinary binary.
func TestReadmeShowsTheRealOutput(t *testing.T) {
	const path = "../../README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	binary := ordinaryBinary(t)
	for _, block := range []struct{ name, args string }{
		{"matrix", "compare --format matrix"},
		{"story", "run --lock redlock --scenario pause-after-acquire"},
	} {
		got := timeless(output(t, binary, block.args))
		begin := strings.Index(readme, "<!-- "+block.name+":")
		end := strings.Index(readme, "<!-- /"+block.name+" -->")
		if begin < 0 || end < begin {
			t.Fatalf("the README has no block %s", block.name)
		}
		begin += strings.Index(readme[begin:], "\n") + 1
		want := readme[begin:end]
		if block := "```\n" + got + "```\n"; *update {
			readme = readme[:begin] + block + readme[end:]
		} else if timeless(want) != block {
			t.Errorf("the block %q is not what the command prints; -update writes it\n%s", want, got)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(readme), 0o644); err != nil {
			t.Fatal(err)
		}
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
