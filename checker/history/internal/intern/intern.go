// Package intern turns bytes into strings without allocating for those seen shortly before.
package intern

import "hash/maphash"

// slots is a power of two. Names of clients, operations and resources repeat for ever, leases for a while.
const slots = 1 << 13

// Table remembers strings, of each group with the same hash the latest. So its memory is bounded whatever it is fed, and
// a lookup costs one hash and one comparison. The zero value is ready. Not safe for concurrent use.
type Table struct {
	seed    maphash.Seed
	strings []string
}

// Bytes returns string(b).
func (t *Table) Bytes(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	slot := t.slot(b)
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// String returns s, or an equal string from before so that the memory of s can go.
func (t *Table) String(s string) string {
	if s == "" {
		return ""
	}
	if t.strings == nil {
		t.init()
	}
	slot := &t.strings[maphash.String(t.seed, s)&(slots-1)]
	if *slot != s {
		*slot = s
	}
	return *slot
}

func (t *Table) slot(b []byte) *string {
	if t.strings == nil {
		t.init()
	}
	return &t.strings[maphash.Bytes(t.seed, b)&(slots-1)]
}

func (t *Table) init() {
	t.seed = maphash.MakeSeed()
	t.strings = make([]string, slots)
}
