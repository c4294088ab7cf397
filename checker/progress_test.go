package checker

import (
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

func TestTheLockCanBeHadAfterHealing(t *testing.T) { checkLaws(t, Progress, progressLaws) }

var progressLaws = []law{
	{"the probe is granted", `
			0..1     A acquire fail
			1..5     fault-1 pause ok subject=A
			20..21   probe acquire ok lease=p`, Held, "every operation ended, and the probe was granted the lock at 21.000 s", nil},
	{"the probe is refused", `
			0..1     A acquire ok lease=a
			0.5      n1 key-set ok on=lock:r by=A
			1..5     fault-1 pause ok subject=A
			20..41   probe acquire fail`,
		Violated, "the probe, asking since 20.000 s, was refused the lock at 41.000 s, though every fault had healed by 5.000 s; lock:r on n1 still has what A set at 0.500 s", []int{2, 6, 7}},
	{"the probe gets no answer", `
			0..1     A acquire ok lease=a
			2..3     A release ok lease=a
			20..41   probe acquire info`,
		Violated, "the probe, asking since 20.000 s, did not get an answer about the lock at 41.000 s", nil},
	{"refused first, then granted", `
			20..21   probe acquire fail
			22..23   probe acquire ok lease=p`, Held, "", nil},
	{"granted, then refused", `
			20..21   probe acquire ok lease=p
			22..23   probe release ok lease=p
			40..41   probe acquire fail`, Violated, "", nil},
	{"granted only before the faults", `
			1..2     probe acquire ok lease=p
			3..4     probe release ok lease=p
			5..9     fault-1 cut ok subject=A-n1
			40..41   probe acquire fail`, Violated, "", nil},
	{"granted another lock", `
			0..1     A acquire fail on=x
			20..21   probe acquire ok lease=p on=y`, Undecided, "every operation ended, but nobody tried after healing", nil},
	{"refused one lock, granted another", `
			0..1     A acquire fail on=x
			20..21   probe acquire fail on=x
			22..23   probe acquire ok lease=p on=y`, Violated, "", nil},
	{"a lease of another lock", `
			0..1     A acquire ok lease=a on=y
			2..3     probe acquire fail on=x`, Violated, "", nil},
	{"the holder asked for more", `
			0..0.1   A acquire ok lease=a
			9..9.1   A extend ok lease=a
			12..13   probe acquire fail`, Undecided, "the probe gave up at 13.000 s, before every lease had run out", nil},
	{"the holder was told that it has more", `
			0..0.1   A acquire ok lease=a until=30
			25..26   probe acquire fail`, Undecided, "the probe gave up at 26.000 s, before every lease had run out", nil},
	{"the dead holder was told that it has more", `
			0..0.1   A acquire ok lease=a until=30
			2        A died info
			25..26   probe acquire fail`, Undecided, "the probe gave up at 26.000 s, before every lease had run out", nil},
	{"without a TTL nobody knows for how long a link kept a lease", `
			plan ttl=0s
			1..30    fault-1 cut ok subject=A-n1
			31..32   probe acquire fail`, Undecided, "", nil},
	{"the probe came before the healing", `
			1..30    fault-1 cut ok subject=A-n1
			20..41   probe acquire fail`, Undecided, "every operation ended, but nobody tried after healing", nil},
	{"the probe gave up before the lease of one who goes on was over", `
			0..0.1   A acquire ok lease=a
			0.2..0.3   probe acquire fail`, Undecided, "the probe gave up at 0.300 s, before every lease had run out", nil},
	{"one who goes on keeps the lock for longer than its lease", `
			0..0.1   A acquire ok lease=a
			12..13   probe acquire fail`, Violated, "", nil},
	{"the probe gave up before the last lease was over", `
			0..1     A acquire ok lease=a
			18       A died info
			20..21   probe acquire fail`, Undecided, "the probe gave up at 21.000 s, before every lease had run out", nil},
	{"what a link held may be a lease for a TTL", `
			1..30    fault-1 cut ok subject=A-n1
			31..32   probe acquire fail`, Undecided, "", nil},
	{"an operation that never ends", `
			3        A acquire invoke
			60..61   probe acquire ok lease=p`,
		Violated, "A's acquire of 3.000 s had not ended when the history did, at 61.000 s", []int{1, 4}},
	{"one that has been open for a moment", `
			20..21   probe acquire ok lease=p
			55       A acquire invoke
			60       R read ok`,
		Undecided, "A's acquire of 55.000 s had not ended when the history did, at 60.000 s, and may have been about to", nil},
	{"and a probe that was refused", `
			20..21   probe acquire fail
			55       A acquire invoke
			60       R read ok`, Violated, "", nil},
	{"one that may have waited for a holder", `
			0..1     B acquire ok lease=b
			3        A acquire invoke
			60..61   B release ok lease=b`, Undecided, "", nil},
	{"one that waited for a holder, and on", `
			0..1     B acquire ok lease=b
			3        A acquire invoke
			40..41   B release ok lease=b
			52       R read ok`, Violated, "", nil},
	{"one is no excuse for another", `
			3        A acquire invoke
			4        B acquire invoke
			60       R read ok`, Violated, "A's acquire of 3.000 s had not ended when the history did, at 60.000 s", nil},
	{"a release that never ends", `
			0..1     B acquire ok lease=b
			3        B release invoke
			60       R read ok`, Violated, "B's release of 3.000 s had not ended when the history did, at 60.000 s", nil},
	{"without a TTL nobody knows how long is too long", `
			plan ttl=0s
			3        A acquire invoke
			60..61   B write info`, Undecided, "", nil},
	{"a fault that healed only now", `
			3        A write invoke
			4..55    fault-1 pause ok subject=A
			60       R read ok`, Undecided, "", nil},
	{"a fault that healed long ago", `
			3        A write invoke
			4..45    fault-1 pause ok subject=A
			60       R read ok`, Violated, "", nil},
	{"the dead need not end", `
			3        A acquire invoke
			4        A died info
			60..61   probe acquire ok lease=p`, Held, "", nil},
	{"a fault that never healed is to blame", `
			3        A write invoke
			4        fault-1 pause invoke subject=A
			60..61   probe acquire ok lease=p`, Undecided, "every operation ended, but nobody tried after healing", nil},
	{"a fault of another client is not", `
			3        A write invoke
			4        fault-1 pause invoke subject=B
			60..61   probe acquire ok lease=p`, Violated, "", nil},
	{"without faults nothing is late", `
			1..2     probe acquire fail`, Violated, "the probe, asking since 1.000 s, was refused the lock at 2.000 s", nil},
	{"an acquire with unknown outcome may have left a lease", `
			10..11   A acquire info
			20..21   probe acquire fail`, Undecided, "the probe gave up at 21.000 s, before every lease had run out", nil},
	{"so may one whose client died", `
			10       A acquire invoke
			11       A died info
			20..21   probe acquire fail`, Undecided, "the probe gave up at 21.000 s, before every lease had run out", nil},
	{"a holder that goes on for ever is no excuse", `
			10..11   A acquire ok lease=a
			20..23   probe acquire fail`, Violated, "", nil},
	{"in a history that was cut off operations may be open", `
			3        A acquire invoke
			60..61   probe acquire ok lease=p
			cut off`, Undecided, "the history has no end event: it was cut off", nil},
	{"unknown is an end", `
			3..9     A acquire info
			60..61   probe acquire ok lease=p`, Held, "", nil},
	{"a panic", `
			3        A acquire invoke
			4        A panic info error=index_out_of_range
			5..6     A acquire ok lease=a
			60..61   probe acquire ok lease=p`,
		Violated, "A's acquire panicked at 4.000 s: index out of range", []int{1, 2}},
	{"no probe", `
			0..1     A acquire ok lease=a`, Undecided, "every operation ended, but nobody tried after healing", nil},
}

// One client waits behind many holders, to the end. To ask of each of them whether all the others explain that took half a
// minute.
func TestWaitingBehindManyHoldersIsJudgedSoon(t *testing.T) {
	const holders = 80_000
	events := []history.Event{
		{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.Begin, Detail: map[string]string{"ttl": "10s"}},
		{Process: "W", Type: history.Invoke, Op: history.Acquire},
	}
	add := func(e history.Event) {
		e.Index, e.Time = len(events), time.Duration(len(events))*10*time.Millisecond
		events = append(events, e)
	}
	events[1].Index = 1
	for range holders {
		for _, op := range []history.Op{history.Acquire, history.Release} {
			add(history.Event{Process: "H", Type: history.Invoke, Op: op})
			add(history.Event{Process: "H", Type: history.Ok, Op: op})
		}
	}
	add(history.Event{Process: "harness", Role: history.Harness, Type: history.Ok, Op: history.End})
	c, err := NewCase(events)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	v := progress.Judge(c)
	if took := time.Since(start); v.Status != Undecided || took > 10*time.Second {
		t.Errorf("%v (%s) after %v", v.Status, v.Reason, took)
	}
}
