package sim

import "time"

// wallClock is a node's own idea of the date: it can step, and run fast or slow. Redis expires keys by it.
type wallClock struct {
	at   time.Time // what it showed ...
	when time.Time // ... at this instant of virtual time
	rate float64
}

func newWallClock() wallClock {
	now := time.Now()
	return wallClock{at: now, when: now, rate: 1}
}

func (c *wallClock) now() time.Time {
	if c.rate == 1 {
		return c.at.Add(time.Since(c.when))
	}
	return c.at.Add(time.Duration(float64(time.Since(c.when)) * c.rate))
}

func (c *wallClock) step(by time.Duration) {
	c.at, c.when = c.now().Add(by), time.Now()
}

func (c *wallClock) setRate(rate float64) {
	c.at, c.when = c.now(), time.Now()
	c.rate = rate
}
