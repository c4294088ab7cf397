// Package lockmodel says, as sequential specifications, what a lock is and what the data behind it is: a register, one that
// enforces fences, a counter or an inventory.
//
// The locks are those of Jepsen's Hazelcast tests (jepsen-io/jepsen, pull request 325: OwnerAwareMutex, ReentrantMutex,
// FencedMutex, ReentrantFencedMutex, AcquiredPermits), under the same rules: a grant has a greater fence than every
// earlier one, a fence that is not known is allowed and changes nothing, a release keeps the highest fence seen, and
// re-entry repeats the fence of the hold. An object is a Spec; Porcupine and Unpruned make models for porcupine of it.
//
// A lease that ends by its holder's death, or by an expiry, is a release with unknown outcome that was invoked at that time:
// see Lapse.
package lockmodel

import (
	"math"

	"github.com/lockfault/lockfault/checker/history"
)

// Kind says what an operation asks for.
type Kind uint8

const (
	Acquire Kind = iota // Value: the fence granted, 0 if none is known
	Release
	Read  // Value: what was read
	Write // Arg: the fence, Value: what was written
	Add   // Arg: how much was added, Value: what the section had found
	Take  // Arg: how much was taken, Value: the stock before, unless Untold
)

var kindNames = [...]string{"acquire", "release", "read", "write", "add", "take"}

func (k Kind) String() string { return kindNames[k] }

// Never is the return of an operation with unknown outcome: it may take effect at any time after its call.
const Never = int64(math.MaxInt64)

// Op is one operation on one object, in 48 bytes. It takes effect at one instant of the closed interval from Call to
// Return, so an operation that is called at the instant at which another client's returns may come before it.
type Op struct {
	Call, Return int64
	Arg, Value   int64        // see Kind
	Owner        int32        // as the object tells its callers apart; numbered from 0
	Client       int32        // who called, if known: what a client did comes one after the other; 0 if not
	Kind         Kind         //
	Outcome      history.Type // Ok, Fail or Info. An Info returns Never
	Untold       bool         // of a Take: nobody was told the stock
}

// Owners is one more than the greatest owner.
func Owners(ops []Op) int {
	most := int32(-1)
	for i := range ops {
		most = max(most, ops[i].Owner)
	}
	return int(most) + 1
}

// Lapse is the end of an owner's lease by itself, at some time from then on: because its owner died, because the lease had
// reached the end that its owner knew, or because it lasts only so long and nobody knows that it was granted.
func Lapse(owner int32, then int64) Op {
	return Op{Call: then, Return: Never, Owner: owner, Kind: Release, Outcome: history.Info}
}
