package lockmodel

// Refusal says when a lock may refuse an acquire.
type Refusal bool

const (
	// Lenient: at any time. A lock may give up too early, or be out of reach.
	Lenient Refusal = false
	// Strict: only if the model does not allow the grant. The lock knows that somebody holds it.
	Strict Refusal = true
)

// refuse makes the Refuse of a lock from what it can do: a release is refused exactly to those who do not hold.
func refuse[S comparable](r Refusal, happen func(S, *Op) (S, bool)) func(S, *Op) bool {
	return func(now S, op *Op) bool {
		if op.Kind == Acquire && r == Lenient {
			return true
		}
		_, possible := happen(now, op)
		return !possible
	}
}
