package checker

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// judged are the properties that a history of any size is judged by.
var judged = []Property{exclusion, fenceOrder, fenceEnforcement, effects}

// BenchmarkJudge digests a history and judges it, after it was read: what takes how long and how much memory.
// B/history-op is all that is allocated on the way, for each operation of the history.
func BenchmarkJudge(b *testing.B) {
	for _, violated := range []bool{false, true} {
		for _, n := range []int{1e4, 1e5, 1e6} {
			for _, doubt := range []float64{0, 0.1} {
				s := sections{clients: 20, ops: n, doubt: doubt, violated: violated, seed: 42}
				b.Run(fmt.Sprintf("violated=%v/ops=%d/unknown=%g%%", violated, n, doubt*100), func(b *testing.B) { benchmarkJudge(b, s) })
			}
		}
	}
}

// BenchmarkJudgeTenMillion needs about 6 GB.
func BenchmarkJudgeTenMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("needs about 6 GB")
	}
	benchmarkJudge(b, sections{clients: 20, ops: 1e7, seed: 42})
}

func benchmarkJudge(b *testing.B, s sections) {
	events := s.generate()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := digested(b, events)
	for _, p := range judged {
		verdictOf(b, c, p, s.violated)
	}
	runtime.ReadMemStats(&after)
	spent, cpu := map[string]time.Duration{}, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		runtime.GC() // what the one before has left is no cost of this one
		b.StartTimer()
		before := cpuTime()
		start := time.Now()
		c := digested(b, events)
		spent["digest"] += time.Since(start)
		for _, p := range judged {
			start := time.Now()
			verdictOf(b, c, p, s.violated)
			spent[p.Name] += time.Since(start)
		}
		cpu += cpuTime() - before
	}
	// On a machine that is shared, the time of the processor says more than that of the clock.
	b.ReportMetric(cpu.Seconds()*1000/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(s.ops), "B/history-op")
	for name, d := range spent {
		b.ReportMetric(d.Seconds()*1000/float64(b.N), name+"-ms")
	}
}

// cpuTime is what the process has used so far, garbage collection included.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func digested(b *testing.B, events []history.Event) *Case {
	c, err := NewCase(events)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func verdictOf(b *testing.B, c *Case, p Property, violated bool) {
	want := Held
	if violated && p.Name != FenceOrder {
		want = Violated
	}
	if v := p.Judge(c); v.Status != want {
		b.Fatalf("%s is %v (%s)", p.Name, v.Status, v.Reason)
	}
}

// BenchmarkTenTimes judges histories of which each is ten times as long as the one before, and reports how many times as
// much of the processor that took: the best of as many runs of each, since a machine that is shared only ever adds to it.
func BenchmarkTenTimes(b *testing.B) {
	sizes := []int{1e5, 1e6, 1e7}
	if testing.Short() {
		sizes = sizes[:2] // the largest needs about 6 GB
	}
	for b.Loop() {
		var before time.Duration
		for _, n := range sizes {
			best := forever
			events := sections{clients: 20, ops: n, seed: 42}.generate()
			for range 5 {
				runtime.GC()
				start := cpuTime()
				c := digested(b, events)
				for _, p := range judged {
					verdictOf(b, c, p, false)
				}
				best = min(best, cpuTime()-start)
			}
			b.ReportMetric(best.Seconds()*1000, fmt.Sprintf("cpu-ms-%.0g", float64(n)))
			if before > 0 {
				b.ReportMetric(best.Seconds()/before.Seconds(), fmt.Sprintf("x-%.0g", float64(n)))
			}
			before = best
		}
	}
}
