package lockmodel

// Register holds one value, initially 0.
func Register() Spec[int64] {
	return Spec[int64]{
		Title: "register",
		Happen: func(now int64, op *Op) (int64, bool) {
			switch op.Kind {
			case Read:
				return now, op.Value == now
			case Write:
				return op.Value, true
			}
			return now, false
		},
		Refuse: func(int64, *Op) bool { return true }, // a write that did not happen says nothing
		Hash:   func(now int64) uint64 { return uint64(now) * 0x9E3779B97F4A7C15 },
	}
}

// Guarded is the state of a register that enforces fences.
type Guarded struct{ Value, Highest int64 }

// FencedRegister applies a write exactly if its fence is at least the highest seen (Kleppmann 2016, "How to do
// distributed locking").
func FencedRegister() Spec[Guarded] {
	return Spec[Guarded]{
		Title: "fenced-register",
		Happen: func(now Guarded, op *Op) (Guarded, bool) {
			switch {
			case op.Kind == Read:
				return now, op.Value == now.Value
			case op.Kind == Write && op.Arg >= now.Highest:
				return Guarded{op.Value, op.Arg}, true
			}
			return now, false
		},
		Refuse: func(now Guarded, op *Op) bool { return op.Kind != Write || op.Arg < now.Highest },
		Hash:   func(now Guarded) uint64 { return uint64(now.Value)*0x9E3779B97F4A7C15 ^ uint64(now.Highest) },
	}
}

// Counter is a number, initially 0, to which each section adds as one atomic fetch-and-add.
func Counter() Spec[int64] {
	return Spec[int64]{
		Title: "counter",
		Happen: func(now int64, op *Op) (int64, bool) {
			switch op.Kind {
			case Read:
				return now, op.Value == now
			case Add:
				return now + op.Arg, op.Value == now
			}
			return now, false
		},
		Refuse: func(int64, *Op) bool { return true },
		Hash:   func(now int64) uint64 { return uint64(now) * 0x9E3779B97F4A7C15 },
	}
}

// Inventory is a stock that is never oversold: a take succeeds exactly if enough is left.
func Inventory(stock int64) Spec[int64] {
	return Spec[int64]{
		Title: "inventory",
		Init:  stock,
		Happen: func(now int64, op *Op) (int64, bool) {
			told := op.Value == now || op.Untold
			switch {
			case op.Kind == Read:
				return now, op.Value == now
			case op.Kind == Take && op.Arg <= now:
				return now - op.Arg, told
			}
			return now, false
		},
		Refuse: func(now int64, op *Op) bool { return op.Kind != Take || op.Arg > now },
		Hash:   func(now int64) uint64 { return uint64(now) * 0x9E3779B97F4A7C15 },
	}
}
