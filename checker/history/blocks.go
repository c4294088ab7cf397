package history

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
)

// blockSize is how many bytes of JSON lines one goroutine parses at a time: some thousand lines, and at most MaxLine, so
// that no line of a block is too long.
const blockSize = 256 << 10

// block is a stretch of whole lines and what they say.
type block struct {
	buffer []byte
	text   []byte // of buffer: up to the last newline
	events []Event
	order  order // of its events
	bad    bool  // something is wrong with a line
	parsed chan struct{}
}

// blocks reads JSON lines on several processors: one goroutine cuts the input into blocks, the others parse them into
// places that a block was given, since the number of its lines is known. Whatever is not plain (a broken line, an index
// that does not follow, the end of the input) is left to the Reader that reads line by line, which starts again at that
// block: so both find the same, and only one of them finds words for it.
type blocks struct {
	*Reader
	json   *jsonLines
	size   int // of a block
	room   int // number of events to make room for, once the first block has told how long lines are
	events []Event
	flying []*block // in order
	idle   []*block
	work   chan *block
	tail   []byte // the beginning of the next block
	failed error  // the end of the input
}

// readBlocks reads as many events as can be read in this way. The rest is left in the lines of j.
func (r *Reader) readBlocks(j *jsonLines, size, workers int) []Event {
	b := &blocks{Reader: r, json: j, size: size, work: make(chan *block, 2*workers)}
	var parsing sync.WaitGroup
	started := 0
	for b.failed == nil {
		next := b.cut()
		if next == nil {
			break
		}
		if started < workers { // not before there is work: most histories are small
			started++
			parsing.Go(func() { parseBlocks(b.work) })
		}
		if !b.give(next) {
			break
		}
	}
	for len(b.flying) > 0 && b.accept() {
	}
	close(b.work)
	parsing.Wait()
	b.leaveRest()
	return b.events
}

func parseBlocks(work <-chan *block) {
	var p parser
	for b := range work {
		b.parse(&p)
		close(b.parsed)
	}
}

func (b *block) parse(p *parser) {
	text := b.text
	for i := range b.events {
		end := bytes.IndexByte(text, '\n')
		line := bytes.TrimSuffix(text[:end], []byte("\r"))
		text = text[end+1:]
		e := &b.events[i]
		if !p.scan(line, e) && p.decode(line, e) != nil || b.order.accept(e) != nil {
			b.bad = true
			return
		}
	}
}

// cut reads the next block; nil if the input ends in it, or it has no newline.
func (b *blocks) cut() *block {
	var next *block
	if n := len(b.idle); n > 0 {
		next, b.idle = b.idle[n-1], b.idle[:n-1]
	} else {
		next = &block{buffer: make([]byte, b.size)}
	}
	n := copy(next.buffer, b.tail)
	for n < len(next.buffer) && b.failed == nil {
		var more int
		more, b.failed = b.json.lines.in.Read(next.buffer[n:])
		n += more
	}
	end := bytes.LastIndexByte(next.buffer[:n], '\n') + 1
	if b.failed != nil || end == 0 {
		b.tail = next.buffer[:n]
		return nil
	}
	next.text = next.buffer[:end]
	b.tail = append(b.tail[:0], next.buffer[end:n]...)
	return next
}

// give lets a block be parsed. It tells whether all was well so far.
func (b *blocks) give(next *block) bool {
	lines := bytes.Count(next.text, []byte("\n"))
	if b.room == 0 {
		b.room = lines
		if size := sizeOf(b.in); size > 0 {
			// Later lines have longer numbers, so this is rather too much.
			b.room = int(min(roomMax, float64(lines)*float64(size)/float64(len(next.text))))
		}
	}
	for len(b.flying) == cap(b.work) {
		if !b.accept() {
			b.flying = append(b.flying, next)
			return false
		}
	}
	n := len(b.events)
	for _, f := range b.flying {
		n += len(f.events)
	}
	if n+lines > cap(b.events) {
		for len(b.flying) > 0 { // they are being written to what is about to move
			if !b.accept() {
				b.flying = append(b.flying, next)
				return false
			}
		}
		b.events = slices.Grow(b.events, max(lines, b.room-n))
	}
	next.events = b.events[n : n+lines : n+lines]
	next.order = order{events: b.order.events + n - len(b.events), last: math.MinInt64, heard: b.order.heard}
	next.bad, next.parsed = false, make(chan struct{})
	b.flying = append(b.flying, next)
	b.work <- next
	return true
}

// accept takes the events of the first block that is being parsed; it tells whether they are all there and in order.
func (b *blocks) accept() bool {
	first := b.flying[0]
	<-first.parsed
	heard := b.order.heard
	if first.bad || first.events[0].Time < b.order.last && !heard {
		return false
	}
	b.flying = b.flying[1:]
	b.events = b.events[:len(b.events)+len(first.events)]
	b.order = first.order
	b.order.heard = b.order.heard || heard
	b.json.number += len(first.events)
	b.json.bytes += int64(len(first.text))
	b.line = b.json.number
	b.idle = append(b.idle, first)
	return true
}

// leaveRest puts back what was read and not accepted.
func (b *blocks) leaveRest() {
	var rest []io.Reader
	for _, f := range b.flying {
		rest = append(rest, bytes.NewReader(f.text))
	}
	rest = append(rest, bytes.NewReader(b.tail))
	if b.failed != nil {
		rest = append(rest, ended{b.failed})
	} else {
		rest = append(rest, b.json.lines.in)
	}
	b.json.lines.in = bufio.NewReaderSize(io.MultiReader(rest...), inputBuffer)
}

// ended is an input that ended in a way that it tells again.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

// workers is how many goroutines parse; 0 for none besides the Reader's own.
func workers() int {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return min(n, 8)
	}
	return 0
}
