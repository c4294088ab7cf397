package locks

import (
	"errors"
	"fmt"
	"sync"
)

func (r *redlock) quorum() int { return len(r.nodes)/2 + 1 }

// askAll asks every node at the same time and returns their answers in the order of the nodes. It waits for all, each of
// which takes at most its timeout.
func (r *redlock) askAll(ask func(i int, n *node) error) []error {
	answers := make([]error, len(r.nodes))
	var asked sync.WaitGroup
	for i, n := range r.nodes {
		asked.Go(func() { answers[i] = ask(i, n) })
	}
	asked.Wait()
	return answers
}

// majority makes one outcome of all nodes' answers: nil if a majority did it, ErrNotHeld if so many did not hold the
// lease that the others are no majority, else unknown.
func (r *redlock) majority(answers []error) error {
	var done, not int
	var why error
	for _, answer := range answers {
		switch {
		case answer == nil:
			done++
		case errors.Is(answer, ErrNotHeld):
			not++
		default:
			why = answer
		}
	}
	switch {
	case done >= r.quorum():
		return nil
	case len(r.nodes)-not < r.quorum():
		return fmt.Errorf("%w on %d of %d nodes", ErrNotHeld, not, len(r.nodes))
	}
	return fmt.Errorf("outcome unknown: done on %d of %d nodes, not held on %d: %w", done, len(r.nodes), not, why)
}
