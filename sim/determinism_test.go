// As in the command: some libraries draw from math/rand's global source.
//go:debug randseednop=0

package sim

import (
	"bytes"
	"maps"
	oldrand "math/rand"
	"runtime"
	"slices"
	"testing"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// unseedable locks draw tokens and delays from sources that nothing outside reaches: see TestUnseedableLocksReproduceTheirVerdicts.
var unseedable = []string{"rueidislock"}

// TestTheSameSeedGivesTheSameBytes on one processor and on two, for every scenario and lock.
func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	for _, s := range catalogue(t) {
		t.Run(s.Name, func(t *testing.T) {
			for _, l := range locks.All {
				if slices.Contains(unseedable, l.Name) {
					continue
				}
				p := runner.Plan{Lock: l, Scenario: s, Fencing: l.Fences, Seed: 7}
				one := onProcessors(1, func() []byte { return playSeeded(t, p) })
				two := onProcessors(2, func() []byte { return playSeeded(t, p) })
				if !bytes.Equal(one, two) {
					t.Errorf("%s: the histories differ at line %d", p.Key(), firstDifference(one, two))
				}
			}
		})
	}
}

// playSeeded plays as the command does in each of its children.
func playSeeded(t *testing.T, p runner.Plan) []byte {
	oldrand.Seed(int64(p.Seed)) //lint:ignore SA1019 nothing else reaches the source that libraries draw from
	_, b := play(t, p)
	return b
}

// TestUnseedableLocksReproduceTheirVerdicts measures, for the sentence in the documentation, in how many of ten runs of a
// seed such a lock gives the same bytes and the same verdicts.
func TestUnseedableLocksReproduceTheirVerdicts(t *testing.T) {
	for _, name := range unseedable {
		runs, sameBytes, sameVerdicts, repeats := 0, 0, 0, 9
		if testing.Short() {
			repeats = 1
		}
		for i, s := range catalogue(t) {
			if i%3 != 0 { // it is a measurement, not a proof
				continue
			}
			p := runner.Plan{Lock: entry(t, name), Scenario: s, Seed: 7}
			first, stream := play(t, p)
			if first.Unsupported != "" {
				continue
			}
			for range repeats {
				again, b := play(t, p)
				runs++
				if bytes.Equal(stream, b) {
					sameBytes++
				}
				if maps.EqualFunc(first.Verdicts, again.Verdicts, func(a, b checker.Verdict) bool { return a.Status == b.Status }) {
					sameVerdicts++
				} else {
					t.Logf("%s: other verdicts", p.Key())
				}
			}
		}
		t.Logf("%s: of %d repeated runs, %d had the same bytes and %d the same verdicts", name, runs, sameBytes, sameVerdicts)
		if sameBytes == runs {
			t.Errorf("%s can be seeded after all: take it off the list", name)
		}
		if sameVerdicts*10 < runs*9 {
			t.Errorf("%s: only %d of %d repeated runs had the same verdicts", name, sameVerdicts, runs)
		}
	}
}

func onProcessors(n int, f func() []byte) []byte {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return f()
}

func firstDifference(a, b []byte) int {
	old, now := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range old {
		if i >= len(now) || !bytes.Equal(old[i], now[i]) {
			return i + 1
		}
	}
	return len(old) + 1
}

func TestAnotherSeedGivesAnotherHistory(t *testing.T) {
	p := runner.Plan{Lock: entry(t, "single"), Scenario: scenario(t, "A1"), Seed: 1}
	_, one := playWell(t, p)
	p.Seed = 2
	_, two := playWell(t, p)
	// Without the first line, which names the seed.
	if bytes.Equal(one[bytes.IndexByte(one, '\n'):], two[bytes.IndexByte(two, '\n'):]) {
		t.Error("the seed decides nothing")
	}
}

// TestManyRandomSchedulesAreDeterministic holds the law where chance is widest.
func TestManyRandomSchedulesAreDeterministic(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	for seed := range uint64(seeds) {
		for _, name := range []string{"redlock-watchdog", "single-watchdog", "consensus"} {
			p := runner.Plan{Lock: entry(t, name), Scenario: scenario(t, "random"), Fencing: true, Seed: seed}
			one := onProcessors(1, func() []byte { _, b := play(t, p); return b })
			two := onProcessors(2, func() []byte { _, b := play(t, p); return b })
			if !bytes.Equal(one, two) {
				t.Errorf("%s: the histories differ at line %d", p.Key(), firstDifference(one, two))
			}
		}
	}
}
