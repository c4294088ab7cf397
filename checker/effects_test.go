package checker

import (
	"fmt"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

func TestSectionsAreAtomic(t *testing.T) { checkLaws(t, Effects, effectsLaws) }

var effectsLaws = []law{
	{"a stale write is applied", `
			0..0.001   A acquire ok lease=a fence=33
			0.100      R read ok lease=a by=A fence=33
			9..10.1    B acquire ok lease=b fence=34
			10.150     R read ok lease=b by=B fence=34
			10.2       R write ok lease=b by=B fence=34 version=1
			15         R write ok lease=a by=A fence=33 version=2`,
		Violated, "A's write with fence 33 at 15.000 s was applied after B's 34 at 10.200 s, which A had not seen: it last saw version 0, read at 0.100 s",
		[]int{3, 7, 8}},
	{"a stale write is refused", `
			0..0.001   A acquire ok lease=a fence=33
			0.100      R read ok lease=a by=A fence=33
			9..10.1    B acquire ok lease=b fence=34
			10.2       R write ok lease=b by=B fence=34 version=1
			15         R write fail lease=a by=A fence=33`,
		Held, "1 write applied in 1 section, each as one atomic step", nil},
	{"a blind stale write", `
			0..1      A acquire ok lease=a
			9..10.1   B acquire ok lease=b
			10.2      R write ok lease=b by=B version=1
			20        R write ok lease=a by=A version=2`,
		Violated, "A's write at 20.000 s was applied after B's at 10.200 s, which A had not seen: it last saw version 0, when granted at 1.000 s", nil},
	{"a blind write in its turn", `
			0..1    A acquire ok lease=a
			1.2     R write ok lease=a by=A version=1
			1.5     A release invoke lease=a
			2..3    B acquire ok lease=b
			4       R write ok lease=b by=B version=2`, Held, "", nil},
	{"a stale write before the new holder's first (fencing alone does not help)", `
			0..1     A acquire ok lease=a fence=33
			1.1      R read ok lease=a by=A fence=33
			9..10    B acquire ok lease=b fence=34
			10.1     R read ok lease=b by=B fence=34
			10.2     R write ok lease=a by=A fence=33 version=1
			10.3     R write ok lease=b by=B fence=34 version=2`,
		Violated, "B's write with fence 34 at 10.300 s was applied after A's 33 at 10.200 s, which B had not seen: it last saw version 0, read at 10.100 s", nil},
	{"a read in the middle that changed", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B version=1
			4      R read ok lease=a by=A version=1`,
		Violated, "A's read at 4.000 s found version 1, since B's write at 3.100 s had come into the middle of A's section: it last saw version 0, read at 1.100 s", nil},
	{"a read of a half-done section", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A version=1
			2..3   B acquire ok lease=b
			3.1    R read ok lease=b by=B version=1
			4      R write ok lease=a by=A version=2`,
		Violated, "B's read at 3.100 s saw a half-done section of A: version 1, written at 1.100 s and overwritten by A at 4.000 s", []int{3, 6, 7}},
	{"a stale section that only reads once", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A version=1
			2..3   B acquire ok lease=b
			3.1    R read ok lease=b by=B version=1
			4      R write ok lease=b by=B version=2
			5      R read ok lease=c by=C version=2`, Held, "", nil},
	{"several writes of one section", `
			0..1   A acquire ok lease=a fence=1
			1.1    R read ok lease=a by=A
			1.2    R write ok lease=a by=A version=1 fence=1
			1.3    R read ok lease=a by=A version=1
			1.4    R write ok lease=a by=A version=2 fence=1`, Held, "", nil},
	{"one client's sections are two", `
			0..1   A acquire ok lease=a1
			1.1    R read ok lease=a1 by=A
			2..3   A acquire ok lease=a2
			3.1    R write ok lease=a2 by=A version=1
			4      R write ok lease=a1 by=A version=2`, Violated, "", nil},
	{"without leases a grant is a section", `
			0..1     A acquire ok
			1.1      R read ok by=A
			1.2      R write ok by=A version=1
			1.3..2   A release ok
			2..3     B acquire ok
			3.1      R read ok by=B version=1
			3.2      R write ok by=B version=2
			3.3..4   B release ok
			4..5     A acquire ok
			5.1      R read ok by=A version=2
			5.2      R write ok by=A version=3`, Held, "3 writes applied in 3 sections, each as one atomic step", nil},
	{"though the clients name leases and the resource does not", `
			0..1     A acquire ok lease=a1
			1.1      R read ok by=A
			1.2      R write ok by=A version=1
			2..3     B acquire ok lease=b
			3.1      R write ok by=B version=2
			4..5     A acquire ok lease=a2
			5.1      R read ok by=A version=2
			5.2      R write ok by=A lease=a2 version=3`, Held, "3 writes applied in 3 sections, each as one atomic step", nil},
	{"however late the access", `
			0..1     A acquire ok
			1.1      R read ok by=A
			1.3..2   A release ok
			2..3     B acquire ok
			3.1      R write ok by=B version=1
			3.2..4   B release ok
			5        R write ok by=A version=2`,
		Violated, "A's write at 5.000 s was applied after B's at 3.100 s, which A had not seen: it last saw version 0, read at 1.100 s", nil},
	{"and blind", `
			0..1     A acquire ok
			1.3..2   A release ok
			2..3     B acquire ok
			3.1      R write ok by=B version=1
			5        R write ok by=A version=2`,
		Violated, "A's write at 5.000 s was applied after B's at 3.100 s, which A had not seen: it last saw version 0, when granted at 1.000 s", nil},
	{"without a grant either, each access stands alone", `
			0..1   A acquire ok lease=a
			1.1    R read ok by=C
			1.2    R write ok by=B version=1
			1.3    R write ok by=C version=2`, Held, "2 writes applied in 3 sections, each as one atomic step", nil},
	{"and may fall into a section", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A
			1.2    R write ok by=B version=1
			1.3    R write ok lease=a by=A version=2`, Violated, "A's write at 1.300 s was applied after B's at 1.200 s, which A had not seen: it last saw version 0, read at 1.100 s", nil},
	{"a register that started with writes", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A version=7
			1.2    R write ok lease=a by=A version=8`, Held, "", nil},
	{"two registers", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A version=1 on=x
			1.2    R write ok lease=b by=B version=1 on=y
			1.3    R write ok lease=a by=A version=2 on=x`, Held, "", nil},
	{"nothing applied", `
			0..1   A acquire ok lease=a
			1.1    R write fail lease=a by=A`, Undecided, "the resource applied no write", nil},
	{"no log", `
			0..1   A acquire ok lease=a`, Undecided, "the history has no log of the protected resource", nil},
	{"a write is refused and another one, to other data, applied", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			4      R read ok lease=a by=A on=x version=1
			4.1    R write fail lease=a by=A on=x
			4.2    R write ok lease=a by=A on=y version=1`, Violated, "A's read at 4.000 s found version 1, since B's write at 3.100 s had come into the middle of A's section: it last saw version 0, read at 1.100 s", nil},
	{"a write is refused, and other data only read", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			4      R read ok lease=a by=A on=x version=1
			4.1    R write fail lease=a by=A on=y`, Held, "1 write applied in 1 section, each as one atomic step", nil},
	{"write skew", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R read ok lease=b by=B on=y
			3.2    R write ok lease=b by=B on=x version=1
			4      R write ok lease=a by=A on=y version=1`, Violated, "the sections of A and B cannot each be one atomic step: A's read of x at 1.100 s came before B's write at 3.200 s and B's read of y at 3.100 s came before A's write at 4.000 s",
		[]int{3, 6, 7, 8}},
	{"half of another section, over two pieces of data", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			3.2    R write ok lease=b by=B on=y version=1
			4      R read ok lease=a by=A on=y version=1`, Violated, "the sections of A and B cannot each be one atomic step: A's read of x at 1.100 s came before B's write at 3.100 s and B's write of y at 3.200 s came before A's read at 4.000 s",
		[]int{3, 6, 7, 8}},
	{"the other way about", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R read ok lease=b by=B on=x
			3.2    R write ok lease=b by=B on=y version=1
			4      R read ok lease=a by=A on=y version=1`, Held, "1 write applied in 2 sections, each as one atomic step", nil},
	{"a cycle of three, of which one part is time", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			4..5   C acquire ok lease=c
			5.1    R write ok lease=c by=C on=y version=1
			6      R read ok lease=a by=A on=y version=1`, Violated, "the sections of A, B and C cannot each be one atomic step: A's read of x at 1.100 s came before B's write at 3.100 s, B was through at 3.100 s before C began at 5.000 s and C's write of y at 5.100 s came before A's read at 6.000 s",
		[]int{3, 6, 8, 9, 10}},
	{"what falls on one instant has no order", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			3..3.1 C acquire ok lease=c
			3.2    R write ok lease=c by=C on=y version=1
			6      R read ok lease=a by=A on=y version=1`, Held, "2 writes applied in 3 sections, each as one atomic step", nil},
	{"aborted sections have no order", `
			0..1   A acquire ok lease=a
			1.1    R read ok lease=a by=A on=x
			2..3   B acquire ok lease=b
			3.1    R write ok lease=b by=B on=x version=1
			3.2    R write ok lease=b by=B on=y version=1
			4      R read ok lease=a by=A on=y version=1
			5      R write fail lease=a by=A on=y`, Held, "2 writes applied in 1 section, each as one atomic step", nil},
	{"a log with a gap", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A version=1
			1.2    R write ok lease=a by=A version=3`, Undecided, "the log of the resource is not whole: version 3 at event 4, where 1 writes were seen", nil},
	{"a log without numbers", `
			0..1   A acquire ok lease=a
			1.1    R write ok lease=a by=A`, Undecided, "the resource does not number its writes (event 3)", nil},
	{"nothing granted", `
			0..1   A acquire fail
			1.1    R write ok lease=a by=A version=1`, Undecided, "no acquire succeeded", nil},
}

func TestASingleBreachIsNotCounted(t *testing.T) {
	v := judgeOne(t, Effects, `
		0..1   A acquire ok lease=a
		1.1    R read ok lease=a by=A
		2      R write ok lease=b by=B version=1
		5      R write ok lease=a by=A version=2`)
	if v.Status != Violated || v.Reason != "" {
		t.Errorf("got %v (%s)", v.Status, v.Reason)
	}
}

func TestFurtherBreachesAreCounted(t *testing.T) {
	v := judgeOne(t, Effects, `
		0..1   A acquire ok lease=a
		1.1    R read ok lease=a by=A
		2      R write ok lease=b by=B version=1
		3      R read ok lease=a by=A version=1
		4      R write ok lease=b by=B version=2
		5      R write ok lease=a by=A version=3`)
	if want := "the first of 3 accesses that met what they should not"; v.Reason != want {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
}

// Each section reads data of its own and is refused its write there. To look for each of them in all of the data took half a
// minute.
func TestManyRefusedWritesAreJudgedSoon(t *testing.T) {
	var events []history.Event
	add := func(e history.Event) {
		e.Index, e.Time = len(events), time.Duration(len(events))
		events = append(events, e)
	}
	for i := range 50_000 {
		e := history.Event{Process: "R", Role: history.Resource, Resource: fmt.Sprint(i), By: "A", Lease: fmt.Sprint("a", i)}
		e.Op, e.Type = history.Read, history.Ok
		add(e)
		e.Op, e.Type = history.Write, history.Fail
		add(e)
	}
	c, err := NewCase(events)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	v := judgeEffects(c)
	if took := time.Since(start); v.Status != Undecided || took > 10*time.Second {
		t.Errorf("%v (%s) after %v", v.Status, v.Reason, took)
	}
}
