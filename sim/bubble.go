package sim

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs f in virtual time: within it time stands still while any goroutine can run, and jumps to the next timer when
// none can. It returns when f and all that f started have ended. What f leaves running or blocked comes back as an error,
// and so does an f that keeps a processor busy for longer than limit of real time; such a goroutine cannot be ended, only
// left behind.
func bubble(limit time.Duration, f func()) error {
	done := make(chan error, 1)
	go func() {
		var err error
		var number string
		defer func() {
			if r := recover(); r != nil {
				err = leftover(number, fmt.Sprint(r))
			}
			done <- err
		}()
		// synctest wants a *testing.T only to report to; an empty one serves outside tests. The command's README test holds this.
		synctest.Test(new(testing.T), func(*testing.T) {
			number = bubbleNumber()
			f()
		})
	}()
	guard := time.NewTimer(limit)
	defer guard.Stop()
	select {
	case err := <-done:
		return err
	case <-guard.C:
		return fmt.Errorf("no progress within %v of real time: the lock keeps a processor busy, or waits for a sync.Mutex "+
			"that is held across a wait", limit)
	}
}

// leftover words synctest's panics for the person whose lock it is.
func leftover(number, panicked string) error {
	switch {
	case strings.Contains(panicked, "main bubble goroutine has exited"):
		count, where := survivors(number)
		return fmt.Errorf("the lock left %d goroutines running after Close: %s", count, where)
	case strings.Contains(panicked, "deadlock"):
		count, where := survivors(number)
		return fmt.Errorf("Close never returned; %d goroutines wait for each other: %s", count, where)
	default:
		return fmt.Errorf("panic: %s", panicked)
	}
}

var (
	bubbleHeader = regexp.MustCompile(`synctest bubble (\d+)`)
	createdBy    = regexp.MustCompile(`created by (\S+)`)
)

// bubbleNumber is the number by which stack dumps know the bubble of the caller.
func bubbleNumber() string {
	buf := make([]byte, 256)
	if m := bubbleHeader.FindSubmatch(buf[:runtime.Stack(buf, false)]); m != nil {
		return string(m[1])
	}
	return ""
}

// survivors counts the goroutines of a bubble and names who started them.
func survivors(number string) (count int, where string) {
	buf := make([]byte, 8<<20)
	makers := map[string]bool{}
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if m := bubbleHeader.FindStringSubmatch(stack); m == nil || m[1] != number {
			continue
		}
		count++
		if m := createdBy.FindStringSubmatch(stack); m != nil {
			makers[m[1]] = true
		}
	}
	return count, "started by " + strings.Join(slices.Sorted(maps.Keys(makers)), ", ")
}
