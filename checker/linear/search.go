package linear

import (
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// Budget bounds a search. Zero values are no bounds.
type Budget struct {
	Time   time.Duration
	Memory uint64 // bytes by which the heap of the process may grow
}

// DefaultBudget lets porcupine search for as long as a person waits, in what a small machine has.
var DefaultBudget = Budget{Time: 10 * time.Second, Memory: 1 << 30}

// Search asks porcupine whether a history is legal. It decides every model and any history, if the budget lasts: the
// time that it needs is exponential in the number of operations that overlap, among which are all with unknown
// outcome. What one client did comes one after the other.
func Search(model lockmodel.Model, ops []lockmodel.Op, budget Budget) Verdict {
	m := inOrder(model.Porcupine(), ops)
	var full atomic.Bool
	stop := watchMemory(budget.Memory, &full)
	defer stop()
	step := m.Step
	m.Step = func(state, in, out any) (bool, any) {
		if full.Load() { // without a step porcupine unwinds at once
			return false, state
		}
		return step(state, in, out)
	}
	result := porcupine.CheckOperationsTimeout(m, lockmodel.Operations(ops), budget.Time)
	switch {
	case result == porcupine.Ok:
		return Verdict{Status: Legal}
	case full.Load():
		return *undecided(OutOfMemory)
	case result == porcupine.Illegal:
		return Verdict{Status: Illegal, Reason: Searched}
	}
	return *undecided(OutOfTime)
}

// memoryPoll is how often the heap is measured: porcupine fills a gigabyte in about a second.
const memoryPoll = 5 * time.Millisecond

// watchMemory sets full once the heap has grown by more than the limit. The function that it returns ends the watch.
func watchMemory(limit uint64, full *atomic.Bool) (stop func()) {
	if limit == 0 {
		return func() {}
	}
	start := heapInUse()
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(memoryPoll)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if now := heapInUse(); now > start && now-start > limit {
					full.Store(true)
				}
			}
		}
	}()
	return func() { close(done) }
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
