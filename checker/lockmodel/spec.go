package lockmodel

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
)

// Model is an object whose histories can be judged.
type Model interface {
	Name() string
	Porcupine() porcupine.Model // for Operations
	Unpruned() porcupine.Model  // for UnprunedOperations
}

// Spec is an object as a state machine. S is comparable, so that porcupine can tell states apart.
type Spec[S comparable] struct {
	Title  string
	Init   S
	Happen func(S, *Op) (S, bool) // the state after an operation that took effect; false if it cannot have
	Refuse func(S, *Op) bool      // whether the object may refuse the operation in this state
	Hash   func(S) uint64         // optional
}

// Name is the name by which users ask for the model.
func (s Spec[S]) Name() string { return s.Title }

// end marks the end of what is known of a history.
var end = &Op{}

// ended is the state after end.
type ended struct{}

// Porcupine is the model for histories prepared by Operations. An operation with unknown outcome takes effect before the
// end, or does nothing after it. That decides the same histories as letting it do either at any time:
//
//   - An operation that does nothing changes no state, so it may as well do so last. It never returns, so it may.
//   - One that takes effect after all definite operations is of no use to any of them, so it may do nothing instead.
//
// An unknown operation that the object refused is one that does nothing.
func (s Spec[S]) Porcupine() porcupine.Model {
	m := porcupine.Model{
		Init: func() any { return s.Init },
		Step: func(state, in, _ any) (bool, any) {
			op := in.(*Op)
			if op == end {
				return true, ended{}
			}
			now, known := state.(S)
			if !known {
				return op.Outcome == history.Info, state
			}
			if op.Outcome == history.Fail {
				return s.Refuse(now, op), state
			}
			next, ok := s.Happen(now, op)
			if next == now {
				return ok, state
			}
			return ok, next
		},
		DescribeOperation: func(in, _ any) string { return in.(*Op).String() },
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
	if s.Hash != nil {
		m.Hash = func(state any) uint64 {
			if now, known := state.(S); known {
				return s.Hash(now)
			}
			return 0
		}
	}
	return m
}

// Unpruned is the plain meaning of an unknown outcome, against which Porcupine is tested: at any time after its call, the
// operation took effect or it did nothing.
func (s Spec[S]) Unpruned() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{s.Init} },
		Step: func(state, in, _ any) (next []any) {
			now, op := state.(S), in.(*Op)
			if op.Outcome == history.Info || op.Outcome == history.Fail && s.Refuse(now, op) {
				next = append(next, now)
			}
			if then, ok := s.Happen(now, op); ok && op.Outcome != history.Fail {
				next = append(next, then)
			}
			return next
		},
	}
	return m.ToModel()
}

// Operations prepares a history for Porcupine.
func Operations(ops []Op) []porcupine.Operation {
	all := UnprunedOperations(ops)
	last := lastInstant(ops)
	return append(all, porcupine.Operation{Input: end, Call: last + 1, Return: last + 2})
}

// UnprunedOperations prepares a history for Unpruned: what never returns does so after everything else.
func UnprunedOperations(ops []Op) []porcupine.Operation {
	last := lastInstant(ops)
	all := make([]porcupine.Operation, len(ops), len(ops)+1)
	for i := range ops {
		all[i] = porcupine.Operation{
			ClientId: int(ops[i].Owner), Input: &ops[i], Call: ops[i].Call, Return: min(ops[i].Return, last+3),
		}
	}
	return all
}

// lastInstant is the last time at which something is known to have happened.
func lastInstant(ops []Op) int64 {
	var last int64
	for i := range ops {
		last = max(last, ops[i].Call)
		if ops[i].Return != Never {
			last = max(last, ops[i].Return)
		}
	}
	return last
}

// String is for porcupine's pictures.
func (op *Op) String() string {
	if op == end {
		return "end"
	}
	outcome := map[history.Type]string{history.Fail: " refused", history.Info: " ?"}[op.Outcome]
	switch op.Kind {
	case Acquire, Release:
		if op.Value != 0 {
			return fmt.Sprintf("%d %v, fence %d%s", op.Owner, op.Kind, op.Value, outcome)
		}
		return fmt.Sprintf("%d %v%s", op.Owner, op.Kind, outcome)
	}
	return fmt.Sprintf("%d %v(%d) %d%s", op.Owner, op.Kind, op.Arg, op.Value, outcome)
}
