package linear

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// traffic makes a large history: clients use a lock server that works, over a network with delays of 100 to 500 us.
// Half of the acquires wait, half are refused at once. After an unknown outcome a client releases until it gets an
// answer, and goes on under a fresh identity.
type traffic struct {
	clients int
	ops     int     // at least; the last clients finish
	doubt   float64 // probability that the outcome of an operation stays unknown: half the requests, half the replies lost
	seed    uint64
}

type arrival uint8

const (
	invokes arrival = iota
	arrives
	answers
	givesUp
)

type message struct {
	at, order int64 // messages of one instant come in the order in which they were sent
	what      arrival
	client    int
	op        int
	lost      bool // the reply
}

type messages []message

func (m messages) Len() int { return len(m) }
func (m messages) Less(i, j int) bool {
	return m[i].at < m[j].at || m[i].at == m[j].at && m[i].order < m[j].order
}
func (m messages) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *messages) Push(x any)   { *m = append(*m, x.(message)) }
func (m *messages) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

type user struct {
	owner    int32
	op       int  // the open one, -1 if none
	holds    bool // or must find out
	doubtful bool // under this identity
	patient  bool // the open acquire waits
}

type server struct {
	traffic
	rng     *rand.Rand
	queue   messages
	sent    int64
	users   []user
	fresh   int32
	history []lockmodel.Op
	holder  int32
	fence   int64
	waiting []message
}

func (t traffic) generate() []lockmodel.Op {
	s := &server{traffic: t, rng: rand.New(rand.NewPCG(t.seed, uint64(t.clients))), holder: none,
		users: make([]user, t.clients), history: make([]lockmodel.Op, 0, t.ops+2*t.clients)}
	for c := range s.users {
		s.users[c] = user{owner: s.fresh, op: -1}
		s.fresh++
		s.send(message{at: s.rng.Int64N(1000), what: invokes, client: c})
	}
	for len(s.queue) > 0 {
		m := heap.Pop(&s.queue).(message)
		switch u := &s.users[m.client]; {
		case m.what == invokes:
			s.invoke(m, u)
		case m.what == arrives:
			s.serve(m)
		case m.op != u.op: // it had given up, or had its answer
		case m.what == answers:
			s.finish(m, u)
		default:
			s.abandon(m, u)
		}
	}
	slices.SortStableFunc(s.history, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
	return s.history
}

func (s *server) send(m message) {
	s.sent++
	m.order = s.sent
	heap.Push(&s.queue, m)
}

func (s *server) delay() int64 { return 100 + s.rng.Int64N(400) }

func (s *server) invoke(m message, u *user) {
	if len(s.history) >= s.ops && !u.holds {
		return
	}
	op := lockmodel.Op{Call: m.at, Return: lockmodel.Never, Owner: u.owner, Kind: lockmodel.Acquire, Outcome: info}
	if u.holds {
		op.Kind = lockmodel.Release
	}
	u.op, u.patient = len(s.history), s.rng.IntN(2) == 0
	s.history = append(s.history, op)
	request := message{at: m.at + s.delay(), what: arrives, client: m.client, op: u.op}
	if s.rng.Float64() < s.doubt {
		s.send(message{at: m.at + 5000 + s.rng.Int64N(1000), what: givesUp, client: m.client, op: u.op})
		if s.rng.IntN(2) == 0 {
			return
		}
		request.lost = true
	}
	s.send(request)
}

func (s *server) serve(m message) {
	op := &s.history[m.op]
	switch {
	case op.Kind == lockmodel.Acquire && s.holder == none:
		s.grant(m)
	case op.Kind == lockmodel.Acquire && s.users[m.client].patient:
		s.waiting = append(s.waiting, m)
	case op.Kind == lockmodel.Release && s.holder == op.Owner:
		s.holder = none
		s.answer(m, true)
		if len(s.waiting) > 0 {
			next := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.grant(message{at: m.at, client: next.client, op: next.op, lost: next.lost})
		}
	default:
		if op.Kind == lockmodel.Release {
			s.waiting = slices.DeleteFunc(s.waiting, func(w message) bool { return s.history[w.op].Owner == op.Owner })
		}
		s.answer(m, false)
	}
}

func (s *server) grant(m message) {
	s.fence++
	s.holder = s.history[m.op].Owner
	if !m.lost {
		s.history[m.op].Value = s.fence
	}
	s.answer(m, true)
}

func (s *server) answer(m message, done bool) {
	if m.lost {
		return
	}
	s.history[m.op].Outcome = fail // until the client knows, Return is Never
	if done {
		s.history[m.op].Outcome = ok
	}
	s.send(message{at: m.at + s.delay(), what: answers, client: m.client, op: m.op})
}

func (s *server) finish(m message, u *user) {
	op := &s.history[m.op]
	op.Return = m.at
	u.op = -1
	pause := 50 + s.rng.Int64N(500)
	switch {
	case op.Kind == lockmodel.Acquire && op.Outcome == ok:
		u.holds = true
	case op.Kind == lockmodel.Acquire:
		pause = 500 + s.rng.Int64N(int64(1500*s.clients))
	default:
		if u.doubtful {
			*u = user{owner: s.fresh, op: -1}
			s.fresh++
		}
		u.holds = false
	}
	s.send(message{at: m.at + pause, what: invokes, client: m.client})
}

func (s *server) abandon(m message, u *user) {
	u.op, u.holds, u.doubtful = -1, true, true
	s.send(message{at: m.at + 50 + s.rng.Int64N(500), what: invokes, client: m.client})
}

// violate makes one hold near the end last into the next: its release is called later. It tells whether it found one.
func violate(ops []lockmodel.Op) bool {
	next := make([]int32, len(ops)) // operation of the same owner
	last := map[int32]int32{}
	for i := len(ops) - 1; i >= 0; i-- {
		next[i] = none
		if n, ok := last[ops[i].Owner]; ok {
			next[i] = n
		}
		last[ops[i].Owner] = int32(i)
	}
	released := func(i int32) int32 { // by which operation the grant i was certainly given back
		if r := next[i]; ops[i].Kind == lockmodel.Acquire && ops[i].Outcome == ok && r != none && ops[r].Outcome == ok {
			return r
		}
		return none
	}
	for i := int32(len(ops)) - 1; i > int32(len(ops))/2; i-- {
		r := released(i)
		if r == none {
			continue
		}
		for j := max(0, i-200); j < i+200 && int(j) < len(ops); j++ { // the grant after it
			late := ops[j].Return + 1
			if q := released(j); j == i || q == none || late <= ops[r].Call || ops[q].Call <= late {
				continue
			}
			if n := next[r]; n != none && ops[n].Call <= late+1 {
				continue
			}
			ops[r].Call, ops[r].Return = late, late+1
			slices.SortStableFunc(ops, func(a, b lockmodel.Op) int { return cmp.Compare(a.Call, b.Call) })
			return true
		}
	}
	return false
}
