package history

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/lockfault/lockfault/checker/history/edn"
)

// ednFormat is the number of what WriteEDN writes; its first operation carries it.
const ednFormat = 1

// WriteEDN writes a history as Jepsen does, one operation per line, for Jepsen, Knossos and whatever else reads that. A
// Reader gets the same events back.
//
// An acquire or release of a client becomes an operation of a process with a number, which never occurs again once an
// outcome was unknown; its value is {:client "A"}, with :fence where one was granted, and ["lock" {...}] (a tuple of
// jepsen.independent) where the history has several locks. Every other event is an :info of a process that is a keyword:
// Jepsen's and Knossos' checkers pass over those. That includes the end of a lease which nobody released: a holder that
// was told of its loss, or died, looks to them as if it held on.
//
// Other fields stand under keys such as :lockfault/lease.
func WriteEDN(w io.Writer, events []Event) error {
	out := bufio.NewWriterSize(w, 64<<10)
	j := newJepsenWriter(events)
	for i := range events {
		if _, err := out.Write(j.operation(&events[i])); err != nil {
			return err
		}
	}
	return out.Flush()
}

// jepsenWriter gives numbers to clients.
type jepsenWriter struct {
	line       []byte
	numbers    map[string]int64 // the present one of each client
	concurrent int64            // added after an unknown outcome, as Jepsen does
	tuples     bool             // there are several locks
	open       map[string]*Event
}

func newJepsenWriter(events []Event) *jepsenWriter {
	j := &jepsenWriter{numbers: map[string]int64{}, open: map[string]*Event{}}
	locks := map[string]bool{}
	numbered, greatest := true, int64(-1)
	for i := range events {
		e := &events[i]
		if !ofClient(e) {
			continue
		}
		locks[e.Resource] = true
		if _, known := j.numbers[e.Process]; known {
			continue
		}
		n, ok := processNumber(e.Process)
		numbered = numbered && ok
		greatest = max(greatest, n)
		j.numbers[e.Process] = int64(len(j.numbers))
	}
	j.concurrent = max(int64(len(j.numbers)), 1)
	if numbered && len(j.numbers) > 0 {
		j.concurrent = greatest + 1
		for name := range j.numbers {
			j.numbers[name], _ = processNumber(name)
		}
	}
	j.tuples = len(locks) > 1
	return j
}

// processNumber is the number that a client of a Jepsen history is named by.
func processNumber(name string) (int64, bool) {
	n, err := strconv.ParseInt(name, 10, 32)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == name
}

// ofClient tells of an event that can be an operation of a client in Jepsen.
func ofClient(e *Event) bool { return e.Role == Client && (e.Op == Acquire || e.Op == Release) }

// operation is the event as a line.
func (j *jepsenWriter) operation(e *Event) []byte {
	if ofClient(e) {
		if line := j.clientOperation(e); line != nil {
			return line
		}
	}
	b := j.begin(e)
	if e.Role == Nemesis {
		b = append(b, "nemesis, :type :info, :f :"...)
	} else {
		b = append(b, "lockfault, :type :info, :f :"...)
	}
	b = append(b, jepsenWord(string(e.Op))...)
	b = append(b, ", :value nil"...)
	b = appendOwnText(b, "process", e.Process, true)
	b = append(append(b, ", :lockfault/type :"...), e.Type.String()...)
	b = appendOwnText(b, "op", string(e.Op), true)
	b = appendOwnText(b, "resource", e.Resource, false)
	b = appendOwnNumber(b, "fence", e.Fence)
	return j.end(b, e)
}

// clientOperation is nil for a completion without an invocation.
func (j *jepsenWriter) clientOperation(e *Event) []byte {
	invoked := j.open[e.Process]
	if e.Type != Invoke && (invoked == nil || invoked.Op != e.Op) {
		return nil
	}
	if e.Type == Invoke && invoked != nil { // the lock panicked in what was open
		j.numbers[e.Process] += j.concurrent
	}
	number := j.numbers[e.Process]
	b := j.begin(e)
	b = b[:len(b)-1] // the colon of a keyword
	b = strconv.AppendInt(b, number, 10)
	b = append(append(b, ", :type :"...), e.Type.String()...)
	b = append(append(b, ", :f :"...), e.Op...)
	b = j.appendValue(append(b, ", :value "...), e, invoked)
	if strconv.FormatInt(number, 10) != e.Process {
		b = appendOwnText(b, "process", e.Process, true)
	}
	if said := j.said(e, invoked); said != e.Resource {
		b = appendOwnText(b, "resource", e.Resource, true)
	}
	if !grantsFence(e) {
		b = appendOwnNumber(b, "fence", e.Fence)
	}
	if e.Type == Invoke {
		j.open[e.Process] = e
	} else {
		delete(j.open, e.Process)
	}
	if e.Type == Info {
		j.numbers[e.Process] += j.concurrent
	}
	return j.end(b, e)
}

func grantsFence(e *Event) bool { return e.Op == Acquire && e.Type == Ok && e.Fence != 0 }

// said is the lock that the value names: a completion has to name that of the invocation, lest Jepsen take the two for
// operations on different keys.
func (j *jepsenWriter) said(e, invoked *Event) string {
	switch {
	case !j.tuples:
		return ""
	case e.Type != Invoke:
		return invoked.Resource
	}
	return e.Resource
}

// appendValue writes who acts. Knossos wants the value of a failure to be that of the invocation.
func (j *jepsenWriter) appendValue(b []byte, e, invoked *Event) []byte {
	by := e
	if e.Type == Fail {
		by = invoked
	}
	owner := by.By
	if owner == "" {
		owner = by.Process
	}
	if j.tuples {
		b = edn.AppendString(append(b, '['), j.said(e, invoked))
		b = append(b, ' ')
	}
	b = edn.AppendString(append(b, "{:client "...), owner)
	if grantsFence(e) {
		b = strconv.AppendInt(append(b, ", :fence "...), e.Fence, 10)
	}
	b = append(b, '}')
	if j.tuples {
		b = append(b, ']')
	}
	return b
}

// begin writes up to the colon of a process that is a keyword.
func (j *jepsenWriter) begin(e *Event) []byte {
	b := strconv.AppendInt(append(j.line[:0], "{:index "...), int64(e.Index), 10)
	b = strconv.AppendInt(append(b, ", :time "...), int64(e.Time), 10)
	if e.Index == 0 {
		b = appendOwnNumber(b, "format", ednFormat)
	}
	return append(b, ", :process :"...)
}

// end writes the fields that mean the same in every event.
func (j *jepsenWriter) end(b []byte, e *Event) []byte {
	b = appendOwnText(b, "role", e.Role.String(), false)
	b = appendOwnText(b, "lease", e.Lease, false)
	b = appendOwnText(b, "by", e.By, false)
	b = appendOwnNumber(b, "value", e.Value)
	b = appendOwnNumber(b, "version", e.Version)
	b = appendOwnNumber(b, "until-ns", int64(e.Until))
	if e.Error != "" {
		b = edn.AppendString(append(b, ", :error "...), e.Error)
	}
	if len(e.Detail) > 0 {
		b = append(b, ", :lockfault/detail {"...)
		for i, key := range slices.Sorted(maps.Keys(e.Detail)) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = edn.AppendString(b, key)
			b = edn.AppendString(append(b, ' '), e.Detail[key])
		}
		b = append(b, '}')
	}
	j.line = append(b, "}\n"...)
	return j.line
}

func appendOwnText(b []byte, key, value string, always bool) []byte {
	if value == "" && !always {
		return b
	}
	return edn.AppendString(append(append(append(b, ", :lockfault/"...), key...), ' '), value)
}

func appendOwnNumber(b []byte, key string, value int64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(append(append(append(b, ", :lockfault/"...), key...), ' '), value, 10)
}

// jepsenWord is a name as a keyword; one that cannot be one says so.
func jepsenWord(name string) string {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return "other"
		}
	}
	return name
}
