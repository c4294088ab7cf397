package checker

import "github.com/lockfault/lockfault/checker/history"

// access is what a protected resource did: one event of it, with its names as numbers.
type access struct {
	event int32
	lease name
	by    name
	data  int32 // number of the resource and what it holds, together
}

// at is the event of an access.
func (c *Case) at(a *access) *history.Event { return &c.Events[a.event] }

// sectionKey tells sections apart: it is 0, 1 or 2 modulo 3 for that of a lease, of a client and of a single access.
type sectionKey int64

// section says which section an access belongs to: that of its lease or, in a history without leases, of its client. An
// access of which neither is known stands alone.
func (a *access) section() sectionKey {
	switch {
	case a.lease != 0:
		return sectionKey(a.lease) * 3
	case a.by != 0:
		return sectionKey(a.by)*3 + 1
	}
	return sectionKey(a.event)*3 + 2
}
