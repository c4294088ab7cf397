package locks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// fakeService is a lock service of several members with one state: linearizable by construction.
type fakeService struct {
	members []*server.Server

	mu       sync.Mutex
	isolated []bool          // members without a majority
	refused  map[string]bool // commands that no majority is found for
	last     int             // id and revision given out last
	sessions map[int]*fakeSession
	holders  map[string]fakeHolder
	openings int
}

type fakeSession struct {
	ttl time.Duration
	end time.Time
}

type fakeHolder struct{ session, revision int }

func newFakeService(n int) *fakeService {
	f := &fakeService{isolated: make([]bool, n), sessions: map[int]*fakeSession{}, holders: map[string]fakeHolder{}}
	for i := range n {
		m := server.NewServerConn()
		f.members = append(f.members, m)
		for name, do := range map[string]func(*server.Peer, []string){
			"SESSION.OPEN": f.open, "SESSION.KEEP": f.keep, "SESSION.CLOSE": f.close, "LOCK.TRY": f.try, "LOCK.FREE": f.free,
		} {
			_ = m.Register(name, func(c *server.Peer, _ string, args []string) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.isolated[i] || f.refused[name] {
					c.WriteError("NOQUORUM no majority")
					return
				}
				do(c, args)
			})
		}
	}
	return f
}

func (f *fakeService) alive(id string) (int, *fakeSession) {
	n, _ := strconv.Atoi(id)
	s := f.sessions[n]
	if s == nil || !time.Now().Before(s.end) {
		return n, nil
	}
	return n, s
}

func (f *fakeService) open(c *server.Peer, args []string) {
	ms, _ := strconv.Atoi(args[0])
	life := time.Duration(ms) * time.Millisecond
	f.last++
	f.openings++
	f.sessions[f.last] = &fakeSession{life, time.Now().Add(life)}
	c.WriteInt(f.last)
}

func (f *fakeService) keep(c *server.Peer, args []string) {
	_, s := f.alive(args[0])
	if s != nil {
		s.end = time.Now().Add(s.ttl)
	}
	writeBool(c, s != nil)
}

func (f *fakeService) close(c *server.Peer, args []string) {
	id, s := f.alive(args[0])
	delete(f.sessions, id)
	writeBool(c, s != nil)
}

func (f *fakeService) try(c *server.Peer, args []string) {
	id, s := f.alive(args[1])
	if s == nil {
		c.WriteError("NOSESSION session over")
		return
	}
	h, held := f.holders[args[0]]
	if _, live := f.alive(strconv.Itoa(h.session)); held && live != nil && h.session != id {
		c.WriteInt(0)
		return
	}
	if !held || h.session != id {
		f.last++
		h = fakeHolder{id, f.last}
		f.holders[args[0]] = h
	}
	c.WriteInt(h.revision)
}

func (f *fakeService) free(c *server.Peer, args []string) {
	id, s := f.alive(args[1])
	mine := s != nil && f.holders[args[0]].session == id
	if mine {
		delete(f.holders, args[0])
	}
	writeBool(c, mine)
}

func writeBool(c *server.Peer, b bool) {
	if b {
		c.WriteInt(1)
	} else {
		c.WriteInt(0)
	}
}

func (f *fakeService) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func TestConsensusGoesOnWithAnotherMember(t *testing.T) {
	faults := map[string]func(*bed, []*link){
		"refused":      func(_ *bed, l []*link) { l[0].refuse.Store(true) },
		"black hole":   func(_ *bed, l []*link) { l[0].loseRequests.Store(true) },
		"lost replies": func(_ *bed, l []*link) { l[0].loseReplies.Store(true) },
		"no majority":  func(b *bed, _ []*link) { b.service.set(func() { b.service.isolated[0] = true }) },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inBed(t, "consensus", true, func(b *bed) {
				lock, links := b.client("A")
				fault(b, links)
				lease, err := b.tryFor(3*time.Second, lock, "r")
				if err != nil {
					b.t.Fatal(err)
				}
				b.release(lock, lease)
			})
		})
	}
}

func TestConsensusWithoutMajorityHoldsNothing(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		lock, _ := b.client("A")
		b.service.set(func() { b.service.isolated = []bool{true, true, true} })
		if _, err := b.tryFor(2*time.Second, lock, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Fatalf("no session was opened, so nothing can be held, but: %v", err)
		}
	})
}

func TestConsensusAcquireIsUnknownIfTheSessionMayHold(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		lock, links := b.client("A")
		other, _ := b.client("B")
		held := b.acquire(other, "r")
		time.AfterFunc(time.Second, func() {
			for _, l := range links {
				l.loseReplies.Store(true)
			}
			b.release(other, held)
		})
		_, err := b.tryFor(5*time.Second, lock, "r")
		if err == nil || errors.Is(err, ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			b.t.Fatalf("the service granted and no reply came, but: %v", err)
		}
		b.service.set(func() {
			if _, session := b.service.alive(strconv.Itoa(b.service.holders["r"].session)); session == nil {
				b.t.Error("the service granted nothing: unknown would be too cautious")
			}
		})
	})
}

func TestConsensusWaiterOpensAnotherSessionWhenItsOwnIsOver(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		a, _ := b.client("A")
		waiter, _ := b.client("B")
		held := b.acquire(a, "r")
		time.AfterFunc(2*time.Second, func() {
			b.service.set(func() {
				for id := range b.service.sessions {
					if strconv.Itoa(id) != held.Token {
						delete(b.service.sessions, id)
					}
				}
			})
		})
		time.AfterFunc(5*time.Second, func() { b.release(a, held) })
		lease, err := b.tryFor(10*time.Second, waiter, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		b.service.set(func() {
			if b.service.openings != 3 {
				b.t.Errorf("%d sessions were opened, want 3: A's, B's, and B's second", b.service.openings)
			}
		})
		b.release(waiter, lease)
	})
}

// A waiter that was cut off for a TTL gives its session up, although the service may have kept it.
func TestConsensusReturnsNoSessionThatItBelievesOver(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		a, _ := b.client("A")
		waiter, links := b.client("B")
		held := b.acquire(a, "r")
		cut := func(on bool) {
			for _, l := range links {
				l.loseRequests.Store(on)
			}
		}
		time.AfterFunc(time.Second, func() {
			cut(true)
			b.service.set(func() {
				for _, s := range b.service.sessions {
					s.end = time.Now().Add(time.Hour)
				}
			})
		})
		time.AfterFunc(2*ttl, func() { b.release(a, held); cut(false) })
		lease, err := b.tryFor(time.Minute, waiter, "r")
		if err != nil {
			b.t.Fatal(err)
		}
		if closed(lease.Lost) || !lease.Until().After(time.Now()) {
			b.t.Errorf("lost %v, until %v", closed(lease.Lost), lease.Until())
		}
	})
}

func TestServiceErrorTellsWhetherItWasSent(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		a, links := b.client("A")
		for _, l := range links {
			l.refuse.Store(true)
		}
		call := func() error {
			_, err := a.(*consensus).service.open(b.t.Context(), ttl)
			return err
		}
		if err := call(); !errors.Is(err, errNotSent) {
			b.t.Errorf("no member reached: %v", err)
		}
		links[1].refuse.Store(false)
		links[1].loseReplies.Store(true)
		if err := call(); err == nil || errors.Is(err, errNotSent) {
			b.t.Errorf("one member reached: %v", err)
		}
	})
}

func TestConsensusReleaseByClosingTheSession(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		a, _ := b.client("A")
		lease := b.acquire(a, "r")
		b.service.set(func() { b.service.refused = map[string]bool{"LOCK.FREE": true} })
		b.release(a, lease)
		b.service.set(func() { b.service.refused = nil })
		b.acquire(a, "r")
	})
}

func TestConsensusSessionThatIsOverHoldsNothing(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		a, _ := b.client("A")
		waiter, _ := b.client("B")
		held := b.acquire(a, "r")
		time.AfterFunc(time.Second, func() {
			b.service.set(func() { b.service.refused = map[string]bool{"LOCK.TRY": true} })
		})
		time.AfterFunc(2*time.Second, func() {
			b.service.set(func() {
				b.service.refused = map[string]bool{"SESSION.CLOSE": true}
				for id := range b.service.sessions {
					if strconv.Itoa(id) != held.Token {
						delete(b.service.sessions, id)
					}
				}
			})
		})
		if _, err := b.tryFor(3*time.Second, waiter, "r"); !errors.Is(err, ErrNotAcquired) {
			b.t.Errorf("acquire: %v", err)
		}
	})
}

func TestConsensusSessionsAreNeverSharedByGrants(t *testing.T) {
	inBed(t, "consensus", false, func(b *bed) {
		lock, _ := b.client("A")
		var tokens []string
		for range 5 {
			lease := b.acquire(lock, "r")
			tokens = append(tokens, lease.Token)
			b.release(lock, lease)
		}
		slices.Sort(tokens)
		if n := len(slices.Compact(tokens)); n != 5 {
			b.t.Errorf("%d sessions for 5 grants", n)
		}
		b.service.set(func() {
			if n := len(b.service.sessions); n != 0 {
				b.t.Errorf("%d sessions left open", n)
			}
		})
	})
}
