package certain

import (
	"testing"
	"time"
)

// TestOnlyAClockThatStaysBehindWasSetBack: a process that is stopped between the readings of its clocks is none.
func TestOnlyAClockThatStaysBehindWasSetBack(t *testing.T) {
	for name, c := range map[string]struct {
		offsets []time.Duration // in milliseconds
		want    time.Duration
	}{
		"no line":                      {nil, 0},
		"one line":                     {[]time.Duration{5}, 0},
		"a clock that goes on":         {[]time.Duration{5, 5, 5, 5}, 0},
		"stopped between the readings": {[]time.Duration{5, 5, 1, 5, 5}, 0},
		"twice in a row":               {[]time.Duration{5, 5, 1, 2, 5}, 0},
		"set forward after one line":   {[]time.Duration{1, 5, 5, 5}, 4},
		"set back":                     {[]time.Duration{5, 5, 1, 1, 1, 5}, 4},
		"set back at the end":          {[]time.Duration{5, 5, 5, 1}, 4},
		"set forward":                  {[]time.Duration{5, 5, 8, 8, 8}, 3},
		"set forward for one line":     {[]time.Duration{5, 5, 8, 5, 5}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var clocks []reading
			for i := range c.offsets { // lines stand in the order in which calls ended
				i = len(c.offsets) - 1 - i
				clocks = append(clocks, reading{time.Duration(i) * time.Second, c.offsets[i] * ms})
			}
			if got := moved(clocks); got != c.want*ms {
				t.Errorf("%v, want %v", got, c.want*ms)
			}
		})
	}
}
