package locktest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

func find(t *testing.T, name string) locks.Entry {
	t.Helper()
	e, err := locks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// failures of a lock, as scenario/property, over some scenarios without fences.
func failures(t *testing.T, s *settings, chosen []*scenarios.Scenario) (failed []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{}
	for _, scenario := range chosen {
		r, _, err := s.run(runner.Plan{Lock: s.entry, Scenario: scenario, Seed: s.seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.outcome.Unsupported != "" {
			continue
		}
		if r.outcome.Err != nil {
			t.Errorf("%s: %v", scenario.Name, r.outcome.Err)
		}
		for _, p := range checker.All {
			if f := r.judge(p); f.fails {
				name := scenario.Code + "/" + p.Name
				failed = append(failed, name)
				texts[name] = f.text
			}
		}
	}
	return failed, texts
}

func catalogue(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	all, err := scenarios.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestALockOfItsKindPasses the catalogue; one with a bug fails where the bug shows, and nowhere else.
func TestALockOfItsKindPasses(t *testing.T) {
	for _, law := range []struct {
		lock, like string
		fails      []string
	}{
		{"single", "single", nil},
		{"single-watchdog", "single", nil}, // better than its kind
		{"single-watchdog", "single-watchdog", nil},
		{"redlock", "redlock", nil},
		{"redsync", "single", nil}, // better in A3
		{"redsync-5", "redlock", nil},
		{"redislock", "single", nil},
		{"consensus", "consensus", nil},
		{"failover", "failover", nil},
		{"rueidislock", "single-watchdog", []string{"A10/exclusion", "A10/effects"}},
		{"single-del", "single", []string{"A1/ownership", "A3/ownership", "A4/ownership", "A7/ownership", "A12/ownership", "B1/ownership",
			"B2/ownership", "D1/exclusion", "D1/effects", "D1/ownership", "E1/ownership", "E8/ownership"}},
		{"single-getdel", "single", []string{"D2/exclusion", "D2/effects", "D2/ownership"}},
		{"single", "single-watchdog", []string{"A12/exclusion", "A12/effects"}},
	} {
		t.Run(law.lock+" like "+law.like, func(t *testing.T) {
			e := find(t, law.lock)
			s := newSettings("T", e.New, []Option{On(e.Servers), Like(law.like)})
			failed, texts := failures(t, s, catalogue(t))
			for _, f := range failed {
				if !slices.Contains(law.fails, f) {
					t.Errorf("fails %s\n%s", f, texts[f])
				}
			}
			for _, f := range law.fails {
				if !slices.Contains(failed, f) {
					t.Errorf("passes %s", f)
				}
			}
		})
	}
}

// TestAKnownFailurePassesUntilItHasVanished.
func TestAKnownFailurePassesUntilItHasVanished(t *testing.T) {
	d1, err := scenarios.Find("D1")
	if err != nil {
		t.Fatal(err)
	}
	known := []Option{
		ExpectViolated("D1", "exclusion", "ticket 7"), ExpectViolated("release-deletes-successor", "ownership", "ticket 7"),
		NotPromised("effects"),
	}
	s := newSettings("T", find(t, "single-del").New, known)
	if failed, texts := failures(t, s, []*scenarios.Scenario{d1}); len(failed) > 0 {
		t.Errorf("known, and fails: %v", texts)
	}
	s = newSettings("T", find(t, "single").New, known)
	failed, texts := failures(t, s, []*scenarios.Scenario{d1})
	if fmt.Sprint(failed) != "[D1/exclusion D1/ownership]" || !strings.Contains(texts["D1/exclusion"], "take out ExpectViolated") {
		t.Errorf("vanished, and passes: %v, %v", failed, texts)
	}
}

// TestShortIsShort: twenty scenarios that are there, in under three seconds for each kind of lock, and enough to find every
// built-in lock that is here to fail.
func TestShortIsShort(t *testing.T) {
	if len(telling) != 20 {
		t.Errorf("%d scenarios", len(telling))
	}
	for _, name := range []string{"single", "redlock-watchdog", "setnx-expire", "single-del", "single-getdel", "rueidislock"} {
		e := find(t, name)
		s := newSettings("T", e.New, []Option{On(e.Servers)})
		chosen, err := s.chosenScenarios(true)
		if err != nil {
			t.Fatal(err)
		}
		began := processorTime(t)
		failed, _ := failures(t, s, chosen)
		took := processorTime(t) - began
		t.Logf("%s: %d scenarios in %v, fails %v", name, len(chosen), took, failed)
		if took > 3*time.Second && !raceEnabled {
			t.Errorf("%s: took %v", name, took)
		}
		if sound := name == "single" || name == "redlock-watchdog"; sound != (len(failed) == 0) {
			t.Errorf("%s fails %v", name, failed)
		}
	}
}

// processorTime is what this process has used: on a busy machine, real time says nothing of a test.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestMistakenOptionsSaySo(t *testing.T) {
	for _, law := range []struct {
		want    string
		options []Option
	}{
		{"there is no property \"exlusion\"", []Option{NotPromised("exlusion")}},
		{"no lock \"sngle\"", []Option{Like("sngle")}},
		{"does not run on the same servers", []Option{Like("redlock")}},
		{"say why", []Option{ExpectViolated("A1", "ownership", " ")}},
		{"no scenario", []Option{ExpectViolated("Z9", "ownership", "why")}},
		{"is not promised", []Option{NotPromised("ownership"), ExpectViolated("A1", "ownership", "why")}},
		{"without servers", []Option{On(locks.NoServer)}},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, law.want) {
					t.Errorf("got %q, want %q", p, law.want)
				}
			}()
			newSettings("T", find(t, "single").New, law.options)
		}()
	}
}

// TestAgainBuildsTheSameBinary: with its tags, from any folder of its module.
func TestAgainBuildsTheSameBinary(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, law := range []struct {
		info          *debug.BuildInfo
		flags, tested string
	}{
		{nil, "", "."},
		{&debug.BuildInfo{}, "", "."},
		{&debug.BuildInfo{Path: "command-line-arguments.test"}, "", "."},
		{&debug.BuildInfo{Path: "example.org/shop"}, "", "."},
		{&debug.BuildInfo{Path: "example.org/shop/lease.test"}, "", "example.org/shop/lease"},
		{&debug.BuildInfo{Path: "example.org/shop/lease.test", Settings: []debug.BuildSetting{
			setting("-compiler", "gc"), setting("-race", "true"), setting("-tags", "foo,bar"),
		}}, " -race -tags foo,bar", "example.org/shop/lease"},
		{&debug.BuildInfo{Path: "shop.test.test", Settings: []debug.BuildSetting{setting("-tags", ""), setting("-race", "false")}}, "", "shop.test"},
	} {
		if flags, tested := builtFrom(law.info); flags != law.flags || tested != law.tested {
			t.Errorf("%+v: got %q and %q, want %q and %q", law.info, flags, tested, law.flags, law.tested)
		}
	}
}
