package docker

import (
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
)

// find looks for the first line of the journal, from a place on, that has all the words.
func find(lines []string, from int, words ...string) int {
	for i := from; i < len(lines); i++ {
		has := true
		for _, w := range words {
			has = has && strings.Contains(lines[i], w)
		}
		if has {
			return i
		}
	}
	return -1
}

// TestTheServersTellOfAFailoverBySentinel: the lock is written on the primary, replication is held, the primary dies,
// Sentinel promotes, and a second client is granted: in this order, by the servers' own words.
func TestTheServersTellOfAFailoverBySentinel(t *testing.T) {
	bed := testbed(t)
	s, err := scenarios.Find("C13")
	if err != nil {
		t.Fatal(err)
	}
	o := judge(t, bed, "failover", s, false)
	if len(o.Unexpected) > 0 {
		t.Error(o.Unexpected)
	}
	journal := bed.Journal()
	lines := strings.Split(journal, "\n")
	at := 0
	for _, step := range [][]string{
		{"primary ", "MONITOR A: set " + locks.Key("stock")},
		{"sentinel", "+sdown master " + locks.SentinelName},
		{"sentinel", "+odown master " + locks.SentinelName},
		{"replica ", "MASTER MODE enabled"},
		{"sentinel", "+switch-master " + locks.SentinelName},
		{"replica ", "MONITOR B: set " + locks.Key("stock")},
	} {
		next := find(lines, at, step...)
		if next < 0 {
			t.Fatalf("after line %d nobody says %q:\n%s", at, step, journal)
		}
		t.Log(lines[next])
		at = next + 1
	}
	if i := find(lines, 0, "replica ", "MONITOR A:"); i >= 0 {
		t.Errorf("the replica had heard of A: %s", lines[i])
	}
	e := ends(o.Events)["failover"]
	if e.Detail["sentinel_log"] == "" || e.Detail["replica_log"] == "" || e.Detail["primary_offset"] == e.Detail["replica_offset"] {
		t.Errorf("the evidence is %v", e.Detail)
	}
	t.Log(e.Detail)
}

// TestAfterAFailoverThePrimaryLeadsAgain: whatever has become of the two servers, the next run finds them as the first did.
func TestAfterAFailoverThePrimaryLeadsAgain(t *testing.T) {
	bed := testbed(t)
	for _, fault := range []string{
		"- failover: primary\n  by: sentinel\n  at: 500ms", "- split-brain: A\n  after: A acquired", "- failover: primary\n  at: 2s",
	} {
		judge(t, bed, "failover", parse(t, "ttl: 60s"+strings.ReplaceAll(section, "at: 3s", "at: 30s")+indent(fault)+mayAll), false)
		o := judge(t, bed, "failover", parse(t, strings.TrimSuffix(section, "faults:\n")), true)
		if len(o.Unexpected) > 0 {
			t.Errorf("after %s: %v", fault, o.Unexpected)
		}
		for _, e := range o.Events {
			if e.Role == history.Node && e.Process != "primary" && e.By != "" {
				t.Errorf("after %s: %s took a command of %s", fault, e.Process, e.By)
			}
		}
	}
}

// TestBothSidesOfASplitBrainServe, and when the replica knew of the lock, nothing is harmed.
func TestBothSidesOfASplitBrainServe(t *testing.T) {
	bed := testbed(t)
	for _, code := range []string{"C6", "N4"} {
		s, err := scenarios.Find(code)
		if err != nil {
			t.Fatal(err)
		}
		for _, fencing := range []bool{false, true} {
			o := judge(t, bed, "failover", s, fencing)
			if len(o.Unexpected) > 0 {
				t.Errorf("%s, fences %v: %v", code, fencing, o.Unexpected)
			}
			e := ends(o.Events)["split-brain"]
			if e.Detail["served_by_both"] == "0" || e.Detail["sentinel_log"] == "" {
				t.Errorf("%s: the evidence is %v", code, e.Detail)
			}
			t.Log(code, e.Detail)
		}
	}
}
