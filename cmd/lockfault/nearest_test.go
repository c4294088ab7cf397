package main

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMisspeltNameFindsTheOneThatWasMeant(t *testing.T) {
	names := []string{"none", "single", "single-del", "redlock", "redlock-watchdog", "pause-after-acquire", "consensus"}
	for typed, want := range map[string]string{
		"singel": "single", "Single": "single", "redlok": "redlock", "redlock-wachdog": "redlock-watchdog", "cons": "consensus",
		"pause-after-aquire": "pause-after-acquire", "zookeeper": "", "": "", "x": "",
		"pause":    "pause-after-acquire", // the only one that begins so
		"redlock-": "redlock",             // nearer than redlock-watchdog
	} {
		if got := nearest(typed, names); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
	if got := nearest("single", nil); got != "" {
		t.Errorf("among no names: %q", got)
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	word := rapid.StringMatching(`[ab]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		switch ab := distance(a, b); {
		case (ab == 0) != (a == b):
			t.Fatalf("distance %d", ab)
		case ab != distance(b, a):
			t.Fatalf("%d there, %d back", ab, distance(b, a))
		case distance(a, c) > ab+distance(b, c):
			t.Fatalf("the detour is shorter: %d, %d, %d", distance(a, c), ab, distance(b, c))
		case distance(a+"x", b) > ab+1:
			t.Fatalf("one more letter costs %d", distance(a+"x", b)-ab)
		}
	})
}
