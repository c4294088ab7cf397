package checker

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// Bounds of the second opinion. The search is exponential in the worst case, so beyond them it is done without.
const (
	confirmOperations = 4000
	confirmTimeout    = 5 * time.Second
)

// confirm asks porcupine, which knows nothing of how a verdict came about, whether it thinks the same. A verdict on
// which the two disagree is worth nothing.
func confirm(v Verdict, model porcupine.Model, operations []porcupine.Operation) Verdict {
	if len(operations) > confirmOperations {
		return v
	}
	second := porcupine.CheckOperationsTimeout(model, operations, confirmTimeout)
	if v.Status == Held && second == porcupine.Illegal || v.Status == Violated && second == porcupine.Ok {
		return undecided("lockfault's two checkers disagree: please report this history")
	}
	return v
}
