package locktest_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestTheExampleFailsWithItsBugOnly, and what it says is in testdata/bug.golden: a reader must understand the bug from it
// alone.
func TestTheExampleFailsWithItsBugOnly(t *testing.T) {
	if out, err := exec.Command("go", "test", "-count=1", "./example").CombinedOutput(); err != nil {
		t.Errorf("without the bug: %v\n%s", err, out)
	}
	kept := t.TempDir()
	out, err := exec.Command("go", "test", "-count=1", "-tags=bug", "-artifacts", "-outputdir="+kept, "-run=TestLock/^(contract|pause-after-acquire|release-deletes-successor)$",
		"./example").CombinedOutput()
	if err == nil {
		t.Fatalf("passes with the bug:\n%s", out)
	}
	if n := histories(t, kept); n != 2 { // of the two scenarios
		t.Errorf("%d histories were kept", n)
	}
	got := regexp.MustCompile(`(\(|\t)[0-9.]+s\)?|[a-z]+\.go:\d+: `).ReplaceAllString(string(out), "")
	const golden = "testdata/bug.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("with the bug it says something else; -update writes it\n%s", got)
	}
}

// histories counts the histories in a folder that can be read whole.
func histories(t *testing.T, folder string) (n int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "history.jsonl" {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		events, _, err := history.ReadAll(file, path)
		if len(events) > 0 && events[len(events)-1].Op == history.End {
			n++
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}
