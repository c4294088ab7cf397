package linear

// Status says whether a history has a legal order. The zero value says nothing.
type Status uint8

const (
	Undecided Status = iota
	Legal
	Illegal
)

func (s Status) String() string { return [...]string{"undecided", "legal", "illegal"}[s] }

// Reason says what was found.
type Reason uint8

const (
	None Reason = iota

	// Why a history is illegal.
	Overlap        // two holds overlap
	NoRoom         // a hold whose acquire has unknown outcome, but whose release succeeded, fits nowhere
	Reacquired     // an owner that held was granted the lock again
	ReleasedNone   // an owner that did not hold released
	RefusedRelease // an owner that held was refused its release
	RefusedFree    // an acquire was refused while the lock was free
	FenceOrder     // a later grant has no greater fence
	Crowded        // more permits were held at once than there are
	StaleRead      // a register gave a value that had been overwritten, or was not yet or never written
	StaleWrite     // a register applied a lower fence after a higher one
	RefusedWrite   // a register refused a fence that was high enough
	Searched       // porcupine found no legal order

	// Why a special-purpose checker leaves a history undecided; Object.Check asks porcupine then.
	IdentityReuse // an owner acquired again after an operation with unknown outcome, or did two things at once
	Intricate     // more unknown outcomes, or brief holds, stand together than the argument covers
	EqualFences   // of writes that overlap, or values that were written twice

	// Why porcupine leaves it undecided: it ran out of this.
	OutOfTime
	OutOfMemory
)

// Verdict is what a history says.
type Verdict struct {
	Status  Status
	Reason  Reason
	Witness []int32 // of an illegal history: operations that show it, ascending; nil if only porcupine saw it
}

func undecided(why Reason) *Verdict { return &Verdict{Reason: why} }
