package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeShowsTheRealOutput of the commands it names; -update writes it.
func TestReadmeShowsTheRealOutput(t *testing.T) {
	path, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for _, block := range []struct{ name, args string }{
		{"matrix", "compare --format matrix"},
		{"story", "run --lock redlock --scenario pause-after-acquire"},
	} {
		got := timeless(output(t, block.args))
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

// output of a command that must go as expected.
func output(t *testing.T, args string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), strings.Fields(args), &stdout, &stderr); code != exitExpected {
		t.Fatalf("lockfault %s: exit status %d\n%s", args, code, stderr.String())
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
