package recorder

import (
	"errors"
	"strconv"
	"time"

	"github.com/lockfault/lockfault/checker/recording"
	"github.com/lockfault/lockfault/locks"
)

// Call is a call to a lock, or a write to what it guards, from its beginning to its end. It is written when it has ended;
// one that never ends is not written. End it once.
type Call struct {
	r     *Recorder
	line  recording.Line
	began time.Time
}

func (r *Recorder) begin(l recording.Line) *Call { return &Call{r, l, time.Now()} }

// Acquire begins an acquire by a client: whoever the lock takes for one holder in this process, such as a worker.
func (r *Recorder) Acquire(client, lock string) *Call {
	lease := r.process + "#" + strconv.FormatInt(r.calls.Add(1), 10)
	return r.begin(recording.Line{Op: recording.Acquire, Client: client, Lock: lock, Lease: lease})
}

// Granted ends an acquire that got the lock. fence is 0 and until the zero time where there is none.
func (c *Call) Granted(fence int64, until time.Time) {
	c.line.Fence, c.line.Until = fence, until.Round(0)
	c.end(recording.Ok, nil)
}

// Failed ends an acquire that did not get the lock, certainly not, or as far as anybody knows.
func (c *Call) Failed(err error, certain bool) {
	outcome := recording.Unknown
	if certain {
		outcome = recording.Fail
	}
	c.end(outcome, err)
}

// Release begins the release of what the acquire got.
func (r *Recorder) Release(acquire *Call) *Call { return r.under(acquire, recording.Release) }

// Write begins a write to the data that the lock of the acquire guards; data is its name, or empty for that of the lock.
func (r *Recorder) Write(acquire *Call, data string) *Call {
	c := r.under(acquire, recording.Write)
	c.line.Resource, c.line.Fence = data, acquire.line.Fence
	return c
}

// under begins a call under the lease of an acquire.
func (r *Recorder) under(acquire *Call, op recording.Op) *Call {
	a := acquire.line
	return r.begin(recording.Line{Op: op, Client: a.Client, Lock: a.Lock, Lease: a.Lease})
}

// Extend begins an extension of what the acquire got.
func (r *Recorder) Extend(acquire *Call) *Call { return r.under(acquire, recording.Extend) }

// Extended ends an extension that was granted, up to until.
func (c *Call) Extended(until time.Time) {
	c.line.Until = until.Round(0)
	c.end(recording.Ok, nil)
}

// Lost notes that the lock told its holder that the lease of the acquire is over.
func (r *Recorder) Lost(acquire *Call) {
	c := r.under(acquire, recording.Lost)
	c.line.Ended = c.began.Round(0)
	c.r.put(c.line)
}

// Applied ends a write that happened; version is how many writes the data has had with it, or 0 if the data does not tell.
func (c *Call) Applied(version int64) {
	if c == nil {
		return
	}
	c.line.Version = version
	c.end(recording.Ok, nil)
}

// Done ends a release, a write, or an extension that failed. nil: it happened. An error that wraps locks.ErrNotHeld or
// locks.ErrNotAcquired: it certainly did not. Any other: unknown.
func (c *Call) Done(err error) {
	switch {
	case err == nil:
		c.end(recording.Ok, nil)
	case errors.Is(err, locks.ErrNotHeld), errors.Is(err, locks.ErrNotAcquired):
		c.end(recording.Fail, err)
	default:
		c.end(recording.Unknown, err)
	}
}

// end writes the line. Both times are what the wall clock said: the monotonic clock, though it never steps, is read at
// another instant, and on a busy machine that is milliseconds later. It is asked only where the wall clock was set back.
func (c *Call) end(outcome recording.Outcome, err error) {
	if c == nil {
		return
	}
	c.line.Outcome = outcome
	now := time.Now()
	c.line.Began, c.line.Ended = c.began.Round(0), now
	if now.Round(0).Before(c.line.Began) {
		c.line.Ended = c.began.Add(now.Sub(c.began))
	}
	if err != nil {
		c.line.Error = err.Error()
	}
	c.r.put(c.line)
}
