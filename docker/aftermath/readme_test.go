package aftermath

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/docker/internal/notes"
)

var update = flag.Bool("update", false, "write the README")

var elapsed = regexp.MustCompile(`; [0-9.]+ s\n`)

// TestReadmeShowsTheRealOutput of its command on containers; -update writes it.
func TestReadmeShowsTheRealOutput(t *testing.T) {
	needContainers(t)
	const path, command = "../../README.md", "    go run ./cmd/lockfault compare --testbed docker "
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "<!-- containers:")
	intro, rest, _ := strings.Cut(rest, "\n")
	want, after, closed := strings.Cut(rest, "<!-- /containers -->")
	_, args, _ := strings.Cut(before, command)
	args, _, _ = strings.Cut(args, "\n")
	if !found || !closed || args == "" {
		t.Fatal("the README shows no command on containers with its output")
	}
	cmd := exec.Command(binary, append([]string{"compare", "--testbed", "docker"}, strings.Fields(args)...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &stdout, &stderr
	runErr := cmd.Run()
	if strings.Contains(stdout.String(), "too busy for this run") {
		notes.Add("THE README'S COMMAND ON CONTAINERS SHOWS NOTHING: the machine was too busy for it")
		t.Skip(stdout.String())
	}
	if runErr != nil {
		t.Fatalf("%v\n%s%s", runErr, stdout.String(), stderr.String())
	}
	got := "```\n" + stdout.String() + "```\n"
	if *update {
		text := before + "<!-- containers:" + intro + "\n" + got + "<!-- /containers -->" + after
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if elapsed.ReplaceAllString(got, "") != elapsed.ReplaceAllString(want, "") {
		t.Errorf("the README has\n%s\nand the command prints\n%s\n-update writes it", want, got)
	}
}
