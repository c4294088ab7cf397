package checker

import "testing"

func TestLaterGrantsHaveGreaterFences(t *testing.T) {
	checkLaws(t, FenceOrder, []law{
		{"a fence that went back", `
			0..1   A acquire ok lease=a fence=33
			2..3   A release ok lease=a
			4..5   B acquire ok lease=b fence=32`,
			Violated, "B was granted fence 32 at 5.000 s, though A had been granted 33 at 1.000 s", []int{2, 6}},
		{"not only against the one before", `
			0..1   A acquire ok lease=a fence=33
			0..5   B acquire ok lease=b fence=30
			6..7   C acquire ok lease=c fence=31`, Violated, "", []int{3, 6}},
		{"one fence for two", `
			0..1   A acquire ok lease=a fence=33
			0..2   B acquire ok lease=b fence=33`,
			Violated, "A at 1.000 s and B at 2.000 s were granted the same fence 33", []int{3, 4}},
		{"concurrent grants may have any order", `
			0..2   A acquire ok lease=a fence=33
			1..3   B acquire ok lease=b fence=32`, Held, "2 grants with fences, in order", nil},
		{"steps may be greater than one", `
			0..1   A acquire ok lease=a fence=1
			2..3   A release ok lease=a
			4..5   B acquire ok lease=b fence=7`, Held, "", nil},
		{"re-entry repeats the fence", `
			0..1   A acquire ok lease=a1 fence=1
			2..3   A acquire ok lease=a2 fence=1
			4..5   A release ok lease=a2
			6..7   A release ok lease=a1
			8..9   B acquire ok lease=b fence=2`, Held, "", nil},
		{"re-entry repeats the fence, whoever was granted a greater one meanwhile", `
			0..1   A acquire ok lease=a1 fence=1
			2..3   B acquire ok lease=b fence=2
			4..5   A acquire ok lease=a2 fence=1`, Held, "2 grants with fences, in order", nil},
		{"re-entry must not take the fence down", `
			0..1   A acquire ok lease=a1 fence=2
			2..3   A acquire ok lease=a2 fence=1`, Violated, "", nil},
		{"a new hold must not", `
			0..1   A acquire ok lease=a1 fence=1
			2..3   A release ok lease=a1
			4..5   A acquire ok lease=a2 fence=1`, Violated, "", nil},
		{"locks count apart", `
			0..1   A acquire ok lease=a fence=5 on=x
			2..3   A acquire ok lease=b fence=4 on=y
			4..5   B acquire ok lease=c fence=5 on=y`, Held, "", nil},
		{"a single fence", `
			0..1   A acquire ok lease=a fence=1
			2..3   B acquire ok lease=b`, Undecided, "fewer than two grants of a lock had a fence", nil},
	})
}

func TestLowerFencesAreNotApplied(t *testing.T) {
	checkLaws(t, FenceEnforcement, []law{
		{"a lower fence after a higher one", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=b by=B fence=34 version=1
			3      R write ok lease=a by=A fence=33 version=2`,
			Violated, "A's write with fence 33 at 3.000 s was applied after B's with fence 34 at 2.000 s", []int{3, 4}},
		{"one fence of two", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=b by=B fence=33 version=1
			3      R write ok lease=a by=A fence=33 version=2`, Violated, "", nil},
		{"refused writes do not count", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=b by=B fence=34 version=1
			3      R write fail lease=a by=A fence=33
			4      R write fail lease=d by=D fence=40
			5      R write ok lease=c by=C fence=35 version=2`, Held, "2 writes with fences, applied in order", nil},
		{"many writes with one fence", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=a by=A fence=33 version=1
			3      R write ok lease=a by=A fence=33 version=2`, Held, "", nil},
		{"without clients the lease tells the holder", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=a fence=33 version=1
			3      R write ok lease=a fence=33 version=2`, Held, "", nil},
		{"one fence of whom nobody tells", `
			0..1   A acquire ok fence=33
			2      R write ok by=A fence=33 version=1
			3      R write ok fence=33 version=2`, Held, "", nil},
		{"one fence of a client and of a lease that may be its own", `
			0..1   A acquire ok fence=33
			2      R write ok by=A fence=33 version=1
			3      R write ok lease=a fence=33 version=2`, Held, "", nil},
		{"one fence of two, with one of whom nobody tells in between", `
			0..1   A acquire ok fence=33
			2      R write ok by=A fence=33 version=1
			3      R write ok fence=33 version=2
			4      R write ok by=B fence=33 version=3`, Violated, "", nil},
		{"one fence of two leases", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=a fence=33 version=1
			3      R write ok lease=b fence=33 version=2 by=B`,
			Violated, "B's write with fence 33 at 3.000 s was applied after lease a's with fence 33 at 2.000 s", nil},
		{"two resources", `
			0..1   A acquire ok lease=a fence=33
			2      R write ok lease=b by=B fence=34 version=1 on=x
			3      R write ok lease=a by=A fence=33 version=1 on=y`, Held, "", nil},
		{"no fences", `
			0..1   A acquire ok lease=a
			2      R write ok lease=a by=A version=1`, Undecided, "the resource applied no write with a fence", nil},
	})
}
