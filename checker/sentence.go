package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// saying is a sentence, or a part of one, whose times are not in words yet: those of the whole sentence are put into words
// together, so that distinct ones can be told apart.
type saying struct {
	format string
	args   []any
}

// at is a time in a sentence: "10.050 s".
type at time.Duration

// say takes what fmt.Sprintf does, besides times and other sayings, for which it takes %s.
func say(format string, args ...any) saying { return saying{format, args} }

func (s saying) String() string { return s.with(history.SecondsFor(s.times(nil)...)) }

// times appends those that it tells.
func (s saying) times(all []time.Duration) []time.Duration {
	for _, arg := range s.args {
		switch arg := arg.(type) {
		case at:
			all = append(all, time.Duration(arg))
		case saying:
			all = arg.times(all)
		}
	}
	return all
}

func (s saying) with(seconds history.Seconds) string {
	words := slices.Clone(s.args)
	for i, arg := range words {
		switch arg := arg.(type) {
		case at:
			words[i] = seconds.Of(time.Duration(arg))
		case saying:
			words[i] = arg.with(seconds)
		}
	}
	return fmt.Sprintf(s.format, words...)
}

// listed says one after the other.
func listed(all []saying) saying {
	var list saying
	for i, s := range all {
		if i > 0 {
			list.format += ", "
		}
		list.format += "%s"
		list.args = append(list.args, s)
	}
	return list
}

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
func during(f *Fault) saying {
	switch {
	case f == nil:
		return saying{}
	case f.To == forever:
		return say(", paused from %s on,", at(f.From))
	}
	return say(", paused from %s to %s,", at(f.From), at(f.To))
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
