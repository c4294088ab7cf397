//go:build unix

package docker

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that all processes of a machine share and that nobody sets.
func monotonic() time.Duration { return readClock(unix.CLOCK_MONOTONIC) }

// wall reads the machine's date, on the clock by which a server in a container tells its own.
func wall() time.Duration { return readClock(unix.CLOCK_REALTIME) }

func readClock(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic("lockfault: the machine has no clock: " + err.Error()) // none of the two can be missing
	}
	return time.Duration(t.Nano())
}
