package checker

import "testing"

func TestNoTwoClientsBelieveAtOnce(t *testing.T) { checkLaws(t, Exclusion, exclusionLaws) }

var exclusionLaws = []law{
	{"a holder paused past its TTL still believes", `
			0..0.001       A acquire ok lease=a fence=33 until=10
			0.100..15      fault-1 pause ok subject=A
			9..10.050      B acquire ok lease=b fence=34 until=20
			12..12.001     B release ok lease=b
			15.5..15.501   A release fail lease=a`,
		Violated, "B was granted at 10.050 s while A, paused from 0.100 s to 15.000 s, still believed (granted at 0.001 s, fence 33)",
		[]int{2, 3, 5}},
	{"a holder that works too long needs no fault", `
			0..0.001     A acquire ok lease=a
			9..10.050    B acquire ok lease=b
			12..12.001   A release fail lease=a
			13..13.001   B release ok lease=b`,
		Violated, "B was granted at 10.050 s while A still believed (granted at 0.001 s)", []int{2, 4, 5}},
	{"who wakes to late replies is named as paused", `
			0..10.5       A acquire ok lease=a fence=33
			0.002..10.4   fault-1 pause ok subject=A
			9..10.050     B acquire ok lease=b fence=34
			11..11.001    B release ok lease=b
			12..12.001    A release ok lease=a`,
		Violated, "A, paused from 0.002 s to 10.400 s, was granted at 10.500 s while B still believed (granted at 10.050 s, fence 34)", nil},
	{"hand-over at one instant", `
			0..1   A acquire ok lease=a
			0..2   B acquire ok lease=b
			2..3   A release ok lease=a
			4..5   B release ok lease=b`, Held, "2 grants, and no two clients believed at once", nil},
	{"a release without a lease name is of the lock that it names", `
			0..1     A acquire ok on=l1
			2..3     A acquire ok on=l2
			4..5     A release ok on=l1
			6..7     B acquire ok on=l1
			8..9     B release ok on=l1
			10..11   A release ok on=l2`, Held, "", nil},
	{"and ends no belief in another lock", `
			0..1   A acquire ok on=l1
			2..3   A acquire fail on=l2
			4..5   A release fail on=l2
			6..7   B acquire ok on=l1`, Violated, "B was granted at 7.000 s while A still believed (granted at 1.000 s)", nil},
	{"a release without any name is of the latest lease", `
			0..1   A acquire ok on=l1
			2..3   A acquire ok on=l2
			4..5   A release ok
			6..7   B acquire ok on=l2`, Held, "", nil},
	{"a write without a lease name is under the latest lease, for its data is no lock", `
			0..1       A acquire ok until=2 on=l
			1..1.1     A check ok
			2.5..2.6   B acquire ok on=l
			3..4       A write ok on=data`, Violated, "", nil},
	{"belief ends when release is called, not when it returns", `
			0..1   A acquire ok lease=a
			2..9   A release info lease=a
			3..4   B acquire ok lease=b
			5..6   B release ok lease=b`, Held, "", nil},
	{"belief ends when the lock tells of the loss", `
			0..1   A acquire ok lease=a
			5      A lost info lease=a
			6..7   B acquire ok lease=b`, Held, "", nil},
	{"before it tells, the holder believes", `
			0..1   A acquire ok lease=a
			5..6   B acquire ok lease=b
			7      A lost info lease=a`, Violated, "", []int{2, 4, 5}},
	{"the dead do not believe", `
			0..1   A acquire ok lease=a
			5      A died info
			6..7   B acquire ok lease=b`, Held, "", nil},
	{"who never checks believes past until", `
			0..1     A acquire ok lease=a until=10
			11..12   B acquire ok lease=b until=21`, Violated, "", nil},
	{"a careful client believes until its lease ends", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			11..12   B acquire ok lease=b until=21`, Held, "", nil},
	{"an extension moves until", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			4..5     A extend ok lease=a until=15
			11..12   B acquire ok lease=b until=21`, Violated, "", nil},
	{"an extension with unknown outcome does not", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			4..5     A extend info lease=a
			11..12   B acquire ok lease=b until=21`, Held, "", nil},
	{"a failed check ends belief", `
			0..1   A acquire ok lease=a until=10
			5..6   A check fail lease=a
			7..8   B acquire ok lease=b until=17`, Held, "", nil},
	{"pause between the check and the write", `
			0..0.001          A acquire ok lease=a until=10
			9.990..9.990      A check ok lease=a
			9.991..10.491     fault-1 pause ok subject=A
			9..10.010         B acquire ok lease=b until=20
			10.492..10.5      A write ok lease=a`,
		Violated, "B was granted at 10.010 s while A, paused from 9.991 s to 10.491 s, still believed (granted at 0.001 s)", nil},
	{"an extension that comes too late revives the belief, with a gap", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			11..12   B acquire ok lease=b
			13..14   B release ok lease=b
			15..16   A extend ok lease=a until=25`, Held, "", nil},
	{"a revived belief counts", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			11..12   B acquire ok lease=b
			15..16   A extend ok lease=a until=25`,
		Violated, "A extended its lease again at 16.000 s while B still believed (granted at 12.000 s)", nil},
	{"an expired lease handed to a careful client is no belief", `
			0..1    B acquire ok lease=b
			0..12   A acquire ok lease=a until=10
			13..13  A check fail lease=a
			14..15  B release ok lease=b`, Held, "", nil},
	{"who acts after a failed check is not believed again", `
			0..1     A acquire ok lease=a until=10
			2..3     A check fail lease=a
			5..6     B acquire ok lease=b
			12..13   A write ok lease=a`, Held, "", nil},
	{"who acts after the loss was told is not believed again", `
			0..1     A acquire ok lease=a until=4
			2..3     A check ok lease=a
			3.5      A lost info lease=a
			5..6     B acquire ok lease=b
			12..13   A write ok lease=a`, Held, "", nil},
	{"a write under way after until is no belief", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			4..13    A write ok lease=a
			11..12   B acquire ok lease=b`, Held, "", nil},
	{"nor is what follows the invocation of a late write", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			11..13   A write ok lease=a
			11..12   B acquire ok lease=b`, Held, "", nil},
	{"a lease without end is believed for ever, also with care", `
			0..1     A acquire ok lease=a
			2..3     A check ok lease=a
			4..5     A extend ok lease=a
			11..12   B acquire ok lease=b`, Violated, "", nil},
	{"release is the end, whatever else is tried", `
			0..1     A acquire ok lease=a until=10
			2..3     A check ok lease=a
			4..5     A release info lease=a
			6..7     A extend ok lease=a until=30
			8..9     B acquire ok lease=b`, Held, "", nil},
	{"the same client may re-enter", `
			0..1   A acquire ok lease=a1
			2..3   A acquire ok lease=a2
			4..5   A release ok lease=a2
			6..7   A release ok lease=a1
			6..8   B acquire ok lease=b`, Held, "", nil},
	{"a re-entrant holder still keeps others out", `
			0..1   A acquire ok lease=a1
			2..3   A acquire ok lease=a2
			4..5   A release ok lease=a2
			5..6   B acquire ok lease=b
			7..8   A release ok lease=a1`, Violated, "", nil},
	{"different locks do not conflict", `
			0..1   A acquire ok lease=a on=x
			0..1   B acquire ok lease=b on=y`, Held, "", nil},
	{"without leases, releases go with the client", `
			0..1   A acquire ok
			2..3   A release ok
			2..4   B acquire ok`, Held, "", nil},
	{"without leases, a re-entrant holder gives up the inner one first", `
			0..1   A acquire ok
			2..3   A acquire ok
			4..5   A release ok
			5..6   B acquire ok
			7..8   A release ok`, Violated, "B was granted at 6.000 s while A still believed (granted at 1.000 s)", nil},
	{"without leases, then the outer one", `
			0..1   A acquire ok
			2..3   A acquire ok
			4..5   A release ok
			6..7   A release ok
			6..8   B acquire ok`, Held, "", nil},
	{"the lease and the lock may come to be known on completion", `
			0      A acquire invoke
			0      B acquire invoke
			1      A acquire ok lease=a on=x
			2      B acquire ok lease=b on=y
			3..4   B release ok lease=b
			5..6   C acquire ok lease=c on=x`, Violated, "C was granted at 6.000 s while A still believed (granted at 1.000 s)", nil},
	{"the earliest overlap of several locks", `
			0..1   A acquire ok lease=a on=x
			0..1   B acquire ok lease=b on=y
			2..9   C acquire ok lease=c on=x
			2..5   D acquire ok lease=d on=y`, Violated, "D was granted at 5.000 s while B still believed (granted at 1.000 s)", nil},
	{"nothing granted", `
			0..1   A acquire fail`, Undecided, "no acquire succeeded", nil},
}
