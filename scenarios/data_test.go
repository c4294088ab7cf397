package scenarios

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/history"
)

func unobserved(Response) {}

// write asks d to write for the lease "L<fence>", or for another one.
func write(d *Data, fence int64, lease string, value int64) Response {
	return d.Do(Request{Op: history.Write, Client: "A", Lease: lease, Fence: fence, Value: value}, unobserved)
}

func TestAResourceThatEnforcesFencesRefusesWhatIsStale(t *testing.T) {
	const (
		applied = ""
		stale   = "stale fence 33, a write with 34 came before"
		used    = "fence 34 was already used by another grant"
	)
	d := (&Scenario{Data: RegisterData}).NewData(true)
	for i, tt := range []struct {
		law   string
		fence int64
		lease string
		want  string
	}{
		{"the first is the first", 33, "A/1", applied},
		{"a greater one comes after", 34, "B/1", applied},
		{"a holder writes more than once", 34, "B/1", applied},
		{"a lower one is stale", 33, "A/1", stale},
		{"two holders of one fence are one too many", 34, "C/1", used},
		{"also if the first comes again", 34, "C/1", used},
		{"who has none is not let in", 0, "D/1", "no fence"},
		{"nor below none", -1, "D/1", "no fence"},
		{"the refused have not moved the fence", 34, "B/1", applied},
	} {
		if got := write(d, tt.fence, tt.lease, int64(i)); got.Refused != tt.want {
			t.Errorf("%s: %q, want %q", tt.law, got.Refused, tt.want)
		}
	}
	if got := write((&Scenario{}).NewData(true), 0, "A/1", 1); got.Refused != "no fence" {
		t.Errorf("no fence at first: %q", got.Refused)
	}
}

func TestAResourceThatDoesNotEnforceFencesAppliesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := (&Scenario{Data: RegisterData}).NewData(false)
		for i := range rapid.IntRange(1, 20).Draw(t, "writes") {
			value := rapid.Int64().Draw(t, "value")
			got := write(d, rapid.Int64().Draw(t, "fence"), rapid.StringN(0, 2, -1).Draw(t, "lease"), value)
			if got != (Response{Value: value, Version: int64(i + 1)}) {
				t.Errorf("write %d of %d: %+v", i+1, value, got)
			}
		}
	})
}

func TestAppliedFencesNeverGoBackAndTheRefusedChangeNothing(t *testing.T) {
	refusals := 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]DataKind{RegisterData, InventoryData}).Draw(t, "kind")
		d := (&Scenario{Data: kind, Stock: 100}).NewData(true)
		before := d.Do(Request{Op: history.Read}, unobserved)
		last, owner := int64(0), ""
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			r := Request{
				Op:    rapid.SampledFrom([]history.Op{history.Write, history.Write, history.Read}).Draw(t, "op"),
				Lease: rapid.SampledFrom([]string{"A/1", "B/1"}).Draw(t, "lease"),
				Fence: rapid.Int64Range(-1, 6).Draw(t, "fence"), Value: rapid.Int64Range(1, 50).Draw(t, "value"),
			}
			got, want := d.Do(r, unobserved), before
			switch {
			case got.Refused != "":
				refusals++
				if r.Op == history.Read || r.Fence > last || r.Fence == last && r.Lease == owner {
					t.Errorf("%+v is refused after fence %d of %s: %s", r, last, owner, got.Refused)
				}
			case r.Op == history.Write:
				if r.Fence < last || r.Fence == last && r.Lease != owner || r.Fence <= 0 {
					t.Errorf("%+v is applied after fence %d of %s", r, last, owner)
				}
				last, owner = r.Fence, r.Lease
				want.Version++
				if want.Value = r.Value; kind == InventoryData {
					want.Value = before.Value - r.Value
				}
			}
			if got.Value != want.Value || got.Version != want.Version {
				t.Errorf("%+v after %+v gives %+v", r, before, got)
			}
			before = Response{Value: got.Value, Version: got.Version}
		}
	})
	if refusals == 0 {
		t.Error("nothing was ever refused")
	}
}

func TestAnInventoryBeginsWithItsStockAndAWriteTakes(t *testing.T) {
	d := (&Scenario{Data: InventoryData, Stock: 100}).NewData(false)
	for i, want := range []int64{70, 30, -10} { // taking more than there is is the damage that a lock is to prevent
		if got := write(d, 0, "A/1", []int64{30, 40, 40}[i]); got.Value != want {
			t.Errorf("write %d leaves %d, want %d", i+1, got.Value, want)
		}
	}
	if got := (&Scenario{Data: RegisterData, Stock: 100}).NewData(false).Do(Request{Op: history.Read}, unobserved); got != (Response{}) {
		t.Errorf("a register begins with %+v", got)
	}
}

func TestRequestsAreOneStepEachAndObservedInTheirOrder(t *testing.T) {
	const clients, writes = 8, 200
	d := (&Scenario{Data: InventoryData, Stock: clients * writes}).NewData(true)
	var observed []Response
	var fences sync.Mutex
	last := int64(0)
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for range writes {
				fences.Lock() // the lock that hands fences out
				last++
				fence := last
				fences.Unlock()
				r := Request{Op: history.Write, Lease: fmt.Sprint(i, fence), Fence: fence, Value: 1}
				d.Do(r, func(a Response) {
					if d.mu.TryLock() {
						d.mu.Unlock()
						t.Error("another request can come between this one and its observation")
					}
					observed = append(observed, a)
				})
				d.Do(Request{Op: history.Read}, unobserved)
			}
		})
	}
	running.Wait()
	if len(observed) != clients*writes {
		t.Fatalf("%d of %d writes were observed", len(observed), clients*writes)
	}
	version := int64(0)
	for i, a := range observed {
		if a.Refused == "" {
			version++
		}
		if a.Version != version || a.Value != clients*writes-version {
			t.Fatalf("observation %d is %+v after %d applied writes", i, a, version)
		}
	}
}
