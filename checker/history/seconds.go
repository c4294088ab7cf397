package history

import (
	"fmt"
	"time"
)

// Seconds puts times that are told together into words, with as many decimals of a second (3, 6 or 9) as tell distinct ones
// apart, and those of a microsecond or more from 0.
type Seconds int

// SecondsFor returns the fewest decimals for these times.
func SecondsFor(times ...time.Duration) Seconds {
	for s := Seconds(3); s < 9; s += 3 {
		if s.tellsApart(times) {
			return s
		}
	}
	return 9
}

func (s Seconds) tellsApart(times []time.Duration) bool {
	of := map[time.Duration]time.Duration{}
	for _, t := range times {
		rounded := t.Round(s.unit())
		if other, taken := of[rounded]; taken && other != t || rounded == 0 && t >= time.Microsecond {
			return false
		}
		of[rounded] = t
	}
	return true
}

func (s Seconds) unit() time.Duration {
	unit := time.Second
	for range s {
		unit /= 10
	}
	return unit
}

// Of reads like "10.021 s".
func (s Seconds) Of(t time.Duration) string {
	t = t.Round(s.unit())
	return fmt.Sprintf("%d.%0*d s", t/time.Second, int(s), t%time.Second/s.unit())
}
