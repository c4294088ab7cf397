package checker

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

func TestLeasesLapseWhileTheirReleasesAreInFlight(t *testing.T) {
	for _, model := range []string{"mutex", "fenced", "reentrant", "reentrant-fenced", "semaphore"} {
		checkObject(t, model, linear.Options{Permits: 1}, []law{
			{"refused after the lapse", `
				1..2   A acquire ok lease=a until=30
				29..31 A release fail lease=a`, Held, "", nil},
			{"called as it lapsed", `
				1..2   A acquire ok lease=a until=30
				30..31 A release fail lease=a`, Held, "", nil},
			{"answered as it lapsed", `
				1..2   A acquire ok lease=a until=30
				29..30 A release fail lease=a`, Held, "", nil},
			{"refused before the lapse", `
				1..2   A acquire ok lease=a until=30
				28..29 A release fail lease=a`, Violated, "who held was refused its release", nil},
			{"refused while its owner was told of the loss", `
				1..2   A acquire ok lease=a
				29..31 A release fail lease=a
				30     A lost info lease=a
				40..41 B acquire ok lease=b`, Held, "", nil},
			{"and who names no lease", `
				1..2   A acquire ok
				29..31 A release fail
				30     A lost info
				40..41 B acquire ok`, Held, "", nil},
			{"told before it knew of the grant", `
				1..4   A acquire ok lease=a
				3      A lost info lease=a
				5..6   B acquire ok lease=b`, Held, "", nil},
			{"tried again as it lapsed", `
				1..2   A acquire ok lease=a until=30
				29..30 A release fail lease=a
				30..31 A release info lease=a`, Held, "", nil},
			{"refused, and given back after all", `
				1..2   A acquire ok lease=a until=3
				4..5   A release fail lease=a
				6..7   A release ok lease=a`, Violated, "A release from 6.000 s to 7.000 s ok", nil},
			{"released instead", `
				1..2   A acquire ok lease=a until=30
				29..31 A release ok lease=a
				29..32 B acquire ok lease=b`, Held, "", nil},
			{"and did hold until then", `
				1..2   A acquire ok lease=a until=30
				27..28 B acquire ok lease=b
				29..31 A release fail lease=a`, Violated, "", nil},
		})
	}
}

// A lease of which no client knows whether it was granted refuses the lock to others for no longer than it lasts.
func TestUnknownLeasesLapse(t *testing.T) {
	for _, model := range []string{"mutex", "fenced", "reentrant", "reentrant-fenced", "semaphore"} {
		checkObject(t, model, linear.Options{Permits: 1, Refusal: lockmodel.Strict}, []law{
			{"after a TTL", `
				1..2   A acquire info lease=a
				3..4   B acquire fail lease=b1
				12..13 B acquire ok lease=b2`, Held, "", nil},
			{"not before", `
				1..2   A acquire info lease=a
				3..4   B acquire fail lease=b1
				9..10  B acquire ok lease=b2`, Violated, "refused while the lock was free", nil},
			{"without a TTL, never", `
				plan ttl=0s
				1..2   A acquire info lease=a
				3..4   B acquire fail lease=b1
				12..13 B acquire ok lease=b2`, Violated, "refused while the lock was free", nil},
		})
	}
}

// A lock that knows its clients ends with a lease the hold that this is of, and no other.
func TestLapsesEndTheirOwnHolds(t *testing.T) {
	checkObject(t, "reentrant", linear.Options{Limit: 1}, []law{
		{"an acquire that its release proves", `
			1..2   A acquire info lease=a1
			3..4   A release ok lease=a1
			4      A lost info lease=a1
			6..7   A acquire ok lease=a2
			8..9   A acquire ok lease=a3`, Violated, "", nil}})
	checkObject(t, "reentrant", linear.Options{}, []law{
		{"what shows that the hold went on", `
			1..5   B acquire ok lease=b1
			5..9   B acquire ok lease=b2
			2..12  C acquire ok lease=c
			12     B lost info lease=b1`, Violated, "B acquire from 5.000 s to 9.000 s ok", nil}})
}

// What a lapse leaves of a lease's operations has an order exactly if all of them have one, and is decided without a search.
func TestLapsesChangeNoVerdict(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	byCall := func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) }
	seen := map[bool]int{}
	for range 20_000 {
		var plain []lockmodel.Op
		h := &objectHistory{}
		for owner := range int32(1 + rng.IntN(4)) {
			l := &ownedLease{owner: owner, history: h}
			now := int64(rng.IntN(10))
			add := func(kind lockmodel.Kind, outcome history.Type) {
				op := lockmodel.Op{Call: now, Return: lockmodel.Never, Owner: owner, Kind: kind, Outcome: outcome}
				if now++; outcome != history.Info {
					op.Return = op.Call + int64(rng.IntN(6))
					now = op.Return + 1 + int64(rng.IntN(4))
				}
				if kind == lockmodel.Acquire && outcome == history.Ok {
					op.Value = int64(rng.IntN(4))
				}
				if kind == lockmodel.Release {
					l.releases = append(l.releases, int32(len(h.ops)))
				}
				h.ops, h.calls, plain = append(h.ops, op), append(h.calls, int32(len(h.calls))), append(plain, op)
			}
			acquired := []history.Type{history.Ok, history.Ok, history.Ok, history.Fail, history.Info}[rng.IntN(5)]
			add(lockmodel.Acquire, acquired)
			from := now
			for range rng.IntN(3) {
				add(lockmodel.Release, []history.Type{history.Ok, history.Fail, history.Fail, history.Info}[rng.IntN(4)])
			}
			if acquired != history.Fail && rng.IntN(4) > 0 {
				then := from + int64(rng.IntN(8))
				plain = append(plain, lockmodel.Lapse(owner, then))
				l.lapse(then, acquired == history.Ok)
			}
		}
		slices.SortStableFunc(plain, byCall)
		h.sort()
		for _, refusal := range []lockmodel.Refusal{lockmodel.Lenient, lockmodel.Strict} {
			for _, m := range []lockmodel.Model{lockmodel.Mutex(refusal), lockmodel.Fenced(refusal)} {
				want := porcupine.CheckOperations(m.Porcupine(), lockmodel.Operations(plain))
				if got := porcupine.CheckOperations(m.Porcupine(), lockmodel.Operations(h.ops)); got != want {
					t.Fatalf("%s: legal %v, want %v\n%+v\n%+v", m.Name(), got, want, h.ops, plain)
				}
				seen[want]++
			}
		}
		onceGranted := !slices.ContainsFunc(plain, func(op lockmodel.Op) bool {
			return op.Kind == lockmodel.Acquire && op.Outcome == history.Info
		})
		if v := linear.Mutex(h.ops, lockmodel.Lenient); onceGranted && v.Status == linear.Undecided {
			t.Fatalf("undecided, reason %d\n%+v", v.Reason, h.ops)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("nothing was compared: %v", seen)
	}
}
