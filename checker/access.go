package checker

import "github.com/lockfault/lockfault/checker/history"

// access is what a protected resource did: one event of it, with its names as numbers. It takes 32 bytes, and has what
// judges ask for most: to look at the event itself, of which there may be millions, takes several times as long.
type access struct {
	event   int32
	lease   name // if the event names none, the one that its client was granted last
	by      name
	data    int32 // number of the resource and what it holds, together
	version int64
	kind    accessKind
}

// accessKind says what became of an access.
type accessKind uint8

const (
	noAccess accessKind = iota // neither a read nor a write
	inVain                     // a read that failed, or an access of which the resource does not know what it did
	readOk
	writeOk
	writeRefused
)

func accessKindOf(e *history.Event) accessKind {
	switch write := e.Op == history.Write; {
	case !write && e.Op != history.Read:
		return noAccess
	case e.Type == history.Ok && write:
		return writeOk
	case e.Type == history.Ok:
		return readOk
	case e.Type == history.Fail && write:
		return writeRefused
	}
	return inVain
}

// at is the event of an access.
func (c *Case) at(a *access) *history.Event { return &c.Events[a.event] }

// sectionKey tells sections apart: it is even for that of a lease, odd for that of a single access.
type sectionKey int64

// sectionOf says which section something belongs to that was done at a place: that of its lease. What is done under no lease
// stands alone, since nothing says that its client took it and anything else for a whole.
func sectionOf(lease name, place int32) sectionKey {
	if lease != 0 {
		return sectionKey(lease) * 2
	}
	return sectionKey(place)*2 + 1
}

// lease is that of a section, if it has one.
func (k sectionKey) lease() (lease name, has bool) { return name(k / 2), k%2 == 0 }

func (a *access) section() sectionKey { return sectionOf(a.lease, a.event) }
