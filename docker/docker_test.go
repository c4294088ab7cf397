package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/docker/internal/notes"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// The test binary is a client's process when it is called so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerVerb {
		os.Exit(ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == misbehaveVerb {
		misbehave(os.Args[2])
	}
	code := m.Run()
	if strained.runs > 0 {
		notes.Add("%d OF %d RUNS SHOW NOTHING: the machine was too busy for them", strained.runs, strained.of)
	}
	if 4*strained.runs > strained.of {
		code = 1
	}
	if shared.bed != nil {
		if err := shared.bed.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var shared struct {
	once sync.Once
	bed  *Testbed
	took time.Duration
	err  error
}

// testbed is the one that tests share. Without an engine or an image they are skipped, and say so.
func testbed(t testing.TB) *Testbed {
	t.Helper()
	if os.Getenv(notes.Wanted) == "" {
		t.Skip(notes.Alone)
	}
	shared.once.Do(func() {
		began := time.Now()
		shared.bed, shared.err = Start(context.Background(), Config{})
		shared.took = time.Since(began)
	})
	var unavailable *Unavailable
	if errors.As(shared.err, &unavailable) && os.Getenv(notes.Required) == "" {
		notes.Add(notes.Skipped, shared.err)
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.bed
}

func TestReadyInTime(t *testing.T) {
	testbed(t)
	if shared.took > 20*time.Second {
		t.Errorf("ready after %v", shared.took)
	}
	t.Logf("ready after %v", shared.took)
}

// strained counts the runs with which the machine did not keep up. They show nothing, for or against; if they are many, the
// tests show nothing either.
var strained struct{ runs, of int }

// judge runs a plan on the containers.
func judge(t *testing.T, bed *Testbed, lock string, s *scenarios.Scenario, fencing bool) runner.Outcome {
	t.Helper()
	entry, err := locks.Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o, err := runner.Run(bed, runner.Plan{Lock: entry, Scenario: s, Fencing: fencing, Seed: 1, Speed: 5}, &out)
	strained.of++
	if errors.Is(o.Err, ErrStrained) {
		strained.runs++
		t.Skip(o.Err)
	}
	if err = errors.Join(err, o.Err); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if _, _, err := history.ReadAll(&out, "history"); err != nil {
		t.Error(err)
	}
	return o
}

func parse(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const section = `
title: a fault and its evidence
clients:
  A:
    - acquire: {wait: 4s}
    - read
    - write: {at: 3s}
    - release
  B:
    - acquire: {at: 4s, wait: 30s}
    - read
    - write
    - release
faults:
`

// TestFaultsLeaveEvidence: each fault was really there, by what was measured of it.
func TestFaultsLeaveEvidence(t *testing.T) {
	bed := testbed(t)
	for _, c := range []struct {
		name, lock, faults string
		detail             string // that the evidence must have
	}{
		{"pause", "single", "- pause: A\n  at: 2s\n  for: 3s", "stood_still"},
		{"kill", "single", "- kill: A\n  at: 2s", "connections_ended"},
		{"stall", "single", "- stall: A\n  at: 2s\n  for: 3s", "calls_held"},
		{"cut", "single", "- cut: A - resource\n  at: 2s\n  for: 3s", "bytes_held"},
		{"cut requests", "redlock", "- cut: A - n1\n  direction: requests\n  at: 2s\n  for: 3s", "bytes_held"},
		{"cut replies", "redlock", "- cut: A - n1\n  direction: replies\n  at: 2s\n  for: 3s", "commands_unheard_of"},
		{"drop", "single", "- drop: A - redis\n  at: 2s\n  for: 3s", "bytes_lost"},
		{"delay", "single", "- delay: A - redis\n  by: 100ms\n  jitter: 20ms\n  at: 2s\n  for: 3s", "messages_delayed"},
		{"crash", "single", "- crash: redis\n  at: 2s\n  for: 100ms\n  keep: all", "keys_kept"},
		{"crash, empty", "single", "- crash: redis\n  at: 2s\n  for: 100ms\n  keep: nothing", "keys_lost"},
		{"clock step", "single", "- clock-step: redis\n  by: -3s\n  at: 2s", "stepped"},
		{"failover", "failover", "- failover: primary\n  at: 2s", "replica_offset"},
		{"replication cut", "failover", "- cut: primary - replica\n- failover: primary\n  at: 2s", "bytes_held"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, section+indent(c.faults)+"\nexpect:\n  - may: [exclusion, effects, ownership, progress, availability, expiry]\n")
			o := judge(t, bed, c.lock, s, false)
			found := false
			for _, e := range o.Events {
				if e.Role != history.Nemesis || e.Type == history.Invoke {
					continue
				}
				if e.Type != history.Ok {
					t.Errorf("%s left no evidence: %s %v", e.Op, e.Error, e.Detail)
				}
				found = found || e.Detail[c.detail] != ""
				t.Log(e.Op, e.Detail)
			}
			if !found {
				t.Errorf("no %s", c.detail)
			}
		})
	}
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// TestKnownFailuresShow: the catalogue's verdicts are those that it expects, and so those of sim.
func TestKnownFailuresShow(t *testing.T) {
	for _, code := range []string{"A1", "A3", "A5", "B1", "C1", "C4", "N2"} {
		for _, lock := range []string{"single", "failover", "redlock"} {
			if code != "C4" || lock == "failover" {
				testKnown(t, code, lock, false)
				testKnown(t, code, lock, true)
			}
		}
	}
}

// TestLibrariesDoTheSame on containers as in sim.
func TestLibrariesDoTheSame(t *testing.T) {
	for _, code := range []string{"A1", "A3", "A10", "D1"} {
		for _, lock := range []string{"redsync", "redsync-5", "redislock", "rueidislock"} {
			testKnown(t, code, lock, false)
		}
	}
}

func testKnown(t *testing.T, code, lock string, fencing bool) {
	bed := testbed(t)
	s, err := scenarios.Find(code)
	if err != nil {
		t.Fatal(err)
	}
	t.Run(fmt.Sprintf("%s/%s/%v", code, lock, fencing), func(t *testing.T) {
		if o := judge(t, bed, lock, s, fencing); len(o.Unexpected) > 0 {
			for _, e := range o.Events {
				t.Logf("%+v", e)
			}
			t.Error(o.Unexpected)
		}
	})
}

func TestWhatCannotBeHadIsSaid(t *testing.T) {
	bed := testbed(t)
	entry, err := locks.Find("single")
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, section+"  - split-brain: A\n    at: 2s\n")
	o, err := runner.Run(bed, runner.Plan{Lock: entry, Scenario: s, Speed: 5}, nil)
	if err != nil || !strings.Contains(o.Unsupported, nemesis.ErrUnsupported.Error()) || len(o.Verdicts) > 0 {
		t.Errorf("unsupported %q, verdicts %v, error %v", o.Unsupported, o.Verdicts, err)
	}
	if entry, err = locks.Find("consensus"); err != nil {
		t.Fatal(err)
	}
	s = parse(t, strings.TrimSuffix(section, "faults:\n"))
	if o, err = runner.Run(bed, runner.Plan{Lock: entry, Scenario: s, Speed: 5}, nil); err != nil || o.Unsupported == "" {
		t.Errorf("consensus: unsupported %q, error %v", o.Unsupported, err)
	}
}

// TestTwoAtOnce: two testbeds run the same plan at the same time, and each finds what it would have found alone.
func TestTwoAtOnce(t *testing.T) {
	one := testbed(t)
	two, err := Start(context.Background(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := two.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := parse(t, section+"  - pause: A\n    at: 2s\n    for: 3s\n")
	var both sync.WaitGroup
	for _, bed := range []*Testbed{one, two} {
		both.Go(func() {
			entry, _ := locks.Find("single")
			o, err := runner.Run(bed, runner.Plan{Lock: entry, Scenario: s, Speed: 5}, nil)
			if errors.Is(o.Err, ErrStrained) {
				t.Log(o.Err) // one machine for two testbeds; each must find the truth all the same
			} else if err = errors.Join(err, o.Err); err != nil {
				t.Error(err)
				return
			}
			if v := o.Verdicts[checker.Exclusion]; v.Status == checker.Violated || v.Status != checker.Held && o.Err == nil {
				t.Error(v)
			}
			clients := map[string]bool{}
			for _, e := range o.Events {
				if e.Role == history.Resource && e.Op == history.Write {
					clients[e.By] = true
				}
			}
			if len(clients) != 2 {
				t.Errorf("the resource was written by %v", clients)
			}
		})
	}
	both.Wait()
}

// TestNothingIsLeftBehind: what a testbed started is found by its label and removed, whoever does it; what another process
// uses is spared.
func TestNothingIsLeftBehind(t *testing.T) {
	testbed(t)
	bed, err := Start(context.Background(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	engine, err := connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	label := runLabel + "=" + bed.id
	spared, err := remove(ctx, engine, label, func(labels map[string]string) bool { return lives(labels[ownerLabel]) })
	if err != nil || spared.Containers != 0 || spared.InUse != len(redisNames)+len(sentinelNames)+2 {
		t.Errorf("while it was used: %+v, %v", spared, err)
	}
	removed, err := remove(ctx, engine, label, func(map[string]string) bool { return false })
	if err != nil || removed.Containers != len(redisNames)+len(sentinelNames)+2 || removed.Networks != 1 {
		t.Errorf("removed %+v, %v", removed, err)
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
}

func TestOwnersThatAreGone(t *testing.T) {
	if me := thisProcess(); !lives(me) {
		t.Errorf("%q does not live", me)
	}
	for _, name := range []string{"", "x", hostname() + " 1 0", hostname() + " 99999999 5"} {
		if lives(name) {
			t.Errorf("%q lives", name)
		}
	}
}

func TestNoEngineIsSaid(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	_, err := Start(context.Background(), Config{})
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "start Docker") {
		t.Error(err)
	}
}

func TestAMissingImageIsSaid(t *testing.T) {
	testbed(t)
	_, err := Start(context.Background(), Config{RedisImage: "lockfault/none:0"})
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "make images") || !strings.Contains(err.Error(), "--redis-image") {
		t.Error(err)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	got := []bool{older("1.40", "1.41"), older("1.9", "1.41"), older("1.41", "1.41"), older("1.100", "1.41"), older("2.0", "1.41")}
	if !slices.Equal(got, []bool{true, true, false, false, false}) {
		t.Error(got)
	}
}
