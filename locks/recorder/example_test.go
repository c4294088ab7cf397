package recorder_test

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/certain"
	"github.com/lockfault/lockfault/checker/recording"
	"github.com/lockfault/lockfault/locks/recorder"
)

// A lock with an interface of its own is recorded call by call. Files are judged by `lockfault check`, or as here.
func Example() {
	var file bytes.Buffer // recorder.Open writes to a real one
	r, err := recorder.New(&file, recorder.Options{Host: "web-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var mine sync.Mutex // the lock
	for _, client := range []string{"worker-1", "worker-2"} {
		acquire := r.Acquire(client, "stock")
		mine.Lock()
		acquire.Granted(0, time.Time{}) // neither a fence nor a known end

		write := r.Write(acquire, "item-7")
		write.Done(nil) // what the database said

		release := r.Release(acquire)
		mine.Unlock()
		release.Done(nil)
	}
	if err := r.Close(); err != nil {
		fmt.Println(err)
		return
	}

	lines, _, err := recording.Read(&file, "web-1.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	exact := func(host string) time.Duration { return 0 }
	judgement, err := certain.Judge(lines, exact)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(lines), "lines; exclusion", judgement.Verdicts[checker.Exclusion].Status)
	// Output: 8 lines; exclusion held
}
