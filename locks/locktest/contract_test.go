//go:debug randseednop=0

package locktest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/locks"
)

// breaks are the laws that some locks are here to break.
var breaks = map[string][]string{
	"setnx-expire": {"foreign-lease", "late-release", "late-extend"},
	"single-del":   {"foreign-lease", "late-release"},
}

// TestEveryLockKeepsTheContract but those that are known not to, and they do not.
func TestEveryLockKeepsTheContract(t *testing.T) {
	for _, e := range locks.All {
		if e.Servers == locks.NoServer {
			continue
		}
		options := []Option{On(e.Servers)}
		if e.Fences {
			options = append(options, Fencing())
		}
		s := newSettings(e.Name, e.New, options)
		for _, l := range laws {
			for _, fencing := range s.fencings() {
				err := s.keep(l, fencing)
				if errors.Is(err, locks.ErrUnsupported) {
					err = nil
				}
				if broken := err != nil; broken != slices.Contains(breaks[e.Name], l.name) {
					t.Errorf("%s, %s, fencing %v: %v", e.Name, l.name, fencing, err)
				}
			}
		}
	}
}

// TestTheReadmeListsTheLaws, word for word.
func TestTheReadmeListsTheLaws(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, l := range laws {
		fmt.Fprintf(&table, "| `%s` | %s |\n", l.name, l.claim)
	}
	if !strings.Contains(string(readme), "|---|---|\n"+table.String()+"\n") {
		t.Errorf("want this table:\n%s", table.String())
	}
}
