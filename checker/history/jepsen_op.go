package history

import (
	"fmt"
	"strings"

	"github.com/lockfault/lockfault/checker/history/edn"
)

// namespace is that of our own keys in an EDN history: they carry what Jepsen has no word for, and win over what it has.
const namespace = "lockfault/"

// jepsenOp is an operation as it is written.
type jepsenOp struct {
	index, time, process, kind, f, value, error edn.Value

	own []edn.Value // keys of our namespace, each with its value behind it
}

// readOperation takes an operation apart; own is room to use.
func readOperation(v edn.Value, own []edn.Value) (op jepsenOp, err error) {
	op.own = own
	seen := 0
	for i := 0; i+1 < len(v.Items); i += 2 {
		key := &v.Items[i]
		if key.Kind != edn.Keyword {
			if i == 0 { // some notes of people have others
				return op, fmt.Errorf("%v is a key: the keys of an operation are keywords such as :process", key)
			}
			continue
		}
		field, bit := op.field(key.Text)
		if field == nil {
			if strings.HasPrefix(key.Text, namespace) {
				op.own = append(op.own, v.Items[i:i+2]...)
			}
			continue
		}
		if seen&bit != 0 {
			return op, fmt.Errorf(":%s twice in one operation", key.Text)
		}
		seen |= bit
		*field = v.Items[i+1]
	}
	switch {
	case op.process.Kind == edn.Nil:
		return op, fmt.Errorf("no :process")
	case op.kind.Kind == edn.Nil:
		return op, fmt.Errorf("no :type")
	case op.f.Kind != edn.Keyword && op.f.Kind != edn.String && op.f.Kind != edn.Symbol || op.f.Text == "":
		return op, fmt.Errorf("no :f that names an operation")
	}
	return op, nil
}

func (op *jepsenOp) field(name string) (field *edn.Value, bit int) {
	switch name {
	case "index":
		return &op.index, 1
	case "time":
		return &op.time, 2
	case "process":
		return &op.process, 4
	case "type":
		return &op.kind, 8
	case "f":
		return &op.f, 16
	case "value":
		return &op.value, 32
	case "error":
		return &op.error, 64
	}
	return nil, 0
}

// inWords is a value as a text field has it: a string as it is, anything else as EDN, and nothing for nil.
func inWords(v edn.Value) string {
	switch v.Kind {
	case edn.Nil:
		return ""
	case edn.String:
		return v.Text
	}
	return v.String()
}

// fill takes the :value of a client's operation into its event. p is the operation.
func (j *jepsen) fill(e *Event, v edn.Value, p *pending) error {
	v = v.Untagged()
	if v.Kind == edn.Vector && len(v.Items) == 2 { // a tuple of jepsen.independent: a key, and the value under it
		e.Resource = j.strings.String(inWords(v.Items[0]))
		v = v.Items[1].Untagged()
	}
	if e.Op == Acquire || e.Op == Release {
		return j.fillLock(e, v, p)
	}
	switch {
	case v.Kind == edn.Int:
		e.Value = v.Int
	case v.Kind != edn.Nil, e.Op == Read && e.Type == Ok, e.Op == Write && e.Type == Invoke: // nil was read or written, not 0
		e.Detail = map[string]string{"value": v.String()}
	}
	return nil
}

// fillLock takes in who asked for the lock and what it got. Clients are told apart by their processes; an owner that the
// lock knows under another name is kept in By.
func (j *jepsen) fillLock(e *Event, v edn.Value, p *pending) error {
	owner := ""
	switch v.Kind {
	case edn.Nil:
	case edn.Bool:
		if e.Type == Ok && v.Int == 0 {
			return fmt.Errorf(":%s ended :ok with :value false, which says both that it happened and that it did not: "+
				"write :fail for what was refused", p.f)
		}
	case edn.Map:
		owner = inWords(firstOf(v, "client", "owner", "uid", "process", "node"))
		if lock := inWords(firstOf(v, "lock", "resource", "key")); lock != "" {
			e.Resource = j.strings.String(lock)
		}
		if fence := firstOf(v, "fence", "token"); fence.Kind == edn.Int {
			e.Fence = fence.Int
		}
	case edn.Int:
		owner = j.fillNumber(e, v.Int, p)
	case edn.String, edn.Keyword, edn.Symbol:
		owner = inWords(v)
	default:
		j.guess("a %v as :value of :%s says nothing that is known here", v.Kind, p.f)
	}
	if owner != e.Process {
		e.By = j.strings.String(owner)
	}
	return nil
}

// fillNumber takes in a number as the value: one that an acquire was asked with names its owner; one that it came back
// with is a fence.
func (j *jepsen) fillNumber(e *Event, n int64, p *pending) (owner string) {
	switch {
	case e.Type == Invoke:
		p.number, p.has = n, true
		j.guess("a number as :value of :%s was taken as the owner; for several locks write [LOCK VALUE]", p.f)
		return j.decimal(n)
	case p.has && p.number == n:
		return j.decimal(n)
	case e.Op == Acquire && e.Type == Ok:
		e.Fence = n
		j.guess("a number with which :%s came back was taken as its fence; if it is none, as a delivery tag, leave fence-order out", p.f)
	}
	return ""
}

// guess warns of the first doubtful value.
func (j *jepsen) guess(format string, args ...any) {
	if !j.guessed {
		j.guessed = true
		j.reader.warn(j.line, format, args...)
	}
}

func firstOf(v edn.Value, names ...string) edn.Value {
	for _, name := range names {
		if found, _ := v.Get(name); found.Kind != edn.Nil {
			return found
		}
	}
	return edn.Value{}
}

// applyOwn takes in an operation that WriteEDN wrote.
func (j *jepsen) applyOwn(op jepsenOp, e *Event) error {
	*e = Event{Process: e.Process, Type: e.Type, Op: e.Op, Error: e.Error}
	value := op.value
	if value.Kind == edn.Vector && len(value.Items) == 2 {
		e.Resource = inWords(value.Items[0])
		value = value.Items[1]
	}
	if fence, _ := value.Get("fence"); fence.Kind == edn.Int {
		e.Fence = fence.Int
	}
	for i := 0; i < len(op.own); i += 2 {
		name, v := strings.TrimPrefix(op.own[i].Text, namespace), op.own[i+1]
		if err := e.setOwn(name, v); err != nil {
			return err
		}
	}
	return nil
}

// setOwn sets the field that a key of our namespace names.
func (e *Event) setOwn(name string, v edn.Value) error {
	var text *string
	var number *int64
	switch name {
	case "process":
		text = &e.Process
	case "resource":
		text = &e.Resource
	case "lease":
		text = &e.Lease
	case "by":
		text = &e.By
	case "value":
		number = &e.Value
	case "version":
		number = &e.Version
	case "fence":
		number = &e.Fence
	case "until-ns":
		number = (*int64)(&e.Until)
	}
	switch {
	case text != nil && v.Kind == edn.String:
		*text = v.Text
	case number != nil && v.Kind == edn.Int:
		*number = v.Int
	case name == "format" && v.Kind == edn.Int && v.Int == ednFormat:
	case name == "role" && v.Kind == edn.String:
		return e.Role.UnmarshalText([]byte(v.Text))
	case name == "op" && v.Kind == edn.String:
		e.Op = Op(v.Text)
	case name == "type":
		kind, err := jepsenType(v)
		e.Type = kind
		return err
	case name == "detail" && v.Kind == edn.Map:
		return e.setDetail(v)
	default:
		return fmt.Errorf("do not know what :%s%s %v says", namespace, name, v)
	}
	return nil
}

func (e *Event) setDetail(v edn.Value) error {
	e.Detail = make(map[string]string, len(v.Items)/2)
	for i := 0; i+1 < len(v.Items); i += 2 {
		key, value := v.Items[i], v.Items[i+1]
		if key.Kind != edn.String || value.Kind != edn.String {
			return fmt.Errorf(":%sdetail maps strings to strings, not %v to %v", namespace, key, value)
		}
		e.Detail[key.Text] = value.Text
	}
	return nil
}
