package linear

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// rivalBudget is what porcupine gets for each history. PORCUPINE_TIME=60s gives it more than the default.
func rivalBudget(b *testing.B) Budget {
	budget := Budget{Time: 5 * time.Second, Memory: 4 << 30}
	if asked := os.Getenv("PORCUPINE_TIME"); asked != "" {
		var err error
		if budget.Time, err = time.ParseDuration(asked); err != nil {
			b.Fatal(err)
		}
	}
	return budget
}

// BenchmarkMutex judges the same histories with the special-purpose checker and with porcupine, under the same model.
// x-faster compares the two; x-faster-cold takes the first run, which finds nothing in the caches and allocates
// B/history-op. On a machine that is shared, best-ms says most about how long it takes. If porcupine gave up (porcupine-gave-up is 1), it is a lower bound.
func BenchmarkMutex(b *testing.B) {
	for _, violated := range []bool{false, true} {
		for _, clients := range []int{5, 20, 100} {
			for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
				for _, doubt := range []float64{0, 0.01, 0.1} {
					benchmarkMutex(b, traffic{clients: clients, ops: n, doubt: doubt, seed: 42}, violated, lockmodel.Lenient)
				}
			}
		}
	}
}

// BenchmarkStrictMutex does the same where each refusal must be explained.
func BenchmarkStrictMutex(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		for _, doubt := range []float64{0, 0.01, 0.1} {
			benchmarkMutex(b, traffic{clients: 20, ops: n, doubt: doubt, seed: 42}, false, lockmodel.Strict)
		}
	}
}

func benchmarkMutex(b *testing.B, t traffic, violated bool, refusal lockmodel.Refusal) {
	name := "valid"
	want := Legal
	if violated {
		name, want = "violated", Illegal
	}
	b.Run(fmt.Sprintf("%s/clients=%d/ops=%d/unknown=%g%%", name, t.clients, t.ops, t.doubt*100), func(b *testing.B) {
		ops := t.generate()
		if violated && !violate(ops) {
			b.Fatal("no place for a violation")
		}
		theirs, gaveUp := timePorcupine(b, ops, lockmodel.Mutex(refusal), want)
		debug.FreeOSMemory()
		b.ReportAllocs()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first := time.Now()
		judge := new(Judge)
		judge.Mutex(ops, refusal)
		cold := time.Since(first)
		runtime.ReadMemStats(&after)
		var v Verdict
		best := cold
		for b.Loop() {
			start := time.Now()
			v = judge.Mutex(ops, refusal)
			best = min(best, time.Since(start))
		}
		if v.Status != want || violated && len(v.Witness) == 0 {
			b.Fatalf("%v (reason %d), witness %v", v.Status, v.Reason, v.Witness)
		}
		ours := b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-faster")
		b.ReportMetric(theirs.Seconds()/cold.Seconds(), "x-faster-cold")
		b.ReportMetric(float64(theirs.Microseconds())/1000, "porcupine-ms")
		b.ReportMetric(gaveUp, "porcupine-gave-up")
		b.ReportMetric(float64(cold.Microseconds())/1000, "cold-ms")
		b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(len(ops)), "B/history-op")
	})
}

// timePorcupine tells what porcupine spent, and 1 if that was all it had.
func timePorcupine(b *testing.B, ops []lockmodel.Op, model lockmodel.Model, want Status) (time.Duration, float64) {
	start := time.Now()
	v := Search(model, ops, rivalBudget(b))
	spent := time.Since(start)
	switch v.Status {
	case Undecided:
		return spent, 1
	case want:
		return spent, 0
	}
	b.Fatalf("porcupine says %v", v.Status)
	return 0, 0
}
