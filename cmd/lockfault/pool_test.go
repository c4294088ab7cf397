package main

import (
	"context"
	"sync"
	"testing"
	"time"
)

func queueOf(n int, ends time.Time) *queue {
	q := &queue{ends: ends}
	for range n {
		q.jobs = append(q.jobs, &job{})
	}
	return q
}

func takeAll(ctx context.Context, q *queue) []*job {
	var taken []*job
	for j := q.take(ctx); j != nil; j = q.take(ctx) {
		taken = append(taken, j)
	}
	return taken
}

func TestQueueHandsOutEachJobOnce(t *testing.T) {
	q := queueOf(1000, time.Time{})
	seen := map[*job]bool{}
	var mu sync.Mutex
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			taken := takeAll(t.Context(), q)
			mu.Lock()
			defer mu.Unlock()
			for _, j := range taken {
				if seen[j] {
					t.Error("taken twice")
				}
				seen[j] = true
			}
		})
	}
	takers.Wait()
	if len(seen) != len(q.jobs) {
		t.Errorf("%d of %d taken", len(seen), len(q.jobs))
	}
}

func TestSpentBudgetAllowsOneRunAndCancellationNone(t *testing.T) {
	now := time.Now()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, of := range map[string]struct {
		ctx  context.Context
		ends time.Time
		want int
	}{
		"no budget":     {t.Context(), time.Time{}, 5},
		"budget left":   {t.Context(), now.Add(time.Hour), 5},
		"budget spent":  {t.Context(), now.Add(-time.Second), 1},
		"canceled":      {canceled, time.Time{}, 0},
		"both together": {canceled, now.Add(-time.Second), 0},
	} {
		if got := len(takeAll(of.ctx, queueOf(5, of.ends))); got != of.want {
			t.Errorf("%s: %d runs begun, want %d", name, got, of.want)
		}
	}
}
