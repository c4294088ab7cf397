package checker

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// compareVerdict fails if a property and porcupine do not say the same of a history.
func compareVerdict(t *rapid.T, p Property, events []history.Event, m lockmodel.Model, ops []lockmodel.Op, seen map[Status]int) {
	c, err := NewCase(events)
	if err != nil {
		t.Fatal(err)
	}
	v := p.Judge(c)
	seen[v.Status]++
	if legal := porcupine.CheckOperations(m.Porcupine(), lockmodel.Operations(ops)); legal != (v.Status == Held) {
		t.Fatalf("%s is %v (%v), porcupine says legal %v\n%v", p.Name, v.Status, v.Witness, legal, ops)
	}
}

// ended numbers events and adds an end.
func ended(events []history.Event) []history.Event {
	events = append(events, history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.End, Time: time.Hour})
	for i := range events {
		events[i].Index = i
	}
	return events
}

// fenceSource is what a lock is to those who only look at its fences: each grant has a greater one than all before, whoever
// holds.
func fenceSource() lockmodel.Model {
	return lockmodel.Spec[int64]{
		Title:  "fence-source",
		Happen: func(highest int64, op *lockmodel.Op) (int64, bool) { return max(highest, op.Value), op.Value > highest },
		Refuse: func(int64, *lockmodel.Op) bool { return true },
	}
}

func TestFenceOrderAndPorcupineAgree(t *testing.T) {
	seen := map[Status]int{}
	checkMany(t, 100, func(t *rapid.T) {
		var events []history.Event
		var ops []lockmodel.Op
		for i := range rapid.IntRange(2, 8).Draw(t, "grants") {
			e := history.Event{Process: fmt.Sprint("client-", i), Op: history.Acquire, Type: history.Invoke}
			e.Time = time.Duration(rapid.IntRange(0, 12).Draw(t, "asked"))
			events = append(events, e)
			op := lockmodel.Op{Call: int64(e.Time), Outcome: history.Ok, Owner: int32(i)}
			e.Time += time.Duration(rapid.IntRange(0, 8).Draw(t, "wait"))
			e.Type, e.Fence = history.Ok, max(1, int64(e.Time)+rapid.Int64Range(-2, 2).Draw(t, "fence"))
			events = append(events, e)
			op.Return, op.Value = int64(e.Time), e.Fence
			ops = append(ops, op)
		}
		slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
		compareVerdict(t, fenceOrder, ended(events), fenceSource(), ops, seen)
	})
	if seen[Held] == 0 || seen[Violated] == 0 {
		t.Errorf("nothing was compared: %v", seen)
	}
}

func TestFenceEnforcementAndPorcupineAgree(t *testing.T) {
	seen := map[Status]int{}
	checkMany(t, 100, func(t *rapid.T) {
		events := []history.Event{
			{Process: "A", Op: history.Acquire, Type: history.Invoke}, {Process: "A", Op: history.Acquire, Type: history.Ok}}
		var ops []lockmodel.Op
		for i := range rapid.IntRange(1, 8).Draw(t, "writes") {
			fence := max(1, int64(i)+rapid.Int64Range(-1, 1).Draw(t, "fence"))
			e := history.Event{Process: "R", Role: history.Resource, Op: history.Write, Type: history.Ok, Fence: fence}
			e.By, e.Version, e.Time = fmt.Sprint("client-", fence), int64(i+1), time.Duration(i)
			events = append(events, e)
			ops = append(ops, lockmodel.Op{Call: int64(i * 2), Return: int64(i * 2), Arg: fence, Kind: lockmodel.Write, Outcome: history.Ok})
		}
		compareVerdict(t, fenceEnforcement, ended(events), lockmodel.FencedRegister(), ops, seen)
	})
	if seen[Held] == 0 || seen[Violated] == 0 {
		t.Errorf("nothing was compared: %v", seen)
	}
}
