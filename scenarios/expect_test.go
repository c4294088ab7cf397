package scenarios

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
)

const (
	held     = checker.Held
	violated = checker.Violated
)

// rules is a scenario with only these rules.
func rules(t *testing.T, lines ...string) *Scenario {
	t.Helper()
	return parse(t, ok+"expect:\n  "+strings.Join(lines, "\n  ")+"\n")
}

func TestTheLastRuleThatMatchesCountsAlone(t *testing.T) {
	s := rules(t,
		"- violated: [exclusion, effects]",
		"- fencing: on", "  violated: [exclusion]", "  held: [fence-order]",
		"- locks: [redlock, consensus]", "  held: [progress]",
		"- locks: [redlock]", "  fencing: on", "  may: [effects]",
		"- locks: [single-del]", "  also: [ownership]",
		"- locks: [single-del]", "  fencing: off", "  also: [expiry]")
	for _, tt := range []struct {
		lock    string
		fencing bool
		want    map[string]checker.Status
	}{
		{"single", false, map[string]checker.Status{"exclusion": violated, "effects": violated}},
		{"single", true, map[string]checker.Status{"exclusion": violated, "effects": held, "fence-order": held}},
		{"redlock", false, map[string]checker.Status{"exclusion": held, "effects": held, "progress": held}},
		{"redlock", true, map[string]checker.Status{"exclusion": held}},
		{"consensus", true, map[string]checker.Status{"exclusion": held, "effects": held, "progress": held}},
		{"single-del", false, map[string]checker.Status{
			"exclusion": violated, "effects": violated, "ownership": violated, "expiry": violated}},
		{"single-del", true, map[string]checker.Status{
			"exclusion": violated, "effects": held, "fence-order": held, "ownership": violated}},
	} {
		if got := s.Expected(locks.Entry{Name: tt.lock}, tt.fencing).Statuses(); !maps.Equal(got, tt.want) {
			t.Errorf("%s, fencing %v: %v, want %v", tt.lock, tt.fencing, got, tt.want)
		}
	}
}

func TestWithoutARuleBothHeadlinePropertiesAreExpectedToHold(t *testing.T) {
	want := map[string]checker.Status{"exclusion": held, "effects": held}
	for _, s := range []*Scenario{parse(t, ok), rules(t, "- locks: [redlock]", "  violated: [exclusion]")} {
		if got := s.Expected(locks.Entry{Name: "single"}, true).Statuses(); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestAlsoDemandsWhatTheRuleBeforeLeavesOpenOrSaysToHold(t *testing.T) {
	for _, before := range []string{"  may: [ownership]", "  held: [ownership]", "  violated: [exclusion]"} {
		s := rules(t, "- because: first", before, "- locks: [single-del]", "  also: [ownership]")
		if got := s.Expected(locks.Entry{Name: "single-del"}, false).Statuses()["ownership"]; got != violated {
			t.Errorf("after%s: also [ownership] expects %v", before, got)
		}
		if got := s.Expected(locks.Entry{Name: "single"}, false).Statuses()["ownership"]; got == violated {
			t.Errorf("after%s: also [ownership] reaches a lock that it does not name", before)
		}
	}
}

func TestExpectedDoesNotChangeTheRules(t *testing.T) {
	s := rules(t, "- violated: [exclusion]", "  may: [ownership, effects]", "- also: [ownership]")
	want := rules(t, "- violated: [exclusion]", "  may: [ownership, effects]", "- also: [ownership]").Expect
	for range 2 {
		if got := s.Expected(locks.Entry{Name: "single"}, true); !reflect.DeepEqual(got.Violated, []string{"exclusion", "ownership"}) {
			t.Errorf("violated: %v", got.Violated)
		}
	}
	if !reflect.DeepEqual(s.Expect, want) {
		t.Errorf("the rules are now %+v", s.Expect)
	}
}

func TestCompareSaysWhatDiffers(t *testing.T) {
	rule := Rule{Violated: []string{"exclusion"}, Held: []string{"progress"}, May: []string{"ownership"}}
	as := map[string]checker.Status{"exclusion": violated, "effects": held, "progress": held}
	for _, tt := range []struct {
		law     string
		change  map[string]checker.Status
		wording []string
	}{
		{"as expected", nil, nil},
		{"what may be may be", map[string]checker.Status{"ownership": violated}, nil},
		{"what is not spoken of may hold", map[string]checker.Status{"expiry": held}, nil},
		{"an expected violation that did not show", map[string]checker.Status{"exclusion": held},
			[]string{"exclusion: expected violated, got held"}},
		{"a headline left open", map[string]checker.Status{"effects": checker.Undecided},
			[]string{"effects: expected held, got undecided"}},
		{"a violation", map[string]checker.Status{"effects": violated}, []string{"effects: expected held, got violated"}},
		{"what must be shown to hold", map[string]checker.Status{"progress": checker.Undecided},
			[]string{"progress: expected held, got undecided"}},
		{"a violation that nobody spoke of", map[string]checker.Status{"expiry": violated},
			[]string{"expiry: violated, which was not expected"}},
		{"in the order of reports", map[string]checker.Status{"fence-order": violated, "exclusion": held},
			[]string{"exclusion: expected violated, got held", "fence-order: violated, which was not expected"}},
	} {
		verdicts := map[string]checker.Verdict{}
		for _, from := range []map[string]checker.Status{as, tt.change} {
			for p, status := range from {
				verdicts[p] = checker.Verdict{Status: status}
			}
		}
		if got := rule.Compare(verdicts); !reflect.DeepEqual(got, tt.wording) {
			t.Errorf("%s: %q, want %q", tt.law, got, tt.wording)
		}
	}
	if got := (Rule{}).Compare(nil); len(got) != 2 {
		t.Errorf("no verdicts at all: %q", got)
	}
}

// drawRule draws a rule that a file can have.
func drawRule(t *rapid.T) Rule {
	var r Rule
	if rapid.Bool().Draw(t, "for some locks") {
		r.Locks = []string{rapid.SampledFrom(locks.All).Draw(t, "lock").Name}
	}
	if rapid.Bool().Draw(t, "for one fencing") {
		fencing := rapid.Bool().Draw(t, "fencing")
		r.Fencing = &fencing
	}
	also := rapid.Bool().Draw(t, "adds")
	for _, p := range checker.All {
		switch rapid.IntRange(0, 5).Draw(t, p.Name) {
		case 0:
			if also {
				r.Also = append(r.Also, p.Name)
			} else {
				r.Violated = append(r.Violated, p.Name)
			}
		case 1:
			if !also {
				r.Held = append(r.Held, p.Name)
			}
		case 2:
			if !also {
				r.May = append(r.May, p.Name)
			}
		}
	}
	return r
}

func TestARuleAcceptsJustTheStatusesThatItDemands(t *testing.T) {
	statuses := []checker.Status{checker.Undecided, held, violated}
	rapid.Check(t, func(t *rapid.T) {
		s := &Scenario{Expect: rapid.SliceOfN(rapid.Custom(drawRule), 0, 5).Draw(t, "rules")}
		rule := s.Expected(rapid.SampledFrom(locks.All).Draw(t, "lock"), rapid.Bool().Draw(t, "fencing"))
		want, verdicts := rule.Statuses(), map[string]checker.Verdict{}
		differ := 0
		for _, p := range checker.All {
			got := rapid.SampledFrom(statuses).Draw(t, p.Name+"'s verdict")
			verdicts[p.Name] = checker.Verdict{Status: got}
			expected, demanded := want[p.Name]
			may := false
			for _, m := range rule.May {
				may = may || m == p.Name
			}
			if demanded && got != expected || !demanded && !may && got == violated {
				differ++
			}
			if demanded && expected == checker.Undecided {
				t.Errorf("%s is expected to stay open", p.Name)
			}
		}
		if got := rule.Compare(verdicts); len(got) != differ {
			t.Errorf("%d differ, but %q", differ, got)
		}
	})
}

// A lock from elsewhere is expected to do what the lock does that it is like, unless a later rule names it.
func TestLockFromElsewhereIsExpectedToDoAsTheOneItIsLike(t *testing.T) {
	s := Scenario{Expect: []Rule{
		{Locks: []string{"single"}, Violated: []string{"effects"}},
		{Locks: []string{"theirs"}, Violated: []string{"exclusion"}},
	}}
	for _, tt := range []struct {
		lock locks.Entry
		want []string
	}{
		{locks.Entry{Name: "ours", Like: "single"}, []string{"effects"}},
		{locks.Entry{Name: "theirs", Like: "single"}, []string{"exclusion"}},
		{locks.Entry{Name: "other", Like: "redlock"}, nil},
		{locks.Entry{Name: "unlike"}, nil},
	} {
		if got := s.Expected(tt.lock, false).Violated; !slices.Equal(got, tt.want) {
			t.Errorf("%s, like %q: violated %v, want %v", tt.lock.Name, tt.lock.Like, got, tt.want)
		}
	}
}
