package history_test

import (
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

func TestDistinctTimesReadDistinct(t *testing.T) {
	for _, law := range []struct {
		times []time.Duration
		want  string // of the last
	}{
		{nil, ""},
		{[]time.Duration{0}, "0.000 s"},
		{[]time.Duration{2}, "0.000 s"}, // a moment after the start
		{[]time.Duration{10_021_347_001}, "10.021 s"},
		{[]time.Duration{10_021_347_001, 10_021_347_001}, "10.021 s"},
		{[]time.Duration{10_021_347_001, 10_020_900_000}, "10.020900 s"},
		{[]time.Duration{0, 2000}, "0.000002 s"},
		{[]time.Duration{6000}, "0.000006 s"},
		{[]time.Duration{0, 2}, "0.000000002 s"},
		{[]time.Duration{1_764_532_800_000_001_000, 1_764_532_800_000_003_000}, "1764532800.000003 s"}, // beyond a float64
		{[]time.Duration{999_999_999}, "1.000 s"},
		{[]time.Duration{1<<63 - 1}, "9223372036.854 s"},
	} {
		got := ""
		for _, at := range law.times {
			got = history.SecondsFor(law.times...).Of(at)
		}
		if got != law.want {
			t.Errorf("%v: %q, want %q", law.times, got, law.want)
		}
	}
}
