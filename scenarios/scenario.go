// Package scenarios describes what a run does: clients with their steps, faults with their triggers, and what each kind of
// lock is expected to do. Scenarios are YAML files; the catalogue of known failures is embedded.
package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// Scenario is one story about a lock. A pure value; times are written for the testbed's clock at speed 1.
type Scenario struct {
	Name   string // of the file, without .yaml: says what happens
	Title  string // one sentence
	Code   string // in the catalogue, such as "A1"; may be empty
	Source string // who described it
	TTL    time.Duration
	Data   DataKind // what the lock protects
	Stock  int64    // of an inventory, at the start
	// Horizon ends the run for clients that have not finished by then.
	Horizon time.Duration
	Clients []Client
	Faults  nemesis.Schedule
	Random  *Random // draws clients and faults from the seed instead
	Expect  []Rule
	Text    string // of the file it was read from
}

// DataKind says what the protected resource is.
type DataKind string

const (
	RegisterData  DataKind = "register"  // a value that sections read and replace
	InventoryData DataKind = "inventory" // a stock that sections read and take from
)

// Client is one process with its program.
type Client struct {
	Name  string
	Steps []Step
}

// Work is the step that takes time and does nothing else. It is no operation of a history.
const Work history.Op = "work"

// Step is one thing that a client does, when the one before is done and its trigger, if any, has come.
type Step struct {
	Op   history.Op // Acquire, Extend, Check, Read, Write, Release or Work
	When nemesis.Trigger
	For  time.Duration // Acquire: how long to wait for the lock; Work: how long it takes; else: time-out of the operation
	// Value is what a Write stores, or takes from the stock; 0 stands for the value last read plus one, or for one piece.
	Value int64
}

// Defaults, in units of the TTL.
const (
	defaultTTL     = 10 * time.Second
	defaultHorizon = 12 // TTLs
	DefaultWait    = 3  // TTLs that an acquire waits
)

// defaultTimeout of a read, write, extend or release.
func defaultTimeout(ttl time.Duration) time.Duration { return ttl / 2 }

// ClientNames lists the clients in order.
func (s *Scenario) ClientNames() []string {
	names := make([]string, len(s.Clients))
	for i, c := range s.Clients {
		names[i] = c.Name
	}
	return names
}

// Expand returns the scenario as it is run with a seed on a lock with the servers of place: random clients and faults
// drawn, symbolic names of nodes replaced, and faults left out that need a server which the lock does not have. If that
// leaves none of its faults, the error wraps nemesis.ErrUnsupported: the run would show nothing.
func (s *Scenario) Expand(seed uint64, place nemesis.Place) (*Scenario, error) {
	e := *s
	if s.Random != nil {
		e.Clients, e.Faults = s.Random.draw(seed, s.TTL, place.Nodes)
	}
	var kept nemesis.Schedule
	var missing error
	for _, step := range e.Faults {
		here, err := place.Step(step)
		if err != nil {
			missing = err
			continue
		}
		kept = append(kept, here)
	}
	if len(kept) == 0 && missing != nil {
		return nil, missing
	}
	e.Faults = kept
	return &e, nil
}

// Scaled divides every duration by speed, which must be positive.
func (s *Scenario) Scaled(speed float64) *Scenario {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	e := *s
	e.TTL, e.Horizon = scale(s.TTL), scale(s.Horizon)
	e.Clients = slices.Clone(s.Clients)
	for i, c := range s.Clients {
		e.Clients[i].Steps = slices.Clone(c.Steps)
		for j := range c.Steps {
			step := &e.Clients[i].Steps[j]
			step.For, step.When.At = scale(step.For), scale(step.When.At)
		}
	}
	e.Faults = s.Faults.Scaled(scale)
	return &e
}

// Validate tells what is wrong with a scenario that was not read from a file.
func (s *Scenario) Validate() error {
	if s.TTL <= 0 {
		return fmt.Errorf("ttl must be positive, not %v", s.TTL)
	}
	if s.Random == nil && len(s.Clients) == 0 {
		return fmt.Errorf("no clients")
	}
	return nil
}
