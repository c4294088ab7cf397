// Package scenarios describes what a run does: clients with their steps, faults with their triggers, the data that the lock
// protects, and what each kind of lock is expected to do. Scenarios are YAML files; the catalogue of known failures is
// embedded. Beside them it reads and writes baselines, of failures that somebody knows of, and plans as they are stored.
package scenarios

import (
	"slices"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// Scenario is one story about a lock. A pure value: its methods do not change it, and it may be used by many goroutines at
// once. Times are on the testbed's clock at speed 1.
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

// Defaults of a file.
const (
	defaultTTL     = 10 * time.Second
	defaultHorizon = 12 // TTLs
	defaultWait    = 3  // TTLs that an acquire waits
	defaultStock   = 10
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
// drawn, symbolic names of nodes replaced, and optional faults left out that need a server which the lock does not have.
// If another fault needs such a server, if no fault is left, or if a client waits for such a server, the error wraps
// nemesis.ErrUnsupported: the run would not show what the scenario is about. It is a pure function and does not change s.
func (s *Scenario) Expand(seed uint64, place nemesis.Place) (*Scenario, error) {
	e := *s
	clients, faults := s.Clients, s.Faults
	if s.Random != nil {
		clients, faults = s.Random.draw(seed, s.TTL, place.Nodes)
	}
	var err error
	if e.Clients, err = placed(clients, place); err != nil {
		return nil, err
	}
	var missing error
	e.Faults = nil
	for _, step := range faults {
		here, err := place.Step(step)
		switch {
		case err != nil && !step.Optional:
			return nil, err
		case err != nil:
			missing = err
			continue
		}
		e.Faults = append(e.Faults, here)
	}
	if len(e.Faults) == 0 && missing != nil {
		return nil, missing
	}
	return &e, nil
}

// placed are the clients with the triggers of their steps for the servers that are there.
func placed(clients []Client, place nemesis.Place) ([]Client, error) {
	here := cloned(clients)
	for _, c := range here {
		for i := range c.Steps {
			var err error
			if c.Steps[i].When, err = place.Trigger(c.Steps[i].When); err != nil {
				return nil, err
			}
		}
	}
	return here, nil
}

func cloned(clients []Client) []Client {
	clone := slices.Clone(clients)
	for i := range clone {
		clone[i].Steps = slices.Clone(clone[i].Steps)
	}
	return clone
}

// Scaled divides every duration by speed, which must be positive and finite, rounding down to a nanosecond. Counts,
// values and the rates of clocks stay. It does not change s. Expand first: what Random draws does not scale exactly.
func (s *Scenario) Scaled(speed float64) *Scenario {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	e := *s
	e.TTL, e.Horizon = scale(s.TTL), scale(s.Horizon)
	e.Clients = cloned(s.Clients)
	for _, c := range e.Clients {
		for i := range c.Steps {
			step := &c.Steps[i]
			step.For, step.When.At = scale(step.For), scale(step.When.At)
		}
	}
	e.Faults = s.Faults.Scaled(scale)
	return &e
}
