package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
)

// Option changes what Run does.
type Option func(*settings)

// settings are what the options say.
type settings struct {
	entry       locks.Entry // of the lock under test
	likeSet     bool
	scenarios   []string
	notPromised []string
	known       []known
	budget      time.Duration
	seed        uint64
	limit       time.Duration   // of real time, for one run
	told        map[string]bool // properties of which a failure has been told in full
	stopped     string          // why nothing further is run
}

// known is a failure that is known.
type known struct{ scenario, property, because string }

// On says what servers the lock runs on; without it, one Redis node. For locks.FiveNodes, env.Nodes has five addresses;
// for locks.PrimaryAndReplica one, behind which a failover may take place.
func On(servers locks.Servers) Option { return func(s *settings) { s.entry.Servers = servers } }

// Fencing says that the lock mints a fencing token with each grant when env.Fencing is set. Each scenario is then run with
// and without them.
func Fencing() Option { return func(s *settings) { s.entry.Fences = true } }

// Like names the built-in lock (`lockfault list locks`) whose expectations apply, such as single-watchdog for a lock on one
// node that renews its leases.
func Like(lock string) Option {
	return func(s *settings) { s.entry.Like, s.likeSet = lock, true }
}

// Scenarios chooses scenarios by name or code, or files that end in .yaml; without it, the whole catalogue. The contract
// is left out then.
func Scenarios(names ...string) Option {
	return func(s *settings) { s.scenarios = append(s.scenarios, names...) }
}

// NotPromised leaves out properties (`lockfault list properties`) that the lock does not claim to have, in all scenarios.
func NotPromised(properties ...string) Option {
	return func(s *settings) { s.notPromised = append(s.notPromised, properties...) }
}

// ExpectViolated accepts that a property is violated in a scenario, given by name or code, because of something known. The
// test fails when it is not violated there any more, so that the entry is taken out.
func ExpectViolated(scenario, property, because string) Option {
	return func(s *settings) { s.known = append(s.known, known{scenario, property, because}) }
}

// Budget begins no scenario after this much real time; those left are skipped, and say so.
func Budget(d time.Duration) Option { return func(s *settings) { s.budget = d } }

// Seed decides every delay and every random choice; without it, 1. The environment variable LOCKTEST_SEED goes before it.
func Seed(n uint64) Option { return func(s *settings) { s.seed = n } }

// likes are the built-in locks that stand for the servers that a lock runs on.
var likes = map[locks.Servers]string{
	locks.OneNode:           "single",
	locks.PrimaryAndReplica: "failover",
	locks.FiveNodes:         "redlock",
	locks.ConsensusService:  "consensus",
}

func newSettings(name string, newLock New, options []Option) *settings {
	s := &settings{seed: 1, limit: spinLimit, told: map[string]bool{}, entry: locks.Entry{Name: name, Servers: locks.OneNode, New: newLock}}
	for _, o := range options {
		o(s)
	}
	if !s.likeSet {
		s.entry.Like = likes[s.entry.Servers]
	}
	if err := s.check(); err != nil {
		panic("locktest: " + err.Error())
	}
	return s
}

// check finds mistakes in the options.
func (s *settings) check() error {
	if s.entry.Servers == locks.NoServer {
		return errors.New("On: locks without servers are not supported here: no fault could strike one")
	}
	like, err := locks.Find(s.entry.Like)
	if err != nil {
		return fmt.Errorf("Like: %w", err)
	}
	switch {
	case s.entry.New == nil:
		return errors.New("no function that makes the lock")
	case like.Servers != s.entry.Servers:
		return fmt.Errorf("the lock is to be like %s, which does not run on the same servers: give On and Like that go together", like.Name)
	case s.budget < 0:
		return fmt.Errorf("Budget(%v): want a positive duration", s.budget)
	}
	properties := checker.Names()
	named := slices.Clone(s.notPromised)
	for i, k := range s.known {
		scenario, err := scenarios.Find(k.scenario)
		switch {
		case err != nil:
			return fmt.Errorf("ExpectViolated: %w", err)
		case strings.TrimSpace(k.because) == "":
			return fmt.Errorf("ExpectViolated(%q, %q): say why", k.scenario, k.property)
		case slices.Contains(s.notPromised, k.property):
			return fmt.Errorf("ExpectViolated(%q, %q): the property is not promised", k.scenario, k.property)
		}
		s.known[i].scenario = scenario.Name
		named = append(named, k.property)
	}
	for _, p := range named {
		if !slices.Contains(properties, p) {
			return fmt.Errorf("there is no property %q; there are %s", p, strings.Join(properties, ", "))
		}
	}
	return nil
}

// fencings are what to run each scenario with.
func (s *settings) fencings() []bool {
	if s.entry.Fences {
		return []bool{false, true}
	}
	return []bool{false}
}

// telling are the scenarios that -short runs: one for each way in which the catalogue has seen a lock fail, and the
// controls that a lock fails which is too careful.
var telling = []string{
	"A1", "A2", "A3", "A5", "A8", "A10", "A12", "B1", "B2", "B3", "C1", "C4", "C5", "D1", "D2", "D3", "D4", "E17", "N1", "N2",
}

func (s *settings) chosenScenarios(short bool) ([]*scenarios.Scenario, error) {
	names := s.scenarios
	switch {
	case len(names) > 0:
	case short:
		names = telling
	default:
		return scenarios.Catalogue()
	}
	var chosen []*scenarios.Scenario
	for _, name := range names {
		one, err := scenarios.Find(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, one)
	}
	return chosen, nil
}
