package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker"
)

// baseline reads a text as a baseline of the locks mine, other and my-lock.
func baseline(t *testing.T, text string) (*Baseline, error) {
	t.Helper()
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := LoadBaseline(path, []string{"mine", "other", "my-lock"}, all)
	var broken *FileError
	if errors.As(err, &broken) {
		broken.File = "b.yaml"
	} else if err != nil {
		t.Fatal(err)
	}
	return b, err
}

const entry = "known:\n  - lock: mine\n    scenario: A1\n    fencing: off\n    violated: [exclusion, effects]\n    reason: leases do not survive pauses\n"

func TestBaselineIsRead(t *testing.T) {
	b, err := baseline(t, entry)
	if err != nil {
		t.Fatal(err)
	}
	off := false
	want := KnownFailure{
		Lock: "mine", Scenario: "pause-after-acquire", Fencing: &off, Violated: []string{"exclusion", "effects"},
		Reason: "leases do not survive pauses", Line: 2,
	}
	if len(b.Known) != 1 || !reflect.DeepEqual(b.Known[0], want) {
		t.Errorf("%+v", b.Known)
	}
	if b, err = baseline(t, "known: []\n"); err != nil || len(b.Known) != 0 {
		t.Errorf("nothing known: %+v, %v", b, err)
	}
}

// TestMistakesInABaselineAreNamed with their place.
func TestMistakesInABaselineAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `b.yaml: there is no baseline in the file: begin with known: []`},
		{"knwon: []\n", `b.yaml:1:1: baseline: unknown key "knwon"; known are known`},
		{"known: yes\n", `b.yaml:1:8: known: want a list, such as "- lock: my-lock"`},
		{strings.Replace(entry, "lock: mine", "lock: mien", 1), `b.yaml:2:11: lock: "mien" is none of mine, other, my-lock` +
			`; only a call that runs a program knows its name: keep its entries in a file of its own`},
		{strings.Replace(entry, "A1", "A99", 1), `b.yaml:3:15: scenario: there is no "A99"; ` + "`lockfault list scenarios`" +
			` names them, and one from a file must be among those that are run`},
		{strings.Replace(entry, "effects", "effect", 1), `b.yaml:5:27: violated: "effect" is none of exclusion, effects,`},
		{strings.Replace(entry, "off", "never", 1), `b.yaml:4:14: fencing: "never" is none of on, off, true, false`},
		{strings.Replace(entry, "    reason: leases do not survive pauses\n", "", 1), `b.yaml:2:5: known: reason is missing;`},
		{strings.Replace(entry, "leases do not survive pauses", "''", 1), `b.yaml:2:5: known: reason is missing;`},
		{strings.Replace(entry, "leases do not survive pauses", "TODO", 1), `b.yaml:6:13: reason: write down why this failure is accepted, and until when`},
		{strings.Replace(entry, "    violated: [exclusion, effects]\n", "", 1), `b.yaml:2:5: known: violated is missing;`},
		{entry + strings.TrimPrefix(entry, "known:\n"), `b.yaml:7:5: known: exclusion of mine in pause-after-acquire is in line 2 already`},
		{entry + strings.Replace(strings.TrimPrefix(entry, "known:\n"), "    fencing: off\n", "", 1), `b.yaml:7:5: known: exclusion of mine`},
	} {
		if _, err := baseline(t, c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %s\n%s", err, c.want, c.text)
		}
	}
}

func TestRunIsJudgedByTheBaseline(t *testing.T) {
	b, err := baseline(t, entry)
	if err != nil {
		t.Fatal(err)
	}
	b.File = "b.yaml"
	const violated, held, undecided = checker.Violated, checker.Held, checker.Undecided
	for _, c := range []struct {
		law               string
		lock              string
		fencing           bool
		exclusion, effect checker.Status
		ownership         checker.Status
		unexpected        []string
		line              int
	}{
		{"what is known is as expected", "mine", false, violated, violated, held, nil, 0},
		{"what is new is not", "mine", false, violated, violated, violated, []string{"ownership: violated, which is not in b.yaml"}, 0},
		{"what is gone is not", "mine", false, violated, held, held,
			[]string{"effects: known to be violated, but held: take it out of b.yaml, line 2"}, 2},
		{"what is undecided is neither", "mine", false, violated, undecided, undecided, nil, 0},
		{"an entry is about its fencing", "mine", true, violated, held, held, []string{"exclusion: violated, which is not in b.yaml"}, 0},
		{"an entry is about its lock", "other", false, violated, held, held, []string{"exclusion: violated, which is not in b.yaml"}, 0},
		{"nothing known, nothing violated", "other", false, held, held, undecided, nil, 0},
	} {
		demands, unexpected, line := b.Against(c.lock, "pause-after-acquire", c.fencing, map[string]checker.Verdict{
			checker.Exclusion: {Status: c.exclusion}, checker.Effects: {Status: c.effect}, checker.Ownership: {Status: c.ownership},
		})
		if !reflect.DeepEqual(unexpected, c.unexpected) || line != c.line {
			t.Errorf("%s: %q, line %d", c.law, unexpected, line)
		}
		if c.lock == "mine" && !c.fencing && demands[checker.Effects] != violated {
			t.Errorf("%s: demands %v", c.law, demands)
		}
	}
}

// TestFirstBaselineWantsItsReasons: what is written from a run is read once somebody has said why.
func TestFirstBaselineWantsItsReasons(t *testing.T) {
	on := true
	var text strings.Builder
	err := WriteBaseline(&text, []KnownFailure{
		{Lock: "mine", Scenario: "pause-after-acquire", Fencing: &on, Violated: []string{"exclusion"}},
		{Lock: "other", Scenario: "minority-down", Violated: []string{"availability", "progress"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := baseline(t, text.String()); err == nil || !strings.Contains(err.Error(), "reason: write down why") {
		t.Errorf("%v\n%s", err, text.String())
	}
	b, err := baseline(t, strings.ReplaceAll(text.String(), unwritten, "because"))
	if err != nil || len(b.Known) != 2 || !*b.Known[0].Fencing || b.Known[1].Fencing != nil || len(b.Known[1].Violated) != 2 {
		t.Errorf("%+v, %v\n%s", b, err, text.String())
	}
	text.Reset()
	if err := WriteBaseline(&text, nil); err != nil {
		t.Fatal(err)
	}
	if b, err = baseline(t, text.String()); err != nil || len(b.Known) != 0 {
		t.Errorf("%+v, %v\n%s", b, err, text.String())
	}
}
