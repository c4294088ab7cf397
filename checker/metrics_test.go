package checker

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// figure is one small history and the figures that it must have, as JSON: "" stands for a figure that is absent.
type figure struct {
	name    string
	history string
	want    map[string]string
}

func TestFiguresOfKnownHistories(t *testing.T) {
	for _, f := range figures {
		t.Run(f.name, func(t *testing.T) {
			c, err := NewCase(script(t, f.history))
			if err != nil {
				t.Fatal(err)
			}
			checkFigures(t, Measure(c), f.want)
		})
	}
}

func checkFigures(t *testing.T, m Metrics, want map[string]string) {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, value := range want {
		if got := string(all[name]); got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

var figures = []figure{
	{"nothing happened", ``, map[string]string{
		"grants": "0", "refusals": "0", "unknown_acquires": "0", "sections": "", "overlaps": "", "stale_writes": "", "loss": "",
		"acquire_latency": "", "wait": "", "acquire_calls_per_handover": "", "jain_fairness": "",
	}},
	{"outcomes of acquires", `
			0..1   A acquire ok lease=a
			0..1   B acquire fail lease=b
			0..1   C acquire info lease=c
			2      B acquire invoke lease=d`,
		map[string]string{"grants": "1", "refusals": "1", "unknown_acquires": "2", "loss": "", "sections": ""}},
	{"three believe at once", `
			0..1   A acquire ok lease=a
			1..2   B acquire ok lease=b
			2..3   C acquire ok lease=c
			4..5   A release ok lease=a
			4..5   B release ok lease=b
			4..5   C release ok lease=c
			6..7   A acquire ok lease=d
			8..9   A release ok lease=d`,
		map[string]string{"overlaps": `{"pairs":3,"grants":{"count":3,"of":4,"rate":0.75,"rate_low_95":0.300642,"rate_high_95":0.954413}}`}},
	{"who enters again overlaps nobody, nor do two locks", `
			0..1   A acquire ok lease=a on=x
			1..2   A acquire ok lease=b on=x
			1..2   B acquire ok lease=c on=y
			3..4   A release ok lease=a
			3..4   B release ok lease=c
			5..6   A release ok lease=b`,
		map[string]string{"overlaps": `{"pairs":0,"grants":{"count":0,"of":3,"rate":0,"rate_low_95":0,"rate_high_95":0.561497}}`}},
	{"one write of two is stale", `
			0..1    A acquire ok lease=a
			1.1     R read ok lease=a by=A
			9..10   B acquire ok lease=b
			10.1    R read ok lease=b by=B
			10.2    R write ok lease=b by=B version=1
			15      R write ok lease=a by=A version=2`,
		map[string]string{
			"sections":     "2",
			"stale_writes": `{"count":1,"of":2,"rate":0.5,"rate_low_95":0.094531,"rate_high_95":0.905469}`,
		}},
	{"a read that changed is no stale write", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B version=1
			4      R read ok lease=a by=A version=1`,
		map[string]string{
			"sections":     "2",
			"stale_writes": `{"count":0,"of":1,"rate":0,"rate_low_95":0,"rate_high_95":0.793451}`,
		}},
	{"a refused write was not applied", `
			0..1   A acquire ok lease=a
			1.1    R write fail lease=a by=A`,
		map[string]string{"sections": "0", "stale_writes": ""}},
	{"a log with a gap tells nothing", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A version=1
			1.2    R write ok lease=a by=A version=3`,
		map[string]string{"sections": "", "stale_writes": ""}},
	{"a wait goes over refusals", `
			0..1    A acquire ok lease=a
			1..2    B acquire fail lease=b
			3..5    B acquire ok lease=c
			9..10   A acquire fail lease=d`,
		map[string]string{
			"acquire_latency":            `{"count":2,"p50_ns":1000341503,"p90_ns":2000000000,"p99_ns":2000000000,"max_ns":2000000000}`,
			"wait":                       `{"count":2,"p50_ns":1000341503,"p90_ns":4000000000,"p99_ns":4000000000,"max_ns":4000000000}`,
			"acquire_calls_per_handover": "4",
			"jain_fairness":              "1",
		}},
	{"hand-overs are to another client, of the same lock", `
			0..1   A acquire ok lease=a on=x
			2..3   A acquire ok lease=b on=x
			4..5   B acquire ok lease=c on=x
			6..7   B acquire ok lease=d on=y
			8..9   A acquire ok lease=e on=x`,
		map[string]string{"acquire_calls_per_handover": "2.5"}},
	{"nobody took over", `
			0..1   A acquire ok lease=a
			2..3   A acquire ok lease=b`,
		map[string]string{"acquire_calls_per_handover": "", "jain_fairness": ""}},
	{"who never got the lock counts for fairness, the probe does not", `
			0..1   A acquire ok lease=a
			2..3   A acquire ok lease=b
			4..5   B acquire fail lease=c
			6..9   probe acquire ok lease=p`,
		map[string]string{"grants": "3", "jain_fairness": "0.5", "acquire_calls_per_handover": "",
			"wait": `{"count":2,"p50_ns":1000000000,"p90_ns":1000000000,"p99_ns":1000000000,"max_ns":1000000000}`}},
	{"nobody got the lock", `0..1 A acquire fail lease=a
			0..1 B acquire fail lease=b`, map[string]string{"jain_fairness": "", "overlaps": "", "wait": ""}},
}

// TestLossOfALease is about the end of a lease: who tells of it, and what its holder did then.
func TestLossOfALease(t *testing.T) {
	const none = `{"leases":0,"of":1,"signalled_in_time":0,"signalled_late":0,"not_signalled":0,"reads_after_loss":0,"writes_after_loss":0,"leases_with_writes":0}`
	for _, f := range []figure{
		{"until tells, and work goes on", `
			0..1     A acquire ok lease=a until=10
			9..9.1   A write ok lease=a
			10..11   A read ok lease=a
			11..12   A write ok lease=a
			13       A lost info lease=a
			14..15   A write ok lease=a
			16..17   A release fail lease=a`, map[string]string{"loss": `{"leases":1,"of":1,"signalled_in_time":0,"signalled_late":1,"not_signalled":0,"reads_after_loss":1,"writes_after_loss":2,"leases_with_writes":1,` +
			`"loss_to_signal_latency":{"count":1,"p50_ns":3000000000,"p90_ns":3000000000,"p99_ns":3000000000,"max_ns":3000000000}}`}},
		{"given back in time", `
			0..1   A acquire ok lease=a until=10
			9..12  A release ok lease=a
			12..13 A read ok lease=a`, map[string]string{"loss": none}},
		{"died in time", `
			0..1   A acquire ok lease=a until=10
			9      A died info
			12     B acquire invoke lease=b`, map[string]string{"loss": none}},
		{"the history ended in time", `0..1 A acquire ok lease=a until=10`, map[string]string{"loss": none}},
		{"an extension moves until", `
			0..1    A acquire ok lease=a until=10
			8..9    A extend ok lease=a until=19
			11..12  A release ok lease=a`, map[string]string{"loss": none}},
		{"one that comes too late does not", `
			0..1    A acquire ok lease=a until=10
			8..11   A extend ok lease=a until=19
			12..13  A release ok lease=a`, map[string]string{"loss": strings.NewReplacer(`"leases":0`, `"leases":1`, `"not_signalled":0`, `"not_signalled":1`).Replace(none)}},
		{"warned in time", `
			0..1    A acquire ok lease=a until=10
			9       A lost info lease=a
			12..13  B acquire fail lease=b`, map[string]string{"loss": strings.NewReplacer(`"leases":0`, `"leases":1`, `"signalled_in_time":0`, `"signalled_in_time":1`).Replace(none)}},
		{"no until, no servers", `
			0..1    A acquire ok lease=a
			12      A lost info lease=a`, map[string]string{"loss": ""}},
		{"the server's TTL counts, though it notices late; a fence counter is no lease", `
			0..1    A acquire ok lease=a until=10
			0.5     n1 key-set ok on=lock by=A ttl=10s
			0.5     n1 key-set ok on=fence by=A
			14      A lost info lease=a
			15      n1 key-expired ok on=lock
			15      n1 key-set ok on=fence by=B`, map[string]string{"loss": lateBy("3500000000")}},
		{"a renewal that only the server saw", `
			0..1    A acquire ok lease=a until=10
			0.5     n1 key-set ok on=lock by=A ttl=10s
			9       n1 key-ttl ok on=lock by=A ttl=10s
			14..15  A release ok lease=a
			14.5    n1 key-deleted ok on=lock by=A`, map[string]string{"loss": none}},
		{"deleted by another", `
			0..1    A acquire ok lease=a
			0.5     n1 key-set ok on=lock by=A
			4       n1 key-deleted ok on=lock by=B
			6       A lost info lease=a`, map[string]string{"loss": lateBy("2000000000")}},
		{"a moved clock: what the server did counts", `
			0..1    A acquire ok lease=a
			0.5     n1 key-set ok on=lock by=A ttl=10s
			2..3    fault-1 clock-step ok subject=n1
			4       n1 key-expired ok on=lock
			5       A lost info lease=a`, map[string]string{"loss": lateBy("1000000000")}},
		{"a majority of five must be gone", `
			0..1    A acquire ok lease=a
			0.5     n1 key-set ok on=lock by=A
			0.6     n2 key-set ok on=lock by=A
			0.7     n3 key-set ok on=lock by=A
			1.5     n4 key-set ok on=lock by=A
			4       n1 key-deleted ok on=lock
			5       n2 key-deleted ok on=lock
			6       n2 key-set ok on=lock by=B
			7       A lost info lease=a`, map[string]string{"loss": lateBy("2000000000")}},
		{"a crash may take keys without a word", `
			0..1    A acquire ok lease=a until=10
			0.5     n1 key-set ok on=lock by=A ttl=10s
			2..3    fault-1 crash ok subject=n1
			12      A lost info lease=a`, map[string]string{"loss": ""}},
		{"a value that is set again is on one node", `
			plan nodes=3
			0..1    A acquire ok lease=a until=10
			0.2     n1 key-set ok on=lock by=A ttl=10s
			0.4     n1 key-set ok on=lock by=A ttl=10s
			0.5     n2 key-set ok on=lock by=B ttl=10s
			0.6     n3 key-set ok on=lock by=B ttl=10s
			12      A lost info lease=a`, map[string]string{"loss": ""}},
		{"an end that only an extension told", `
			0..1    A acquire ok lease=a
			8..9    A extend ok lease=a until=10
			13.5    A lost info lease=a`, map[string]string{"loss": lateBy("3500000000")}},
		{"a replica is no second node", `
			plan nodes=1
			0..1    A acquire ok lease=a until=10
			0.5     n1 key-set ok on=lock by=A ttl=10s
			0.6     n2 key-set ok on=lock by=A ttl=10s
			12      A lost info lease=a`, map[string]string{"loss": ""}},
	} {
		t.Run(f.name, func(t *testing.T) {
			c, err := NewCase(script(t, f.history))
			if err != nil {
				t.Fatal(err)
			}
			checkFigures(t, Measure(c), f.want)
		})
	}
}

// lateBy is one lease lost, with a signal that came late.
func lateBy(ns string) string {
	return `{"leases":1,"of":1,"signalled_in_time":0,"signalled_late":1,"not_signalled":0,"reads_after_loss":0,"writes_after_loss":0,"leases_with_writes":0,` +
		strings.ReplaceAll(`"loss_to_signal_latency":{"count":1,"p50_ns":N,"p90_ns":N,"p99_ns":N,"max_ns":N}}`, "N", ns)
}

func TestTimelessFiguresHaveNoTimes(t *testing.T) {
	c, err := NewCase(script(t, "0..1 A acquire ok lease=a until=10"))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, Measure(c).WithoutTimes(), map[string]string{"grants": "1", "loss": "", "wait": "", "acquire_latency": ""})
}

// TestWilsonsInterval against published values (Newcombe 1998, "Two-sided confidence intervals for the single
// proportion", table I, method 3).
func TestWilsonsInterval(t *testing.T) {
	for _, law := range []struct {
		count, of int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		p := proportion(law.count, law.of)
		if math.Abs(p.Low95-law.low) > 0.00005 || math.Abs(p.High95-law.high) > 0.00005 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", law.count, law.of, p.Low95, p.High95, law.low, law.high)
		}
	}
	if proportion(0, 0) != nil {
		t.Error("a rate of nothing")
	}
}

// TestQuantilesOfFewAreAmongThem, by their rank: of six, five are less than 90 percent.
func TestQuantilesOfFewAreAmongThem(t *testing.T) {
	for n := 1; n <= 300; n++ {
		s := newSamples()
		for i := 1; i <= n; i++ {
			s.add(time.Duration(i))
		}
		for percent, got := range map[int]time.Duration{50: s.quantiles().P50, 90: s.quantiles().P90, 99: s.quantiles().P99} {
			want := 1
			for 100*want < percent*n {
				want++
			}
			if got != time.Duration(want) {
				t.Errorf("%d%% of 1 to %d: %d, want %d", percent, n, got, want)
			}
		}
	}
}

func TestQuantilesAreExactToThreeDigits(t *testing.T) {
	s := newSamples()
	for i := 1; i <= 1000; i++ {
		s.add(time.Duration(i) * time.Millisecond)
	}
	s.add(2 * longestSample)
	q := s.quantiles()
	for _, law := range []struct{ got, want time.Duration }{
		{q.P50, 501 * time.Millisecond}, {q.P90, 901 * time.Millisecond}, {q.P99, 991 * time.Millisecond},
	} {
		if math.Abs(law.got.Seconds()/law.want.Seconds()-1) > 0.002 {
			t.Errorf("%v, want %v", law.got, law.want)
		}
	}
	if q.Max != 2*longestSample || q.Count != 1001 {
		t.Errorf("greatest of %d is %v", q.Count, q.Max)
	}
}

// TestOverlapsAreCountedAsByHand compares the sweeps with looking at every pair, on random histories.
func TestOverlapsAreCountedAsByHand(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		holds := randomHolds(rng)
		pairs, want := 0, map[*Grant]bool{}
		for i, a := range holds {
			for _, b := range holds[:i] {
				if a.Client != b.Client && a.From < b.To && b.From < a.To {
					pairs++
					want[a.Grant], want[b.Grant] = true, true
				}
			}
		}
		got := map[*Grant]bool{}
		markOverlapped(holds, got)
		if n := overlappingPairs(holds); n != pairs || len(got) != len(want) {
			t.Fatalf("seed %d: %d pairs of %d grants, want %d of %d", seed, n, len(got), pairs, len(want))
		}
	}
}

// randomHolds come by their start.
func randomHolds(rng *rand.Rand) []*hold {
	var holds []*hold
	from := time.Duration(0)
	for range rng.IntN(12) {
		from += time.Duration(rng.IntN(3))
		b := &Belief{From: from, To: from + 1 + time.Duration(rng.IntN(6))}
		if rng.IntN(10) == 0 {
			b.To = forever
		}
		holds = append(holds, &hold{&Grant{Call: &Call{Client: name(1 + rng.IntN(3)), Outcome: history.Ok}}, b})
	}
	return holds
}
