package docker

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// A crash that loses the last second: appendfsync everysec puts what a server has written on the disk once a second, so that
// after a loss of power up to a second of its append-only file is missing. No disk loses power here. Instead the size of the
// file is noted all the time, and after the kill the file is cut back to what it was a second before.

// sizeEvery is how often the size is noted; the cut is at most so much too long.
const sizeEvery = 10 * time.Millisecond

const appendOnlyFile = "/data/appendonlydir/*.incr.aof"

// appended notes the size of a server's append-only file.
type appended struct {
	console *console
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu    sync.Mutex
	sizes []size
	err   error
}

// size is that of the file at some moment before at.
type size struct {
	at    time.Duration // on the monotonic clock
	bytes int64
}

// noteSizes begins; it returns when the first size is known.
func (n *node) noteSizes(ctx context.Context) (*appended, error) {
	shell, err := openConsole(ctx, n.bed.engine, n.id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	a := &appended{console: shell}
	if err := a.note(); err != nil {
		shell.close()
		return nil, err
	}
	ctx, a.stop = context.WithCancel(context.Background())
	a.done.Go(func() {
		tick := time.NewTicker(sizeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			if err := a.note(); err != nil {
				a.mu.Lock()
				a.err = err
				a.mu.Unlock()
				return
			}
		}
	})
	return a, nil
}

func (a *appended) note() error {
	text, err := a.console.run("stat -c %s " + appendOnlyFile)
	if err != nil {
		return err
	}
	bytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("the size of %s: %w", appendOnlyFile, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sizes = append(a.sizes, size{monotonic(), bytes})
	return nil
}

// before is the last size that was known at a time. If that is before the first, it is the first.
func (a *appended) before(at time.Duration) (size, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.sizes[0]
	for _, s := range a.sizes {
		if s.at <= at {
			found = s
		}
	}
	return found, a.err
}

func (a *appended) close() {
	a.stop()
	a.done.Wait()
	a.console.close()
}

// cutBack takes the file of a dead server back to an earlier size. It returns how many bytes that were.
func (n *node) cutBack(to int64) (cut int64, err error) {
	text, err := n.console.run(fmt.Sprintf("file=$(echo %s) && stat -c %%s $file && truncate -s %d $file", appendOnlyFile, to))
	if err != nil {
		return 0, fmt.Errorf("cut back the append-only file of %s: %w", n.name, err)
	}
	was, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cut back the append-only file of %s: %w", n.name, err)
	}
	return was - to, nil
}

// losesSecond lists the nodes that are to lose their last second.
func losesSecond(schedule nemesis.Schedule) (names []string) {
	for _, step := range schedule {
		if f, ok := step.Fault.(nemesis.Crash); ok && f.Keep == nemesis.LoseSecond {
			names = append(names, f.Node)
		}
	}
	return names
}
