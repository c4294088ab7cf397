package checker

import (
	"cmp"
	"slices"
	"time"
)

// What a picture of a history needs besides beliefs, so that it shows what was judged and measured, and nothing else.

// Stay is a stretch of time, [From, To), for which one lock server had a client's value under the key of a lock.
type Stay struct {
	Node, Client, Key string
	From, To          time.Duration // To is the greatest duration if nothing ended it
}

// Tenure is a stretch of time, [From, To), for which as many lock servers had a lease as the lock needs. To is the
// greatest duration if it did not end.
type Tenure struct {
	From, To time.Duration
	Known    bool // some server's log tells of the lease
	Doubtful bool // a server crashed or failed over in the run, and may have forgotten the lease without a word
}

// Lifelines tells from the logs of the lock servers what each of them had, by server and time, and for each of c.Grants
// when enough of them had it.
func Lifelines(c *Case) ([]Stay, []Tenure) {
	s := readServers(c)
	var stays []Stay
	for _, l := range s.locks {
		for client, of := range l.stays {
			for _, at := range of {
				stays = append(stays, Stay{Node: at.node, Client: client, Key: l.key, From: at.from, To: at.to})
			}
		}
	}
	slices.SortFunc(stays, func(a, b Stay) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Client, b.Client))
	})
	tenures := make([]Tenure, len(c.Grants))
	for i := range tenures {
		tenures[i] = s.tenure(&c.Grants[i])
	}
	return stays, tenures
}

// StaleWrites lists the events of a resource that applied a write over a version that its section had not seen: those
// that Metrics counts, ascending. None if the log of the resource is not whole.
func StaleWrites(c *Case) []int { return staleWrites(registers(c)) }

func staleWrites(logs []*register) []int {
	var events []int
	for _, log := range logs {
		if log.gap != "" {
			return nil
		}
		for _, b := range log.breaches {
			if log.stale(b) {
				events = append(events, int(b.event))
			}
		}
	}
	slices.Sort(events)
	return events
}
