package checker

import (
	"fmt"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// at says a time in words: "10.050 s".
func at(t time.Duration) string { return fmt.Sprintf("%.3f s", t.Seconds()) }

// count says how many: "1 write", "2 writes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// withFence says "with fence 33", or nothing without a fence.
func withFence(fence int64) string {
	if fence == 0 {
		return ""
	}
	return fmt.Sprintf(" with fence %d", fence)
}

// during says that a client was paused, as an inserted clause, or nothing.
func during(f *Fault) string {
	switch {
	case f == nil:
		return ""
	case f.To == forever:
		return fmt.Sprintf(", paused from %s on,", at(f.From))
	}
	return fmt.Sprintf(", paused from %s to %s,", at(f.From), at(f.To))
}

// author names who is behind an event of a server.
func author(e *history.Event) string {
	switch {
	case e.By != "":
		return e.By
	case e.Lease != "":
		return "lease " + e.Lease
	}
	return "an unknown client"
}

// actor names the client of an event, whether it is its own or a server's.
func actor(e *history.Event) string {
	if e.Role == history.Client {
		return e.Process
	}
	return author(e)
}
