package main

import (
	"bytes"
	"io"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/lockfault/lockfault/checker/history"
)

// eventBytes is what an event takes in memory, with what judges keep of it.
const eventBytes = int64(unsafe.Sizeof(history.Event{})) + 56

// holdGC keeps the garbage collector from running while a plain file is read and judged, unless there is as much garbage
// as there may be events: it would look through all the room that is made for them, at the cost of a quarter of the
// whole. The function that it returns lets the collector go on as before.
func holdGC(name string) (release func()) {
	const least = 64 << 20
	room := 2*eventsIn(name)*eventBytes + least
	limit := debug.SetMemoryLimit(-1)
	if room == least || limit < room || room > 1<<40 { // nothing is known, the user set a bound, or no file is that long
		return func() {}
	}
	debug.SetMemoryLimit(room)
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// eventsIn guesses the number of events of a plain file, by the length of its first lines; 0 if that tells nothing.
func eventsIn(name string) int64 {
	file, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	start := make([]byte, 4096)
	n, err := file.ReadAt(start, 0)
	lines := int64(bytes.Count(start[:n], []byte("\n")))
	if lines == 0 || err != nil && err != io.EOF || bytes.HasPrefix(start, []byte("\x1f\x8b")) { // gzip
		return 0
	}
	return info.Size() / (int64(n) / lines)
}
