package sim

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// TestTheSameSeedGivesTheSameBytes on one processor and on two, for every scenario and lock.
func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	for _, s := range catalogue(t) {
		t.Run(s.Name, func(t *testing.T) {
			for _, l := range locks.All {
				p := runner.Plan{Lock: l, Scenario: s, Fencing: l.Fences, Seed: 7}
				one := onProcessors(1, func() []byte { _, b := play(t, p); return b })
				two := onProcessors(2, func() []byte { _, b := play(t, p); return b })
				if !bytes.Equal(one, two) {
					t.Errorf("%s: the histories differ at line %d", p.Key(), firstDifference(one, two))
				}
			}
		})
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
