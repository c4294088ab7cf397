package checker

import "testing"

func TestAMinorityIsNotMissed(t *testing.T) { checkLaws(t, Availability, availabilityLaws) }

const minority = `
	0..9   fault-1 drop ok subject=A-n4
	0..9   fault-2 cut ok subject=A-n5 direction=requests`

var availabilityLaws = []law{
	{"granted", minority + `
			1..2   A acquire ok lease=a`, Held, "1 acquire granted while a minority of the nodes was gone", nil},
	{"refused", minority + `
			1..2   A acquire fail`,
		Violated, "A's acquire of 1.000 s was refused at 2.000 s, though the lock was free and only 2 of 5 nodes gone (n4, n5)", []int{1, 2, 3, 4}},
	{"refused while a node was down", `
			0..9   fault-1 crash ok subject=n4
			1..2   A acquire fail`,
		Violated, "A's acquire of 1.000 s was refused at 2.000 s, though the lock was free and only 1 of 5 nodes gone (n4)", nil},
	{"two who try at once may refuse each other", minority + `
			1..1.5   A acquire fail
			1..1.5   B acquire fail`, Undecided, "", nil},
	{"without a TTL nobody knows how long is for ever", "plan ttl=0s\n" + minority + `
			1..8   A acquire fail
			1..8   B acquire fail`, Undecided, "", nil},
	{"but not for ever", minority + `
			1..8   A acquire fail
			1..8   B acquire fail`, Violated, "", nil},
	{"no answer", minority + `
			1..2   A acquire info`, Violated, "", nil},
	{"no end", minority + `
			1      A acquire invoke`, Violated, "", nil},
	{"no end, but dead", minority + `
			1      A acquire invoke
			2      A died info`, Undecided, "no acquire met a missing minority", nil},
	{"links to the resource are no nodes", `
			0..9   fault-1 cut ok subject=A-resource
			1..2   A acquire fail`, Undecided, "no acquire met a missing minority", nil},
	{"a majority is gone", minority + `
			0..9   fault-3 drop ok subject=A-n1
			1..2   A acquire fail`, Undecided, "no acquire met a missing minority", nil},
	{"a majority is gone for a moment", minority + `
			1.5..1.6   fault-3 drop ok subject=A-n1
			1..2       A acquire fail`, Undecided, "", nil},
	{"one node twice is one", minority + `
			0..9   fault-3 drop ok subject=A-n4
			1..2   A acquire fail`, Violated, "", nil},
	{"gone for another client only", `
			0..9   fault-1 cut ok subject=B-n5
			1..2   A acquire fail`, Undecided, "", nil},
	{"all links at once", `
			0..9   fault-1 cut ok subject=A-all
			1..2   A acquire fail`, Undecided, "no acquire met a missing minority", nil},
	{"healed before", minority + `
			10..11   A acquire fail`, Undecided, "", nil},
	{"another holds", minority + `
			0.1..0.2   B acquire ok lease=b
			1..2       A acquire fail`, Undecided, "1 acquire met a missing minority, but something else explains why none was granted", nil},
	{"another has given back", minority + `
			0.1..0.2   B acquire ok lease=b
			0.3..0.4   B release ok lease=b
			1..2       A acquire fail`, Violated, "", nil},
	{"another may not have given back", minority + `
			0.1..0.2   B acquire ok lease=b
			0.3..0.4   B release info lease=b
			1..2       A acquire fail`, Undecided, "", nil},
	{"another may have been granted", minority + `
			0.1..0.2   B acquire info
			1..2       A acquire fail`, Undecided, "", nil},
	{"another's request landed when its link healed", `
			0..30      fault-1 cut ok subject=B-n1_B-n2_B-n3
			1..2       B acquire info
			0..60      fault-2 crash ok subject=n4
			31..32     A acquire fail`, Undecided, "", nil},
	{"another's request landed long ago", `
			0..9       fault-1 cut ok subject=B-n1_B-n2_B-n3
			1..2       B acquire info
			0..60      fault-2 crash ok subject=n4
			31..32     A acquire fail`, Violated, "", nil},
	{"another may have got the lock, and still waits for the answer", minority + `
			0.1        B acquire invoke
			1..2       A acquire fail`, Undecided, "", nil},
	{"another died less than a TTL ago", `
			0..1       B acquire ok lease=b
			2          B died info
			5..30      fault-1 crash ok subject=n4
			11..12     A acquire fail`, Undecided, "", nil},
	{"another died more than a TTL ago", `
			0..1       B acquire ok lease=b
			2          B died info
			5..30      fault-1 crash ok subject=n4
			20..21     A acquire fail`, Violated, "", nil},
	{"another gave back where it could", `
			0..1       fault-1 cut ok subject=B-n1
			0.1..0.2   B acquire ok lease=b
			0.3..0.4   B release ok lease=b
			0..9       fault-2 crash ok subject=n4_n5
			2..3       A acquire fail`, Undecided, "", nil},
	{"another was cut off only after it gave back", minority + `
			0.1..0.2   B acquire ok lease=b
			0.3..0.4   B release ok lease=b
			0.5..9     fault-3 cut ok subject=B-n1
			2..3       A acquire fail`, Violated, "", nil},
	{"another gave back another lock where it could", `
			0..1       fault-1 cut ok subject=B-n1
			0.1..0.2   B acquire ok lease=b on=y
			0.3..0.4   B release ok lease=b on=y
			0..9       fault-2 crash ok subject=n4_n5
			2..3       A acquire fail on=x`, Violated, "", nil},
	{"another could not read the data", `
			0..1       fault-1 cut ok subject=B-n1
			0.1..0.2   B read ok
			0..9       fault-2 crash ok subject=n4_n5
			2..3       A acquire fail`, Violated, "", nil},
	{"half of the nodes is no minority", "plan nodes=4\n" + minority + `
			1..2       A acquire fail`, Undecided, "no acquire met a missing minority", nil},
	{"a clock was put right long ago", `
			0..1       fault-1 clock-rate ok subject=n1
			20..29     fault-2 crash ok subject=n4
			21..22     A acquire fail`, Violated, "", []int{3, 4, 5}},
	{"the client itself was paused", minority + `
			1.1..1.9   fault-3 pause ok subject=A
			1..2       A acquire fail`, Undecided, "", nil},
	{"another client was paused", minority + `
			1.1..1.9   fault-3 pause ok subject=B
			1..2       A acquire fail`, Violated, "", nil},
	{"a clock was tampered with", minority + `
			0..9       fault-3 clock-rate ok subject=n1
			1..2       A acquire fail`, Undecided, "", nil},
	{"a fault without effect takes no node away", `
			0..9       fault-1 crash fail subject=n4
			1..2       A acquire fail`, Undecided, "no acquire met a missing minority", nil},
	{"two nodes have no minority to lose", "plan nodes=2\n" + `
			0..9       fault-1 crash ok subject=n2
			1..2       A acquire fail`, Undecided, "no acquire met a missing minority", nil},
}
