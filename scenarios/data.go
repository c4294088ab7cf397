package scenarios

import (
	"fmt"
	"sync"

	"github.com/lockfault/lockfault/checker/history"
)

// Request is what a client asks of the protected resource.
type Request struct {
	Op     history.Op `json:"op"` // Read or Write
	Client string     `json:"client"`
	Lease  string     `json:"lease"`
	Fence  int64      `json:"fence,omitempty"` // from 1; 0 if the lock gave none
	Value  int64      `json:"value,omitempty"` // Write: the new value, or how much to take
}

// Response is what it answers. A refused write has no effect.
type Response struct {
	Refused string `json:"refused,omitempty"` // why; empty if the request was carried out
	Value   int64  `json:"value"`             // after the request
	Version int64  `json:"version"`           // writes carried out so far
}

// Data is the protected resource: a register or a stock, with the fence of the last write that it carried out. Safe for
// concurrent use; each request is one atomic step, the check of its fence included. A stock may fall below zero: that is the
// damage which a lock is to prevent.
//
// With fences enforced a write is carried out if its fence is greater than every earlier one, or equal to the greatest
// and from the same grant: one holder may write many times, two holders never share a fence. The comparison is
// `last_fence < fence` of the SQL; a resource that compares with <= admits two holders of one fence.
type Data struct {
	Kind    DataKind
	Enforce bool // fences

	mu        sync.Mutex
	value     int64
	version   int64
	lastFence int64
	lastLease string
}

// NewData makes the resource of a scenario.
func (s *Scenario) NewData(enforceFences bool) *Data {
	d := &Data{Kind: s.Data, Enforce: enforceFences}
	if s.Data == InventoryData {
		d.value = s.Stock
	}
	return d
}

// Do carries out a request, calling observe before any other request can take effect; observe must not call d.
func (d *Data) Do(r Request, observe func(Response)) Response {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := d.apply(r)
	observe(answer)
	return answer
}

func (d *Data) apply(r Request) Response {
	if r.Op == history.Write {
		if refusal := d.refusal(r); refusal != "" {
			return Response{Refused: refusal, Value: d.value, Version: d.version}
		}
		if d.Kind == InventoryData {
			d.value -= r.Value
		} else {
			d.value = r.Value
		}
		d.version++
		if d.Enforce {
			d.lastFence, d.lastLease = r.Fence, r.Lease
		}
	}
	return Response{Value: d.value, Version: d.version}
}

func (d *Data) refusal(r Request) string {
	switch {
	case !d.Enforce || r.Fence > d.lastFence:
		return ""
	case r.Fence <= 0:
		return "no fence"
	case r.Fence == d.lastFence && r.Lease == d.lastLease:
		return ""
	case r.Fence == d.lastFence:
		return fmt.Sprintf("fence %d was already used by another grant", r.Fence)
	default:
		return fmt.Sprintf("stale fence %d, a write with %d came before", r.Fence, d.lastFence)
	}
}
