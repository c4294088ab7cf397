// Package recorder writes down what a lock does in staging or production, for `lockfault check`: one JSON line for each
// acquire, release and guarded write. Wrap a lock that implements locks.Lock, or note the calls of any other.
//
//	r, err := recorder.Open("/var/log/app/lock.jsonl", recorder.Options{})
//	lock := r.Wrap(mylock, "worker-3")
//	lease, err := lock.Acquire(ctx, "stock")
//	write := lock.Write(lease, "item-7")
//	_, err = db.Exec(...)
//	write.Done(err)
//	lock.Release(ctx, lease)
//	...
//	r.Close()
//
// For a lock with another interface:
//
//	call := r.Acquire("worker-3", "stock")
//	token, err := mine.Lock("stock")
//	call.Granted(0, expires) // or call.Failed(err, false)
//	...
//	release := r.Release(call)
//	release.Done(mine.Unlock("stock", token))
//
// What the lines mean is in package checker/recording. To judge the files of all hosts together:
//
//	lockfault check --clock-error 20ms web-1.jsonl web-2.jsonl
//
// # What it costs, and what it may lose
//
// A call waits for nothing: its line goes to a buffer of Options.Buffer lines, from which one goroutine writes to the file.
// If the buffer is full, or the disk does not take a line, the line is dropped and counted; the count is written with the
// next line that gets through, and with the last one, so that `lockfault check` knows that lines are missing, and Close
// returns an error. A process that is killed loses what was in the buffer, mostly nothing, and its file has no end line,
// which is noticed too. A file is never made shorter or rewritten; a last line that was cut off stays where it is, and the
// next run begins a new one.
//
// All methods are safe for concurrent use, except those of one Lock, which are as safe as the lock's.
package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockfault/lockfault/checker/recording"
)

// Options of a Recorder. The zero value is good for most.
type Options struct {
	Host   string // whose clock the times are from; empty: the machine's name
	Buffer int    // lines that may wait to be written; 0 stands for 4096
	// Failed is called, by the writing goroutine, when the file cannot be written to, once for each time it begins to fail;
	// nil for nothing.
	Failed func(error)
}

// defaultBuffer is a second of a very busy lock.
const defaultBuffer = 4096

// Recorder writes lines to one file. Make it with Open or New.
type Recorder struct {
	host, process string
	started       time.Time
	failed        func(error)
	lines         chan recording.Line
	calls         atomic.Int64 // names leases
	dropped       atomic.Int64

	mu     sync.RWMutex // held for reading while a line is put into the buffer
	closed bool
	done   chan struct{}
	out    io.Writer
	close  func() error
	err    error // the first of writing; the writing goroutine's until done
}

// Open records to a file, behind what is there. Several processes may share one on a local disk, since each line is written
// at once.
func Open(path string, o Options) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("record a lock: %w", err)
	}
	r, err := New(file, o)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.close = file.Close
	return r, nil
}

// New records to a writer, which is called by one goroutine and gets whole lines.
func New(out io.Writer, o Options) (*Recorder, error) {
	if o.Host == "" {
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("record a lock: no name for this host, give Options.Host: %w", err)
		}
		o.Host = name
	}
	switch {
	case o.Buffer < 0:
		return nil, fmt.Errorf("record a lock: a buffer of %d lines", o.Buffer)
	case o.Buffer == 0:
		o.Buffer = defaultBuffer
	}
	started := time.Now()
	r := &Recorder{
		host: o.Host, started: started, failed: o.Failed, out: out, lines: make(chan recording.Line, o.Buffer), done: make(chan struct{}),
		process: o.Host + "/" + strconv.Itoa(os.Getpid()) + "/" + strconv.FormatInt(started.UnixNano(), 36),
		close:   func() error { return nil },
	}
	go r.write()
	r.put(recording.Line{Op: recording.Start, Ended: started})
	return r, nil
}

// put hands a line to the writing goroutine, or drops it: the lock does not wait.
func (r *Recorder) put(l recording.Line) {
	l.Host, l.Process = r.host, r.process
	l.Mono = max(l.Ended.Sub(r.started), 1)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.lines <- l:
	default:
		r.dropped.Add(1)
	}
}

// write writes lines until the channel is closed.
func (r *Recorder) write() {
	defer close(r.done)
	w := &lineWriter{out: r.out, dirty: true}
	told := int64(0) // of the dropped
	for l := range r.lines {
		if n := r.dropped.Load(); n > told {
			r.add(w, r.note(recording.Dropped, n))
			told = n
		}
		r.add(w, l)
		if len(r.lines) == 0 || len(w.buf) >= full {
			r.flush(w)
		}
	}
	r.flush(w)
	r.add(w, r.note(recording.End, r.dropped.Load()))
	r.flush(w)
}

// note is a line about the recording itself.
func (r *Recorder) note(op recording.Op, dropped int64) recording.Line {
	now := time.Now()
	return recording.Line{Op: op, Host: r.host, Process: r.process, Ended: now, Mono: max(now.Sub(r.started), 1), Dropped: dropped}
}

func (r *Recorder) add(w *lineWriter, l recording.Line) {
	text, err := json.Marshal(l)
	if err != nil { // a time out of range
		r.lost(w, 1, err)
		return
	}
	w.add(text)
}

func (r *Recorder) flush(w *lineWriter) {
	lost, err := w.flush()
	if err == nil {
		w.failing = false
		return
	}
	r.lost(w, lost, err)
}

// lost counts lines that could not be written, and tells of it once until some can.
func (r *Recorder) lost(w *lineWriter, lines int64, err error) {
	r.dropped.Add(lines)
	if r.err == nil {
		r.err = err
	}
	if !w.failing && r.failed != nil {
		r.failed(err)
	}
	w.failing = true
}

// Dropped is how many lines were not written so far.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Close writes what is in the buffer, and the end line, and closes the file. Its error says what is missing. What is
// recorded later is dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.done
		return nil
	}
	r.closed = true
	close(r.lines)
	r.mu.Unlock()
	<-r.done
	err := r.err
	if n := r.dropped.Load(); n > 0 {
		err = errors.Join(fmt.Errorf("record a lock: %d lines were not written", n), err)
	}
	return errors.Join(err, r.close())
}
