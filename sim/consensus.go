package sim

import (
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// consensus is a small linearizable lock service, the stand-in for etcd and ZooKeeper: sessions that end when they are not
// kept alive, and locks whose grants are numbered by one counter. It is replicated over members, of which a majority must
// be up and know the log. What the members say to each other is not simulated: a request that a member can commit takes
// effect at once. Sessions are timed by a monotonic clock, so steps of a wall clock do not touch them.
//
// Requests: SESSION.OPEN ttl_ms, SESSION.KEEP id, SESSION.CLOSE id, LOCK.TRY name id, LOCK.FREE name id.
type consensus struct {
	observer runner.Observer
	members  []*member

	mu          sync.Mutex
	lastSession int
	revision    int
	commits     int
	sessions    map[int]*session
	holders     map[string]grant // by lock
	granted     map[string]bool  // client -> its last request was granted a lock
}

type grant struct{ session, revision int }

type session struct {
	client string
	ttl    time.Duration
	ends   time.Time
}

// member is one server of the service.
type member struct {
	name    string
	service *consensus

	// The service's mutex guards what follows.
	servers map[string]*server.Server // one for each client, so that a request tells whose it is
	clock   wallClock                 // nothing in the service reads it
	up      bool
	knows   bool // has the log
	refused int
	commits int // of the service when the member crashed
}

func newConsensus(names []string, o runner.Observer) *consensus {
	s := &consensus{observer: o, sessions: map[int]*session{}, holders: map[string]grant{}, granted: map[string]bool{}}
	for _, name := range names {
		s.members = append(s.members, &member{
			name: name, service: s, servers: map[string]*server.Server{}, clock: newWallClock(), up: true, knows: true,
		})
	}
	return s
}

// newServer answers one client's requests.
func (m *member) newServer(client string) *server.Server {
	srv, s := server.NewServerConn(), m.service
	for verb, f := range map[string]func(client string, args []string) any{
		"SESSION.OPEN": s.open, "SESSION.KEEP": s.keep, "SESSION.CLOSE": s.closeSession,
		"LOCK.TRY": s.try, "LOCK.FREE": s.free,
	} {
		err := srv.Register(verb, func(c *server.Peer, _ string, args []string) {
			switch answer := s.commit(client, f, args).(type) {
			case int:
				c.WriteInt(answer)
			case string:
				c.WriteError(answer)
			}
		})
		if err != nil {
			panic(err) // two commands of one name in this table
		}
	}
	return srv
}

// commit runs a request and returns its answer: a number, or an error as a string.
func (s *consensus) commit(client string, f func(client string, args []string) any, args []string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quorum() {
		return "NOQUORUM too few members are up"
	}
	s.expire()
	s.commits++
	s.granted[client] = false
	return f(client, args)
}

func (s *consensus) hasGranted(client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted[client]
}

// quorum tells whether a majority is up and knows the log; members that came back empty then fetch it.
func (s *consensus) quorum() bool {
	knowing := 0
	for _, m := range s.members {
		if m.up && m.knows {
			knowing++
		}
	}
	if 2*knowing <= len(s.members) {
		return false
	}
	for _, m := range s.members {
		m.knows = m.knows || m.up
	}
	return true
}

// expire ends the sessions whose time has come, and frees what they hold.
func (s *consensus) expire() {
	for id := 1; id <= s.lastSession; id++ {
		if x := s.sessions[id]; x != nil && !x.ends.After(time.Now()) {
			s.end(id, history.KeyExpired, "")
		}
	}
}

func (s *consensus) end(id int, op history.Op, by string) {
	for name, holder := range s.holders {
		if holder.session == id {
			s.tell(op, name, by, id)
			delete(s.holders, name)
			break // a session holds at most one lock, see try
		}
	}
	delete(s.sessions, id)
}

func (s *consensus) tell(op history.Op, name, by string, id int) {
	detail := map[string]string{"value": strconv.Itoa(id)}
	if x := s.sessions[id]; x != nil {
		detail["owner"] = x.client
	}
	s.observer.Event(history.Event{
		Process: "consensus", Role: history.Node, Type: history.Ok, Op: op, Resource: name, By: by, Detail: detail,
	})
}

const errArgs = "ERR wrong arguments"

func (s *consensus) open(client string, args []string) any {
	if len(args) != 1 {
		return errArgs
	}
	ms, err := strconv.Atoi(args[0])
	if err != nil || ms <= 0 {
		return errArgs
	}
	s.lastSession++
	ttl := time.Duration(ms) * time.Millisecond
	s.sessions[s.lastSession] = &session{client: client, ttl: ttl, ends: time.Now().Add(ttl)}
	return s.lastSession
}

func (s *consensus) keep(_ string, args []string) any {
	x, _ := s.find(args, 0)
	if x == nil {
		return 0
	}
	x.ends = time.Now().Add(x.ttl)
	return 1
}

func (s *consensus) closeSession(client string, args []string) any {
	x, id := s.find(args, 0)
	if x == nil {
		return 0
	}
	s.end(id, history.KeyDeleted, client)
	return 1
}

func (s *consensus) try(client string, args []string) any {
	x, id := s.find(args, 1)
	if x == nil {
		return "NOSESSION the session is over"
	}
	name := args[0]
	for other, holder := range s.holders {
		if holder.session == id && other != name {
			return "ERR a session holds one lock"
		}
	}
	switch held := s.holders[name]; held.session {
	case id:
		return held.revision
	case 0:
		s.revision++
		s.holders[name] = grant{id, s.revision}
		s.granted[client] = true
		s.tell(history.KeySet, name, client, id)
		return s.revision
	default:
		return 0
	}
}

func (s *consensus) free(client string, args []string) any {
	x, id := s.find(args, 1)
	if x == nil || s.holders[args[0]].session != id {
		return 0
	}
	s.tell(history.KeyDeleted, args[0], client, id)
	delete(s.holders, args[0])
	return 1
}

// find looks up the session named by the argument at position i.
func (s *consensus) find(args []string, i int) (*session, int) {
	if len(args) != i+1 {
		return nil, 0
	}
	id, err := strconv.Atoi(args[i])
	if err != nil {
		return nil, 0
	}
	return s.sessions[id], id
}

func (m *member) accept(client string, conn *end) bool {
	m.service.mu.Lock()
	if !m.up {
		m.refused++
		m.service.mu.Unlock()
		return false
	}
	srv := m.servers[client]
	if srv == nil {
		srv = m.newServer(client)
		m.servers[client] = srv
	}
	m.service.mu.Unlock()
	var last lastRequest
	conn.onRead = last.set
	conn.onWrite = func([]byte) {
		if !last.isHandshake() {
			m.service.observer.Answered(client, m.name, m.service.hasGranted(client))
		}
	}
	srv.ServeConn(conn)
	return true
}

func (m *member) crash() {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	m.up = false
	m.commits = m.service.commits
}

// restart brings the member back. Without its log it knows nothing until a majority tells it.
func (m *member) restart(keep nemesis.Survival, _ time.Time, _ time.Duration) (lost, missed int) {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	m.up = true
	if keep != nemesis.KeepAll {
		m.knows = false
	}
	return 0, m.service.commits - m.commits
}

func (m *member) dialsRefused() int {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	return m.refused
}

func (m *member) stepClock(by time.Duration) (before, after time.Time) {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	before = m.clock.now()
	m.clock.step(by)
	return before, m.clock.now()
}

func (m *member) setRate(rate float64) time.Time {
	m.service.mu.Lock()
	defer m.service.mu.Unlock()
	m.clock.setRate(rate)
	return m.clock.now()
}

func (m *member) close() {
	for _, srv := range m.servers {
		srv.Close()
	}
}
