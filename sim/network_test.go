package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// onNetwork gives a connection between A and n1 on a network without faults.
func onNetwork(t *testing.T, f func(n *network, l *link, p *pipe)) {
	synctest.Test(t, func(*testing.T) {
		n := newNetwork(1)
		l := n.addLink(nemesis.Link{From: "A", To: "n1"})
		p := l.attempt()
		p.open()
		f(n, l, p)
	})
}

// disturbed puts a disturbance on a link and returns how to lift it.
func disturbed(l *link, how nemesis.Disturbance) (heal func()) {
	d := &disturbance{how: how}
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	for _, way := range l.lanes(how.Direction) {
		way.disturbances = append(way.disturbances, d)
	}
	return func() {
		l.net.mu.Lock()
		defer l.net.mu.Unlock()
		for _, way := range l.lanes(how.Direction) {
			way.heal(d, l.pipes)
		}
	}
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Errorf("write %q: %v", text, err)
	}
}

// hear reads what arrives within a time.
func hear(c net.Conn, within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	buf := make([]byte, 100)
	n, err := c.Read(buf)
	return string(buf[:n]), err
}

func TestMessagesArriveInOrderAndAfterADelay(t *testing.T) {
	onNetwork(t, func(_ *network, _ *link, p *pipe) {
		start := time.Now()
		for _, word := range strings.Fields("one two three four five") {
			say(t, p.client, word)
		}
		got := ""
		for len(got) < len("onetwothreefourfive") {
			word, err := hear(p.server, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			got += word
		}
		if got != "onetwothreefourfive" {
			t.Errorf("heard %q", got)
		}
		if took := time.Since(start); took < delayMin || took > 5*(delayMin+delaySpread) {
			t.Errorf("took %v", took)
		}
	})
}

func TestACutHoldsAndDeliversAlsoWhatItsSenderHasGivenUp(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		heal := disturbed(l, nemesis.Disturbance{Cut: true})
		say(t, p.client, "late")
		p.client.Close()
		if got, err := hear(p.server, time.Minute); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("while cut: heard %q, %v", got, err)
		}
		heal()
		if got, err := hear(p.server, time.Second); got != "late" {
			t.Errorf("after healing: heard %q, %v", got, err)
		}
		if _, err := hear(p.server, time.Second); err != io.EOF {
			t.Errorf("after the last word: %v", err)
		}
	})
}

func TestACutOneWayLetsTheOtherPass(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		disturbed(l, nemesis.Disturbance{Cut: true, Direction: nemesis.Replies})
		say(t, p.client, "ask")
		if got, err := hear(p.server, time.Second); got != "ask" {
			t.Errorf("request: heard %q, %v", got, err)
		}
		say(t, p.server, "answer")
		if got, err := hear(p.client, time.Second); err == nil {
			t.Errorf("reply: heard %q", got)
		}
	})
}

func TestADropLosesAndResetsOnHealing(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		heal := disturbed(l, nemesis.Disturbance{Drop: true, Direction: nemesis.Requests})
		say(t, p.client, "lost")
		heal()
		if got, err := hear(p.server, time.Second); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("heard %q, %v", got, err)
		}
		if _, err := p.client.Write([]byte("more")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("write after the reset: %v", err)
		}
	})
}

func TestADropThatLostNothingResetsNothing(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		disturbed(l, nemesis.Disturbance{Drop: true})()
		say(t, p.client, "fine")
		if got, err := hear(p.server, time.Second); got != "fine" {
			t.Errorf("heard %q, %v", got, err)
		}
	})
}

func TestOfTwoCutsOneHealsAndTheOtherHolds(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		first, second := disturbed(l, nemesis.Disturbance{Cut: true}), disturbed(l, nemesis.Disturbance{Cut: true, Direction: nemesis.Requests})
		say(t, p.client, "late")
		first()
		if got, err := hear(p.server, time.Second); err == nil {
			t.Errorf("while the second cut was in force: heard %q", got)
		}
		second()
		if got, err := hear(p.server, time.Second); got != "late" {
			t.Errorf("heard %q, %v", got, err)
		}
	})
}

func TestAResetBreaksWhatHasCarriedEnough(t *testing.T) {
	onNetwork(t, func(n *network, l *link, p *pipe) {
		d := &disturbance{reset: true, after: 8}
		n.mu.Lock()
		l.requests.disturbances = append(l.requests.disturbances, d)
		n.mu.Unlock()
		say(t, p.client, "eight...")
		if got, err := hear(p.server, time.Second); got != "eight..." {
			t.Errorf("within the limit: heard %q, %v", got, err)
		}
		say(t, p.client, "n")
		for side, end := range map[string]net.Conn{"client": p.client, "server": p.server} {
			if got, err := hear(end, time.Second); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: heard %q, %v", side, got, err)
			}
		}
		if d.resets != 1 {
			t.Errorf("%d resets", d.resets)
		}
	})
}

func TestASlowLinkTakesItsTimeForEachByte(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		disturbed(l, nemesis.Disturbance{PerKB: time.Second})
		start := time.Now()
		say(t, p.client, strings.Repeat("x", 50))
		say(t, p.client, strings.Repeat("y", 50))
		for range 2 {
			if _, err := hear(p.server, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took < 100*time.Millisecond || took > 101*time.Millisecond {
			t.Errorf("a hundred bytes at one a millisecond took %v", took)
		}
	})
}

func TestADelayIsAddedToEachMessage(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, p *pipe) {
		disturbed(l, nemesis.Disturbance{Delay: 3 * time.Second})
		start := time.Now()
		say(t, p.client, "slow")
		if got, err := hear(p.server, time.Minute); got != "slow" {
			t.Fatalf("heard %q, %v", got, err)
		}
		if took := time.Since(start); took < 3*time.Second || took > 3*time.Second+delayMin+delaySpread+slotCycle {
			t.Errorf("took %v", took)
		}
	})
}

// TestWhatArrivedWhileStoppedWinsOverADeadline: a process that goes on finds its data, though its timers are late.
func TestWhatArrivedWhileStoppedWinsOverADeadline(t *testing.T) {
	onNetwork(t, func(n *network, _ *link, p *pipe) {
		g := &gate{net: n}
		p.client.gates = []*gate{g}
		g.shut()
		say(t, p.server, "answer")
		time.AfterFunc(time.Hour, g.reopen)
		if got, err := hear(p.client, time.Second); got != "answer" {
			t.Errorf("heard %q, %v", got, err)
		}
		if g.held() == 0 {
			t.Error("the gate held nothing: the test shows nothing")
		}
	})
}

func TestADialWaitsForACutToHealAndGivesUpWithItsContext(t *testing.T) {
	onNetwork(t, func(_ *network, l *link, _ *pipe) {
		heal := disturbed(l, nemesis.Disturbance{Cut: true})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := l.attempt().handshake(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while cut: %v", err)
		}
		time.AfterFunc(time.Minute, heal)
		if err := l.attempt().handshake(context.Background()); err != nil {
			t.Errorf("after healing: %v", err)
		}
	})
}

func TestNoTwoConnectionsActAtTheSameInstant(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		n := newNetwork(1)
		seen := map[time.Duration]string{}
		for _, client := range []string{"A", "B", "C"} {
			l := n.addLink(nemesis.Link{From: client, To: "n1"})
			for range connSlots {
				p := l.attempt()
				for _, s := range []*stream{p.there, p.back} {
					at := s.arrival(0).Sub(n.start) % slotCycle
					if other, taken := seen[at]; taken {
						t.Errorf("%s and %s share the slot %v", client, other, at)
					}
					seen[at] = client
				}
			}
		}
	})
}
