package lockmodel

// free is the owner of a lock that nobody holds. It is 0, and the holder owner + 1, since Go keeps small numbers without
// allocating.
const free = 0

// Mutex is a lock that knows its owner and cannot be entered again.
func Mutex(r Refusal) Spec[int32] {
	return Spec[int32]{Title: "mutex", Happen: lockOnce, Refuse: refuse(r, lockOnce), Hash: hashOwner}
}

func lockOnce(holder int32, op *Op) (int32, bool) {
	switch {
	case op.Kind == Acquire && holder == free:
		return op.Owner + 1, true
	case op.Kind == Release && holder == op.Owner+1:
		return free, true
	}
	return holder, false
}

func hashOwner(holder int32) uint64 { return uint64(holder+1) * 0x9E3779B97F4A7C15 }

// Hold is the state of a lock that counts.
type Hold struct {
	Holder  int32 // free, or the owner + 1
	Depth   int32 // how often the holder has entered
	Fence   int64 // of this hold, 0 if not known
	Highest int64 // fence ever granted
}

// Reentrant is a mutex that its holder may enter again, up to a limit; 0 is no limit.
func Reentrant(limit int32, r Refusal) Spec[Hold] {
	enter := func(now Hold, op *Op) (Hold, bool) { return enterAgain(now, op, limit) }
	return Spec[Hold]{Title: "reentrant", Happen: enter, Refuse: refuse(r, enter), Hash: hashHold}
}

func enterAgain(now Hold, op *Op, limit int32) (Hold, bool) {
	mine := now.Holder == op.Owner+1
	switch {
	case op.Kind == Acquire && (now.Holder == free || mine && (limit == 0 || now.Depth < limit)):
		now.Holder = op.Owner + 1
		now.Depth++
		return now, true
	case op.Kind == Release && mine:
		if now.Depth--; now.Depth == 0 {
			now.Holder, now.Fence = free, 0
		}
		return now, true
	}
	return now, false
}

func hashHold(h Hold) uint64 {
	return hashOwner(h.Holder) ^ uint64(h.Depth)<<48 ^ uint64(h.Highest)*0xC2B2AE3D27D4EB4F
}
