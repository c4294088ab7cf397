package lockmodel

// Fenced is a mutex whose every grant has a greater fence than all earlier ones.
func Fenced(r Refusal) Spec[Hold] {
	lock := func(now Hold, op *Op) (Hold, bool) { return enterFenced(now, op, 1) }
	return Spec[Hold]{Title: "fenced", Happen: lock, Refuse: refuseFenced(r, lock), Hash: hashHold}
}

// ReentrantFenced is a reentrant mutex whose holds have fences: the same within a hold, greater from hold to hold. A
// hold whose first fence is not known takes the first that is.
func ReentrantFenced(limit int32, r Refusal) Spec[Hold] {
	lock := func(now Hold, op *Op) (Hold, bool) { return enterFenced(now, op, limit) }
	return Spec[Hold]{Title: "reentrant-fenced", Happen: lock, Refuse: refuseFenced(r, lock), Hash: hashHold}
}

func enterFenced(now Hold, op *Op, limit int32) (Hold, bool) {
	next, ok := enterAgain(now, op, limit)
	if !ok || op.Kind == Release || op.Value == 0 {
		return next, ok
	}
	if now.Depth > 0 && now.Fence != 0 {
		return next, op.Value == now.Fence
	}
	next.Fence, next.Highest = op.Value, max(now.Highest, op.Value)
	return next, op.Value > now.Highest
}

// refuseFenced leaves the fence out: an acquire that was refused has none.
func refuseFenced(r Refusal, happen func(Hold, *Op) (Hold, bool)) func(Hold, *Op) bool {
	plain := refuse(r, happen)
	return func(now Hold, op *Op) bool {
		without := *op
		without.Value = 0
		return plain(now, &without)
	}
}
