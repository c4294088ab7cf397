package checker

import "testing"

func TestOnlyTheOwnerTouchesALease(t *testing.T) { checkLaws(t, Ownership, ownershipLaws) }

var ownershipLaws = []law{
	{"release deletes another's key", `
			0..1      A acquire ok lease=a
			0.5       n1 key-set ok on=lock:r by=A
			10        n1 key-expired ok on=lock:r
			10..10.1  B acquire ok lease=b
			10.010    n1 key-set ok on=lock:r by=B
			11..13    A release ok lease=a
			12        n1 key-deleted ok on=lock:r by=A`,
		Violated, "A's release at 12.000 s deleted lock:r on n1, which B had set at 10.010 s", []int{6, 9}},
	{"release deletes its own", `
			0..1   A acquire ok lease=a
			0.5    n1 key-set ok on=lock:r by=A
			2      n1 key-deleted ok on=lock:r by=A
			3      n1 key-set ok on=lock:r by=B
			4      n1 key-deleted ok on=lock:r by=B`, Held, "2 key changes by the holder of the lease, none by another", nil},
	{"extend prolongs another's", `
			0..1   A acquire ok lease=a
			2      n1 key-set ok on=lock:r by=B
			3      n1 key-ttl ok on=lock:r by=A`,
		Violated, "A's extend at 3.000 s prolonged lock:r on n1, which B had set at 2.000 s", nil},
	{"an acquire that fails cleans up too much", `
			0..1   B acquire ok lease=b
			0.5    n1 key-set ok on=lock:r by=B
			2..4   A acquire fail
			3      n1 key-deleted ok on=lock:r by=A`,
		Violated, "A's acquire at 3.000 s deleted lock:r on n1, which B had set at 0.500 s", nil},
	{"each node has its own keys", `
			0..1   A acquire ok lease=a
			0.5    n1 key-set ok on=lock:r by=A
			0.6    n2 key-set ok on=lock:r by=B
			2      n1 key-deleted ok on=lock:r by=A`, Held, "", nil},
	{"the server's own word on the owner comes first", `
			0..1   A acquire ok lease=a
			0.5    n1 key-set ok on=lock:r by=A
			2      n1 key-deleted ok on=lock:r by=A owner=B`,
		Violated, "A's release at 2.000 s deleted lock:r on n1, which B had set", nil},
	{"after a crash nobody knows whose value came back", `
			0..1   A acquire ok lease=a
			0.5    n1 key-set ok on=lock:r by=A
			1      n1 key-deleted ok on=lock:r by=A
			1.5    n1 key-set ok on=lock:r by=B
			2..3   fault-1 crash ok subject=n1
			4      n1 key-deleted ok on=lock:r by=A`, Held, "", nil},
	{"a crash elsewhere changes nothing", `
			0..1   A acquire ok lease=a
			1.5    n1 key-set ok on=lock:r by=B
			2..3   fault-1 crash ok subject=n2
			4      n1 key-deleted ok on=lock:r by=A`, Violated, "", nil},
	{"a key of which nothing was seen is nobody's", `
			0..1   A acquire ok lease=a
			2      n1 key-deleted ok on=lock:r by=A`, Undecided, "", nil},
	{"an expiry is nobody's doing", `
			0..1   A acquire ok lease=a
			2      n1 key-set ok on=lock:r by=A
			3      n1 key-expired ok on=lock:r by=B
			4      n1 key-deleted ok on=lock:r by=B`, Undecided, "no lease was released or extended on a lock server", nil},
	{"keys only set", `
			0..1   A acquire ok lease=a
			0.5    n1 key-set ok on=lock:r by=A`, Undecided, "no lease was released or extended on a lock server", nil},
	{"no servers", `
			0..1   A acquire ok lease=a`, Undecided, "the history does not tell what happened to the keys on the lock servers", nil},
}
