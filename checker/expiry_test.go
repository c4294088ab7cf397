package checker

import "testing"

// The TTL is 10 s and the allowance 1 s: who dies at 5 s must leave the lock free by 16 s.
func TestDeadHoldersLeaveTheLock(t *testing.T) { checkLaws(t, Expiry, expiryLaws) }

const holderDies = `
	0..1   A acquire ok lease=a
	5      A died info`

var expiryLaws = []law{
	{"a waiter is served", holderDies + `
			2..15.5   B acquire ok lease=b`, Held, "the lock was had again in time after 1 death", nil},
	{"a waiter is served late", holderDies + `
			2..20     B acquire ok lease=b`,
		Violated, "B, asking since 2.000 s, was granted the lock only at 20.000 s: A had died at 5.000 s holding it (granted at 1.000 s), and the lock was to be free by 16.000 s",
		[]int{2, 3, 4, 5}},
	{"a waiter gives up", holderDies + `
			2..20     B acquire fail`, Violated, "", nil},
	{"a waiter is never served", holderDies + `
			2         B acquire invoke
			30..30.1  C check ok`, Violated,
		"B, asking since 2.000 s, still waited for the lock at 30.100 s: A had died at 5.000 s holding it (granted at 1.000 s), and the lock was to be free by 16.000 s", nil},
	{"who gives up before the time proves nothing", holderDies + `
			2..15     B acquire fail`, Undecided, "nobody's wait shows when the lock was free again after A died at 5.000 s", nil},
	{"refused before the end that the dead holder was told", `
			0..1      A acquire ok lease=a until=11
			4..4.1    A extend ok lease=a until=39
			5         A died info
			20..20.1  B acquire fail
			25..39.5  B acquire ok lease=b`, Held, "the lock was had again in time after 1 death", nil},
	{"refused after the end that the dead holder was told", `
			0..1      A acquire ok lease=a until=11
			4..4.1    A extend ok lease=a until=39
			5         A died info
			41..41.1  B acquire fail`, Violated, "", nil},
	{"refused once, long after", holderDies + `
			40..40.1  B acquire fail`, Violated, "", nil},
	{"refused at the edge, then served: within the allowance", holderDies + `
			15.2..16.1    B acquire fail
			16.15..16.2   B acquire ok lease=b`, Undecided, "", nil},
	{"polling serves", holderDies + `
			14..14.1      B acquire fail
			14.3..14.4    B acquire fail
			15.1..15.2    B acquire ok lease=b`, Held, "", nil},
	{"first asked long after", holderDies + `
			40..40.1  B acquire ok lease=b`, Undecided, "", nil},
	{"two who try at once may refuse each other", holderDies + `
			40..40.1       B acquire fail
			40.05..40.15   C acquire fail`, Undecided, "", nil},
	{"but not for ever", holderDies + `
			2..40   B acquire fail
			2..40   C acquire fail`, Violated, "", nil},
	{"another holder came between", holderDies + `
			2..15      C acquire ok lease=c
			20..21     C release ok lease=c
			2..21.5    B acquire ok lease=b`, Held, "", nil},
	{"another held already, and goes on", holderDies + `
			3..4       C acquire ok lease=c
			20..21     C release ok lease=c
			6..21.5    B acquire ok lease=b`, Undecided, "whoever died was not the last holder", nil},
	{"another held already, and gave back", `
			0..1       A acquire ok lease=a
			12..13     C acquire ok lease=c
			14..15     C release ok lease=c
			16         A died info
			17..18     B acquire ok lease=b`, Undecided, "whoever died was not the last holder", nil},
	{"another held already, and gave back: a refusal says nothing of the dead", `
			0..1       A acquire ok lease=a
			12..13     C acquire ok lease=c
			14..15     C release ok lease=c
			16         A died info
			40..41     B acquire fail`, Undecided, "whoever died was not the last holder", nil},
	{"another held already, but what the dead had sent landed after it", `
			0..1       A acquire ok lease=a
			12..13     C acquire ok lease=c
			14..15     C release ok lease=c
			16         A died info
			17         n1 key-set ok on=r by=A
			40..41     B acquire fail`, Violated, "", nil},
	{"someone else's acquire may have left a lease", holderDies + `
			12..13     C acquire info
			6..21.5    B acquire ok lease=b`, Undecided, "", nil},
	{"the waiter itself was cut off", holderDies + `
			2..20      B acquire fail
			14..18     fault-1 cut ok subject=B-n1_B-n2_B-n3`, Undecided, "", nil},
	{"another client was cut off", holderDies + `
			2..20      B acquire fail
			14..18     fault-1 cut ok subject=C-n1_C-n2_C-n3`, Violated, "", nil},
	{"a node's clock is no excuse", holderDies + `
			2..20      B acquire fail
			3..19      fault-1 clock-step ok subject=n1`, Violated, "", nil},
	{"what the dead had sent lands later", holderDies + `
			9          n1 key-set ok on=r by=A
			2..19.5    B acquire ok lease=b`, Held, "", nil},
	{"what the dead had sent prolongs the lease", holderDies + `
			9          n1 key-ttl ok on=r by=A
			2..19.5    B acquire ok lease=b`, Held, "", nil},
	{"what the dead had sent may land when its link heals", holderDies + `
			4..9       fault-1 cut ok subject=A-n1
			2..19.5    B acquire ok lease=b`, Held, "", nil},
	{"unless the servers tell", holderDies + `
			0.5        n1 key-set ok on=r by=A
			4..9       fault-1 cut ok subject=A-n1
			2..19.5    B acquire ok lease=b`, Violated, "", nil},
	{"what others do to keys does not", holderDies + `
			9          n1 key-set ok on=r by=B
			9          n1 key-deleted ok on=r by=A
			2..19.5    B acquire ok lease=b`, Violated, "", nil},
	{"just in time", holderDies + `
			2..16      B acquire ok lease=b`, Held, "", nil},
	{"just too late", holderDies + `
			2..16.001  B acquire ok lease=b`, Violated, "", nil},
	{"an earlier holder is no excuse once its lease is over", `
			0..1       C acquire ok lease=c
			2..3       C release ok lease=c
			3..4       A acquire ok lease=a
			5          A died info
			2..20      B acquire fail`, Violated, "", nil},
	{"unknown is no refusal", holderDies + `
			2..20      B acquire info`, Undecided, "nobody's wait shows when the lock was free again after A died at 5.000 s", nil},
	{"served late, but cut off before", holderDies + `
			2..20      B acquire ok lease=b
			14..18     fault-1 cut ok subject=B-n1_B-n2_B-n3`, Undecided, "nobody's wait shows when the lock was free again after A died at 5.000 s", nil},
	{"a server was down", holderDies + `
			2..20      B acquire fail
			14..18     fault-1 crash ok subject=n1`, Undecided, "nobody's wait shows when the lock was free again after A died at 5.000 s", nil},
	{"the lease was over already", `
			0..1       A acquire ok lease=a
			2..3       A release fail lease=a
			5          A died info
			40..41     B acquire fail`, Undecided, "no holder died", nil},
	{"the release may have been lost", `
			0..1       A acquire ok lease=a
			2..3       A release info lease=a
			5          A died info
			40..41     B acquire fail`, Violated,
		"B, asking since 40.000 s, was refused the lock at 41.000 s: A had died at 5.000 s without releasing it (granted at 1.000 s), and the lock was to be free by 16.000 s", nil},
	{"death in the middle of an acquire", `
			1          A acquire invoke
			5          A died info
			2..30      B acquire ok lease=b`,
		Violated, "B, asking since 2.000 s, was granted the lock only at 30.000 s: A had died at 5.000 s acquiring it, and the lock was to be free by 16.000 s", nil},
	{"the lease was given back before", `
			0..1       A acquire ok lease=a
			2..3       A release ok lease=a
			5          A died info
			40..41     B acquire fail`, Undecided, "no holder died", nil},
	{"nobody died", `
			0..1       A acquire ok lease=a`, Undecided, "no holder died", nil},
	{"no TTL", "plan ttl=0s\n" + holderDies, Undecided, "a holder died, but the history does not tell the TTL", nil},
}
