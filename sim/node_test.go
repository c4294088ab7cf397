package sim

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// heard collects what a node tells.
type heard struct{ events []history.Event }

func (h *heard) Event(e history.Event)         { h.events = append(h.events, e) }
func (h *heard) Answered(string, string, bool) {}

// onNode gives a Redis node whose data a test sets directly.
func onNode(t *testing.T, f func(n *redisNode, told *heard)) {
	synctest.Test(t, func(*testing.T) {
		told := &heard{}
		n := newRedisNode("n1", told)
		defer n.close()
		f(n, told)
	})
}

// set does what a client's SET with an expiry does.
func (n *redisNode) set(client, key, value string, ttl time.Duration) {
	n.tick()
	_ = n.mini.Set(key, value)
	n.mini.SetTTL(key, ttl)
	n.executed(client)
}

// has tells whether the key is there now.
func (n *redisNode) has(key string) bool {
	n.tick()
	return n.mini.Exists(key)
}

func TestAKeyExpiresByTheNodesOwnClock(t *testing.T) {
	cases := []struct {
		name  string
		skew  func(*redisNode)
		lives time.Duration // real time
	}{
		{"undisturbed", func(*redisNode) {}, 10 * time.Second},
		{"stepped forward", func(n *redisNode) { n.stepClock(4 * time.Second) }, 6 * time.Second},
		{"stepped back", func(n *redisNode) { n.stepClock(-4 * time.Second) }, 14 * time.Second},
		{"twice as fast", func(n *redisNode) { n.setRate(2) }, 5 * time.Second},
		{"half as fast", func(n *redisNode) { n.setRate(0.5) }, 20 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			onNode(t, func(n *redisNode, _ *heard) {
				n.set("A", "k", "v", 10*time.Second)
				c.skew(n)
				time.Sleep(c.lives - time.Millisecond)
				if !n.has("k") {
					t.Error("gone a millisecond early")
				}
				time.Sleep(2 * time.Millisecond)
				if n.has("k") {
					t.Error("there a millisecond late")
				}
			})
		})
	}
}

func TestAStoppedClockExpiresNothing(t *testing.T) {
	onNode(t, func(n *redisNode, _ *heard) {
		n.set("A", "k", "v", 10*time.Second)
		n.setRate(0)
		time.Sleep(time.Hour)
		if !n.has("k") {
			t.Error("the key expired though the clock stood still")
		}
	})
}

func TestWhatARestartLoses(t *testing.T) {
	cases := []struct {
		keep     nemesis.Survival
		old, new bool // whether a key of two seconds ago, and one of just now, survive
		lost     int
	}{
		{nemesis.KeepAll, true, true, 0},
		{nemesis.LoseSecond, true, false, 1},
		{nemesis.LoseAll, false, false, 2},
	}
	for _, c := range cases {
		onNode(t, func(n *redisNode, _ *heard) {
			n.set("A", "old", "1", time.Minute)
			time.Sleep(2 * time.Second)
			n.set("A", "new", "2", time.Minute)
			time.Sleep(100 * time.Millisecond)
			n.crash()
			crashed := time.Now()
			time.Sleep(3 * time.Second)
			if lost, _ := n.restart(c.keep, crashed, time.Second); lost != c.lost {
				t.Errorf("keep %v: lost %d keys, want %d", c.keep, lost, c.lost)
			}
			if n.has("old") != c.old || n.has("new") != c.new {
				t.Errorf("keep %v: old %v, new %v", c.keep, n.has("old"), n.has("new"))
			}
		})
	}
}

func TestTimeRunsOnForKeysWhileTheNodeIsDown(t *testing.T) {
	onNode(t, func(n *redisNode, _ *heard) {
		n.set("A", "k", "v", 10*time.Second)
		n.crash()
		crashed := time.Now()
		time.Sleep(11 * time.Second)
		n.restart(nemesis.KeepAll, crashed, 0)
		if n.has("k") {
			t.Error("the expiry waited for the restart")
		}
	})
}

func TestANodeTellsWhoDidWhatToWhoseKey(t *testing.T) {
	onNode(t, func(n *redisNode, told *heard) {
		n.set("A", "k", "v", 10*time.Second)
		n.tick()
		n.mini.SetTTL("k", 20*time.Second)
		n.executed("B")
		n.tick()
		n.mini.Del("k")
		n.executed("C")
		n.set("A", "k", "w", time.Second)
		time.Sleep(2 * time.Second)
		n.tick()
		want := []struct {
			op        history.Op
			by, owner string
		}{
			{history.KeySet, "A", "A"}, {history.KeyTTL, "B", "A"}, {history.KeyDeleted, "C", "A"},
			{history.KeySet, "A", "A"}, {history.KeyExpired, "", "A"},
		}
		if len(told.events) != len(want) {
			t.Fatalf("told %+v", told.events)
		}
		for i, w := range want {
			e := told.events[i]
			if e.Op != w.op || e.By != w.by || e.Detail["owner"] != w.owner {
				t.Errorf("event %d: %+v, want %+v", i, e, w)
			}
		}
	})
}

func TestASnapshotKeepsEveryKindOfValue(t *testing.T) {
	onNode(t, func(n *redisNode, _ *heard) {
		_ = n.mini.Set("string", "s")
		n.mini.HSet("hash", "f", "1", "g", "2")
		_, _ = n.mini.Push("list", "a", "b")
		_, _ = n.mini.SetAdd("set", "x", "y")
		_, _ = n.mini.ZAdd("zset", 1.5, "m")
		n.mini.SetTTL("hash", time.Minute)
		now := n.clock.now()
		before := takeSnapshot(n.mini, now)
		before.restore(n.mini, now)
		after := takeSnapshot(n.mini, now)
		if len(before) != 5 || len(after) != 5 {
			t.Fatalf("kept %d of %d", len(after), len(before))
		}
		for key, r := range before {
			if !after[key].sameValue(r) || !after[key].expires.Equal(r.expires) {
				t.Errorf("%s: %v, then %v", key, r, after[key])
			}
		}
	})
}

func TestHandshakesAreToldFromTheLocksCommands(t *testing.T) {
	cases := map[string]bool{
		"*2\r\n$5\r\nhello\r\n$1\r\n3\r\n": true, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$1\r\nx\r\n": true,
		"*1\r\n$4\r\nPING\r\n": true, "*2\r\n$3\r\nGET\r\n$5\r\nhello\r\n": false, "*1\r\n$4\r\nEVAL\r\n": false, "": false,
	}
	for request, want := range cases {
		if got := isHandshake([]byte(request)); got != want {
			t.Errorf("%q: %v", bytes.ReplaceAll([]byte(request), []byte("\r\n"), []byte(" ")), got)
		}
	}
}
