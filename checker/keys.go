package checker

import (
	"fmt"
	"maps"
	"time"

	"github.com/lockfault/lockfault/checker/history"
)

// keyName is one key on one lock server.
type keyName struct{ node, key string }

func (k keyName) String() string { return fmt.Sprintf("%s on %s", k.key, k.node) }

// setting is how a key came by its present value.
type setting struct {
	by    string // the client whose value it is
	time  time.Duration
	event int
}

// keys is the present state of the lock servers, as far as their logs tell.
type keys map[keyName]setting

// setting returns whose value the key of an event had before it. A server that knows says so in the event.
func (k keys) setting(e *history.Event) (setting, bool) {
	s, ok := k[keyOf(e)]
	if owner := e.Detail["owner"]; owner != "" && owner != s.by {
		return setting{by: owner, event: -1}, true
	}
	return s, ok
}

// apply follows a key change.
func (k keys) apply(e *history.Event) {
	switch e.Op {
	case history.KeySet:
		by := e.By
		if owner := e.Detail["owner"]; owner != "" {
			by = owner
		}
		k[keyOf(e)] = setting{by, e.Time, e.Index}
	case history.KeyDeleted, history.KeyExpired:
		delete(k, keyOf(e))
	}
}

// forget drops what a fault makes uncertain: a server that restarts or is replaced may come back with an older value.
func (k keys) forget(f *Fault) {
	maps.DeleteFunc(k, func(name keyName, _ setting) bool { return f.Forgets(name.node) })
}

func keyOf(e *history.Event) keyName { return keyName{e.Process, e.Resource} }
