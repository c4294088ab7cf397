package scenarios

import (
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

func TestEveryScenarioOfTheCatalogueIsComplete(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(catalogueFiles, "catalogue/*")
	if err != nil || len(files) != len(all) || len(all) == 0 {
		t.Errorf("%d files (%v), %d scenarios", len(files), err, len(all))
	}
	code, name := regexp.MustCompile(`^[A-Z][0-9]{1,2}$`), regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	codes, titles := map[string]string{}, map[string]string{}
	for _, s := range all {
		if !name.MatchString(s.Name) {
			t.Errorf("%s: want words with hyphens", s.Name)
		}
		if !code.MatchString(s.Code) || codes[s.Code] != "" {
			t.Errorf("%s has the code %q, as has %q; want one of its own", s.Name, s.Code, codes[s.Code])
		}
		if titles[s.Title] != "" || strings.HasSuffix(s.Title, ".") {
			t.Errorf("%s has the title %q, as has %q", s.Name, s.Title, titles[s.Title])
		}
		codes[s.Code], titles[s.Title] = s.Name, s.Name
		if s.Source == "" {
			t.Errorf("%s does not say who described it", s.Name)
		}
		if len(s.Expect) == 0 {
			t.Errorf("%s does not say what is expected", s.Name)
		}
	}
}

func TestEveryScenarioOfTheCatalogueShowsSomethingOnSomeLock(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !slices.ContainsFunc(places, func(p nemesis.Place) bool { _, err := s.Expand(1, p); return err == nil }) {
			t.Errorf("%s runs nowhere", s.Name)
		}
	}
}

// A rule that others hide from every lock is a mistake; the first may say what is so anyway.
func TestEveryRuleOfTheCatalogueMattersToSomeRun(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for i, r := range s.Expect {
			without := *s
			without.Expect = slices.Delete(slices.Clone(s.Expect), i, i+1)
			if i > 0 && reflect.DeepEqual(expectations(s), expectations(&without)) {
				t.Errorf("%s: rule %d, %+v, matters to no run", s.Name, i+1, r)
			}
		}
	}
}

// expectations are the rules for all runs.
func expectations(s *Scenario) []Rule {
	var rules []Rule
	for _, l := range locks.All {
		rules = append(rules, s.Expected(l, false), s.Expected(l, true))
	}
	return rules
}

func TestTheCatalogueIsInTheOrderOfCodes(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, s := range all {
		codes = append(codes, s.Code)
	}
	two, ten := slices.Index(codes, "A2"), slices.Index(codes, "A12")
	if two < 0 || ten < two || slices.Index(codes, "B1") < ten {
		t.Errorf("A2, A12, B1 come in the order of %v", codes)
	}
	if a, b := (&Scenario{Name: "a"}).order(), (&Scenario{Name: "z", Code: "Z99"}).order(); a < b {
		t.Error("what has no code does not come last")
	}
}

func TestAScenarioIsFoundByNameAndCode(t *testing.T) {
	for _, name := range []string{"pause-after-acquire", "A1", "a1"} {
		if s, err := Find(name); err != nil || s.Name != "pause-after-acquire" {
			t.Errorf("%s finds %v (%v)", name, s, err)
		}
	}
	for _, name := range []string{"", "A", "pause-after", "A01"} {
		if s, err := Find(name); err == nil || !strings.Contains(err.Error(), "lockfault list scenarios") {
			t.Errorf("%q finds %v (%v)", name, s, err)
		}
	}
}
