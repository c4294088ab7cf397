package locks

import (
	"os"
	"strings"
	"testing"
)

// TestLibrariesAreOfTheVersionsThatTheyAreSaidToBe, which are those that go.mod builds with.
func TestLibrariesAreOfTheVersionsThatTheyAreSaidToBe(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "require "), " //")
		required[line] = true
		if strings.Contains(line, "=>") {
			for _, e := range All {
				if path, _, _ := strings.Cut(e.Module, " "); path != "" && strings.HasPrefix(line, "replace "+path) {
					t.Errorf("%s is not unmodified: %s", path, line)
				}
			}
		}
	}
	libraries := 0
	for _, e := range All {
		if e.Module == "" {
			continue
		}
		libraries++
		if !required[e.Module] {
			t.Errorf("%s: go.mod does not require %q", e.Name, e.Module)
		}
		like, err := Find(e.Like)
		if err != nil || like.Module != "" || like.Servers != e.Servers {
			t.Errorf("%s is like %q, which is no built-in lock on the same servers: %v", e.Name, e.Like, err)
		}
	}
	if libraries < 4 {
		t.Errorf("only %d libraries", libraries)
	}
}
