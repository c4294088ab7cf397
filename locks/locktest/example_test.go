package locktest_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestTheExampleFailsWithItsBugOnly, and what it says is in testdata/bug.golden: a reader must understand the bug from it
// alone.
func TestTheExampleFailsWithItsBugOnly(t *testing.T) {
	if out, err := exec.Command("go", "test", "-count=1", "./example").CombinedOutput(); err != nil {
		t.Errorf("without the bug: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "test", "-count=1", "-tags=bug", "-run=TestLock/^(contract|pause-after-acquire|release-deletes-successor)$",
		"./example").CombinedOutput()
	if err == nil {
		t.Fatalf("passes with the bug:\n%s", out)
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
