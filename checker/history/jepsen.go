package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker/history/edn"
	"github.com/lockfault/lockfault/checker/history/internal/intern"
)

// jepsen reads what Jepsen writes as history.edn: one operation per line, or one vector of operations. See the package
// comment for what becomes of each.
type jepsen struct {
	reader  *Reader
	forms   *edn.Reader
	strings intern.Table
	line    int
	over    bool
	native  bool // it has keys of lockfault's own: WriteEDN wrote it, and it says all there is to say

	ready   []Event             // what the latest operation came to
	given   int                 // of those
	own     []edn.Value         // room for the keys of our namespace in one operation
	events  int                 // given out or ready
	open    map[string]*pending // by process
	holds   map[string]int      // by process: grants that it has not tried to give back
	crashed map[string]int      // processes that ended in doubt while they held: the line
	struck  bool                // there was a nemesis
	locking int                 // operations on locks
	others  map[string]int      // other operations of clients, by name
	clock   jepsenClock
	index   int64
	guessed bool // that a number is an owner; said once
}

// pending is an operation without its completion.
type pending struct {
	f      string
	invoke Event
	line   int
	number int64 // its :value, if it is one
	has    bool
}

func newJepsen(r *Reader, in *bufio.Reader) *jepsen {
	forms := edn.NewReader(in)
	forms.Enter()
	return &jepsen{
		reader: r, forms: forms, index: -1,
		open: map[string]*pending{}, holds: map[string]int{}, crashed: map[string]int{}, others: map[string]int{},
		clock: jepsenClock{reader: r},
	}
}

func (j *jepsen) at() int     { return j.line }
func (j *jepsen) read() int64 { return max(j.forms.Offset(), 1) }

func (j *jepsen) next(e *Event) error {
	for j.given == len(j.ready) {
		if j.over {
			return io.EOF
		}
		if err := j.more(); err != nil {
			return err
		}
	}
	*e = j.ready[j.given]
	j.given++
	return nil
}

// more reads one operation, or what the end of the history implies.
func (j *jepsen) more() error {
	j.ready, j.given = j.ready[:0], 0
	op, err := j.forms.Next()
	j.line = max(j.forms.FirstLine(), 1)
	switch {
	case err == io.EOF:
		j.over = true
		return j.finish()
	case errors.Is(err, errCutOff):
		j.over = true
		j.reader.warn(j.line, "%v behind this line; the rest was left out", errCutOff)
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		j.over = true
		j.reader.warn(j.line, "the history is cut off in what starts here, which was left out")
		return nil
	case err != nil:
		return fmt.Errorf("%s:%w", j.reader.name, err)
	}
	if err := j.operation(op); err != nil {
		return fmt.Errorf("%s:%d: %w", j.reader.name, j.line, err)
	}
	return nil
}

// emit numbers an event and makes it ready.
func (j *jepsen) emit(e Event) {
	e.Index, e.Time = j.events, j.clock.now
	j.events++
	j.ready = append(j.ready, e)
}

// operation takes one operation in.
func (j *jepsen) operation(value edn.Value) error {
	value = value.Untagged()
	if value.Kind != edn.Map {
		return fmt.Errorf("an operation is a map, not a %v", value.Kind)
	}
	op, err := readOperation(value, j.own[:0])
	j.own = op.own
	if err != nil {
		return err
	}
	if err := j.inOrder(op.index); err != nil {
		return err
	}
	if err := j.clock.tick(op.time, j.line); err != nil {
		return err
	}
	if len(op.own) > 0 {
		j.native = true
	}
	if op.process.Kind == edn.Keyword && !j.native {
		j.nemesis(op)
		return nil
	}
	e, err := j.event(op)
	if err != nil {
		return err
	}
	if j.native {
		if err := j.applyOwn(op, &e); err != nil {
			return err
		}
		j.emit(e)
		return nil
	}
	return j.client(op, e)
}

// inOrder refuses an index that goes back. Gaps are in order: somebody chose some operations.
func (j *jepsen) inOrder(index edn.Value) error {
	switch {
	case index.Kind == edn.Nil || index.Kind == edn.Int && index.Int == -1: // Knossos' sign for none
		return nil
	case index.Kind != edn.Int:
		return fmt.Errorf(":index %v is no integer", index)
	case index.Int <= j.index:
		return fmt.Errorf("index %d follows %d: it must grow", index.Int, j.index)
	}
	j.index = index.Int
	return nil
}

// event is the operation as far as it says for itself.
func (j *jepsen) event(op jepsenOp) (e Event, err error) {
	switch op.process.Kind {
	case edn.Int:
		e.Process = j.decimal(op.process.Int)
	case edn.String, edn.Symbol:
		e.Process = op.process.Text
	case edn.Keyword:
		e.Process = ":" + op.process.Text
	default:
		return e, fmt.Errorf(":process %v is neither a number nor :nemesis", op.process)
	}
	if e.Type, err = jepsenType(op.kind); err != nil {
		return e, err
	}
	e.Op = jepsenName(op.f.Text)
	e.Error = inWords(op.error)
	return e, nil
}

func jepsenType(v edn.Value) (Type, error) {
	if v.Kind == edn.Keyword {
		for i := Invoke; i <= Info; i++ {
			if typeNames[i] == v.Text {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf(":type %v is none of :invoke, :ok, :fail, :info", v)
}

// jepsenName is the operation that a name in a Jepsen history means. Where we mean something by a word that Jepsen does
// not, theirs gets a colon.
func jepsenName(f string) Op {
	switch f {
	case "acquire", "lock":
		return Acquire
	case "release", "unlock":
		return Release
	case string(Lost), string(Died), string(Panic), string(Check):
		return Op(":" + f)
	}
	return Op(f)
}

// client takes in an operation of a client.
func (j *jepsen) client(op jepsenOp, e Event) error {
	if line, crashed := j.crashed[e.Process]; crashed {
		return fmt.Errorf("process %s goes on, though its operation of line %d ended :info while it held a lock: "+
			"a client whose operation ended so is gone, and its successor has another number", e.Process, line)
	}
	p := j.open[e.Process]
	switch {
	case e.Type == Invoke && p != nil:
		return fmt.Errorf("process %s invokes :%s while its :%s of line %d is open", e.Process, op.f.Text, p.f, p.line)
	case e.Type == Invoke:
		j.count(e.Op)
		p = &pending{f: op.f.Text, line: j.line}
		if err := j.fill(&e, op.value, p); err != nil {
			return err
		}
		e.Index = j.events // before it is kept: finish goes by it
		p.invoke = e
		j.open[e.Process] = p
		if e.Op == Release && j.holds[e.Process] > 0 {
			j.release(e.Process)
		}
		j.emit(e)
		return nil
	case p == nil:
		return fmt.Errorf("process %s completes :%s, which it had not invoked", e.Process, op.f.Text)
	case p.f != op.f.Text:
		return fmt.Errorf("process %s completes :%s, but had invoked :%s in line %d", e.Process, op.f.Text, p.f, p.line)
	}
	delete(j.open, e.Process)
	if err := j.fill(&e, op.value, p); err != nil {
		return err
	}
	switch {
	case e.Op == Acquire && e.Type == Ok:
		j.holds[e.Process]++
	case e.Op == Release && e.Type == Fail:
		e.Detail = map[string]string{refusedKey: "unknown"}
	}
	j.emit(e)
	if e.Type == Info && j.holds[e.Process] > 0 {
		delete(j.holds, e.Process)
		j.crashed[e.Process] = j.line
		j.emit(Event{Process: e.Process, Type: Info, Op: Died, Error: "in Jepsen, a process ends with an operation of unknown outcome"})
	}
	return nil
}

func (j *jepsen) release(process string) {
	if j.holds[process]--; j.holds[process] == 0 {
		delete(j.holds, process)
	}
}

func (j *jepsen) count(op Op) {
	const most = 10 // names in a message
	if op == Acquire || op == Release {
		j.locking++
	} else if _, known := j.others[string(op)]; known || len(j.others) < most {
		j.others[string(op)]++
	}
}

// nemesis takes in an operation of the nemesis. Jepsen tells when it was asked for something and when that was done, but
// neither whether it took effect nor which operation heals which. So the history gets one fault that may have struck
// anything, from the first such operation to the end: it excuses whatever faults excuse, and nothing is undecided for
// want of evidence. The operations themselves become notes of the harness, which no checker judges.
func (j *jepsen) nemesis(op jepsenOp) {
	if !j.struck {
		j.struck = true
		j.emit(Event{Process: "nemesis", Role: Nemesis, Type: Invoke, Op: "failover", // what a judge excuses most for
			Detail: map[string]string{"subject": "all", "jepsen": "any fault, to the end of the history"}})
	}
	detail := map[string]string{"f": op.f.String(), "type": op.kind.String(), "value": op.value.String()}
	j.emit(Event{Process: op.process.Text, Role: Harness, Type: Info, Op: "nemesis", Detail: detail, Error: inWords(op.error)})
}

// finish emits what the end of the history implies: what was open has an unknown outcome, and nothing was cut off.
func (j *jepsen) finish() error {
	j.clock.sayWhatWasOdd()
	if j.native || j.events == 0 {
		return nil
	}
	if j.locking == 0 {
		return fmt.Errorf("%s: no :acquire (or :lock) and no :release (or :unlock) in it%s; lockfault judges histories of locks: "+
			"for those of registers, see Knossos, Elle or porcupine", j.reader.name, j.whatElse())
	}
	left := slices.SortedFunc(maps.Values(j.open), func(a, b *pending) int { return a.invoke.Index - b.invoke.Index })
	for _, p := range left {
		e := p.invoke
		e.Type, e.Error = Info, "the history has no completion of it"
		j.emit(e)
	}
	if j.struck {
		j.emit(Event{Process: "nemesis", Role: Nemesis, Type: Ok, Op: "failover",
			Detail: map[string]string{"subject": "all"}})
	}
	j.emit(Event{Process: "harness", Role: Harness, Type: Info, Op: End})
	return nil
}

func (j *jepsen) whatElse() string {
	if len(j.others) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(j.others)) {
		parts = append(parts, fmt.Sprintf(":%s %d times", name, j.others[name]))
	}
	return ", but " + strings.Join(parts, ", ")
}

func (j *jepsen) decimal(n int64) string {
	var digits [20]byte
	return j.strings.Bytes(strconv.AppendInt(digits[:0], n, 10))
}

// jepsenClock is the clock of a Jepsen history, which may be absent, and in old Jepsens was read by many threads before
// they got to append what they had timed.
type jepsenClock struct {
	reader *Reader
	now    time.Duration
	shift  time.Duration // added, so that the first time is not negative
	timed  int           // operations with a time
	bare   int           // operations without
	back   int           // how often time ran backwards
	worst  time.Duration
	where  int // line of the first time it did
}

// maxBackstep is how far time may go back for the order of the lines to be trusted nevertheless. Threads are not
// suspended for longer; two histories in one file are further apart.
const maxBackstep = time.Second

func (c *jepsenClock) tick(v edn.Value, line int) error {
	switch {
	case v.Kind == edn.Nil && c.timed == 0:
		c.now = time.Duration(c.bare) * time.Millisecond
		c.bare++
		return nil
	case v.Kind == edn.Nil:
		c.bare++
		return nil
	case v.Kind != edn.Int:
		return fmt.Errorf(":time %v is no integer: want nanoseconds", v)
	case c.timed == 0 && c.bare > 0:
		return fmt.Errorf("a :time, which the %d operations before have not", c.bare)
	}
	t := time.Duration(v.Int)
	if c.timed == 0 {
		c.shift = -min(t, 0)
		c.now = t + c.shift
	}
	c.timed++
	t += c.shift
	if back := c.now - t; t >= c.now {
		c.now = t
	} else if back > maxBackstep || back < 0 {
		return fmt.Errorf("time runs backwards: %d ns after %d ns", t-c.shift, c.now-c.shift)
	} else {
		c.back++
		if c.back == 1 {
			c.where = line
		}
		c.worst = max(c.worst, back)
	}
	return nil
}

func (c *jepsenClock) sayWhatWasOdd() {
	if c.back > 0 {
		c.reader.warn(c.where, "time runs backwards here (%d times in all, by up to %v); the order of the lines was trusted, "+
			"and such times taken as that of the line before", c.back, c.worst)
	}
	if c.timed == 0 && c.bare > 0 {
		c.reader.untimed = true
		c.reader.warn(1, "no :time; operations are taken to be 1 ms apart, in the order of the lines")
	} else if c.bare > 0 {
		c.reader.warn(1, "%d operations have no :time; they were given that of the line before", c.bare)
	}
}
