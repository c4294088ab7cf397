package lockmodel

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
)

// in puts operations one after the other.
func in(order ...Op) []Op {
	for i := range order {
		order[i].Call, order[i].Return = int64(2*i), int64(2*i)
		if order[i].Outcome == 0 {
			order[i].Outcome = history.Ok
		}
		if order[i].Outcome == history.Info {
			order[i].Return = Never
		}
	}
	return order
}

func acquire(owner int32, fence int64) Op { return Op{Kind: Acquire, Owner: owner, Value: fence} }
func release(owner int32) Op              { return Op{Kind: Release, Owner: owner} }
func read(value int64) Op                 { return Op{Kind: Read, Value: value} }
func write(fence, value int64) Op         { return Op{Kind: Write, Arg: fence, Value: value} }
func add(amount, found int64) Op          { return Op{Kind: Add, Arg: amount, Value: found} }
func take(amount, stock int64) Op         { return Op{Kind: Take, Arg: amount, Value: stock} }

func refused(op Op) Op { op.Outcome = history.Fail; return op }
func unknown(op Op) Op { op.Outcome = history.Info; return op }
func untold(op Op) Op  { op.Untold = true; return op }

// Every model has its guilty twins.
func TestModels(t *testing.T) {
	for _, l := range []struct {
		name  string
		model Model
		ops   []Op
		legal bool
	}{
		{"taken in turn", Mutex(Strict), in(acquire(0, 0), release(0), acquire(1, 0)), true},
		{"taken by two", Mutex(Strict), in(acquire(0, 0), acquire(1, 0)), false},
		{"released by another", Mutex(Strict), in(acquire(0, 0), release(1)), false},
		{"refused while held", Mutex(Strict), in(acquire(0, 0), refused(acquire(1, 0))), true},
		{"refused while free", Mutex(Strict), in(refused(acquire(1, 0))), false},
		{"refused while free, leniently", Mutex(Lenient), in(refused(acquire(1, 0))), true},
		{"refused to release what another holds", Mutex(Lenient), in(acquire(0, 0), refused(release(1))), true},
		{"refused to release one's own", Mutex(Lenient), in(acquire(0, 0), refused(release(0))), false},
		{"lapsed", Mutex(Strict), in(acquire(0, 0), unknown(release(0)), acquire(1, 0)), true},
		{"perhaps acquired", Mutex(Strict), in(unknown(acquire(0, 0)), refused(acquire(1, 0))), true},
		{"an owner's own ghost", Mutex(Strict), in(unknown(acquire(0, 0)), release(0), acquire(1, 0)), true},

		{"entered twice", Reentrant(2, Strict), in(acquire(0, 0), acquire(0, 0), release(0), refused(acquire(1, 0)), release(0), acquire(1, 0)), true},
		{"entered too often", Reentrant(2, Strict), in(acquire(0, 0), acquire(0, 0), acquire(0, 0)), false},
		{"entered without limit", Reentrant(0, Strict), in(acquire(0, 0), acquire(0, 0), acquire(0, 0)), true},
		{"left once of twice", Reentrant(2, Strict), in(acquire(0, 0), acquire(0, 0), release(0), acquire(1, 0)), false},

		{"fences grow", Fenced(Strict), in(acquire(0, 3), release(0), acquire(1, 5)), true},
		{"fences repeat", Fenced(Strict), in(acquire(0, 3), release(0), acquire(1, 3)), false},
		{"release keeps the highest", Fenced(Strict), in(acquire(0, 5), release(0), acquire(1, 0), release(1), acquire(0, 4)), false},
		{"a fence that is not known", Fenced(Strict), in(acquire(0, 5), release(0), acquire(1, 0), release(1), acquire(0, 6)), true},
		{"a refusal has no fence", Fenced(Strict), in(acquire(0, 5), refused(acquire(1, 0)), release(0), refused(acquire(1, 0))), false},
		{"one fence in a hold", ReentrantFenced(2, Strict), in(acquire(0, 3), acquire(0, 3), release(0), release(0), acquire(1, 4)), true},
		{"two fences in a hold", ReentrantFenced(2, Strict), in(acquire(0, 3), acquire(0, 4)), false},
		{"learned on re-entry", ReentrantFenced(2, Strict), in(acquire(0, 0), acquire(0, 4), release(0), release(0), acquire(1, 4)), false},
		{"one fence in two holds", ReentrantFenced(2, Strict), in(acquire(0, 3), release(0), acquire(0, 3)), false},

		{"two permits", Semaphore(2, Strict), in(acquire(0, 0), acquire(0, 0), release(0), acquire(1, 0)), true},
		{"three of two permits", Semaphore(2, Strict), in(acquire(0, 0), acquire(0, 0), acquire(1, 0)), false},
		{"another's permit", Semaphore(2, Strict), in(acquire(0, 0), release(1)), false},
		{"refused with a permit left", Semaphore(2, Strict), in(acquire(0, 0), refused(acquire(1, 0))), false},

		{"read what was written", Register(), in(read(0), write(0, 7), read(7)), true},
		{"read something else", Register(), in(write(0, 7), read(8)), false},
		{"perhaps written", Register(), in(unknown(write(0, 7)), read(0), read(7)), true},
		{"unwritten again", Register(), in(unknown(write(0, 7)), read(7), read(0)), false},
		{"fences enforced", FencedRegister(), in(write(3, 1), write(3, 2), write(5, 3), refused(write(4, 9)), read(3)), true},
		{"a stale write applied", FencedRegister(), in(write(5, 1), write(4, 2)), false},
		{"a good fence refused", FencedRegister(), in(write(5, 1), refused(write(5, 2))), false},

		{"counted", Counter(), in(add(1, 0), add(2, 1), read(3)), true},
		{"a lost update", Counter(), in(add(1, 0), add(1, 0)), false},
		{"perhaps counted", Counter(), in(unknown(add(1, 0)), add(1, 1)), true},
		{"sold", Inventory(3), in(take(2, 3), take(1, 1), refused(take(1, 0)), read(0)), true},
		{"oversold", Inventory(3), in(take(2, 3), untold(take(2, 0))), false},
		{"refused with stock", Inventory(3), in(refused(take(2, 0))), false},
		{"sold twice", Inventory(3), in(take(2, 3), take(1, 3)), false},
	} {
		t.Run(l.model.Name()+"/"+l.name, func(t *testing.T) {
			if legal := porcupine.CheckOperations(l.model.Porcupine(), Operations(l.ops)); legal != l.legal {
				t.Errorf("legal %v, want %v", legal, l.legal)
			}
			if legal := porcupine.CheckOperations(l.model.Unpruned(), UnprunedOperations(l.ops)); legal != l.legal {
				t.Errorf("unpruned: legal %v, want %v", legal, l.legal)
			}
		})
	}
}
