package locks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// errNoSession: the service says that the session is over.
var errNoSession = errors.New("session over")

// service talks to the members of a replicated lock service, in the Redis protocol:
//
//	SESSION.OPEN <ttl_ms>       the new session's id
//	SESSION.KEEP <id>           1, or 0 if the session is over
//	SESSION.CLOSE <id>          1, or 0 if the session was over
//	LOCK.TRY <name> <id>        the grant's revision, also if the session holds the lock already; 0 if another does
//	LOCK.FREE <name> <id>       1, or 0 if the session did not hold the lock
//
// LOCK.TRY answers NOSESSION if the session is over. A member without a majority answers NOQUORUM. Repeating a request
// is harmless, except that an OPEN whose reply was lost leaves a session to expire. Safe for concurrent use.
type service struct {
	members   []*redis.Client
	timeout   time.Duration // for each member
	preferred atomic.Int64  // the member that answered last
}

// newService gives each member TTL/20, but at least 50 ms: five that do not answer cost a quarter of the TTL.
func newService(env Env) *service {
	s := &service{timeout: max(env.TTL/20, 50*time.Millisecond)}
	for _, addr := range env.Nodes {
		s.members = append(s.members, env.Connect(addr, s.timeout))
	}
	return s
}

func (s *service) open(ctx context.Context, ttl time.Duration) (id int64, err error) {
	return s.call(ctx, "SESSION.OPEN", ttl.Milliseconds())
}

func (s *service) keep(ctx context.Context, session string) (alive bool, err error) {
	return s.ask(ctx, "SESSION.KEEP", session)
}

func (s *service) close(ctx context.Context, session string) (ended bool, err error) {
	return s.ask(ctx, "SESSION.CLOSE", session)
}

func (s *service) try(ctx context.Context, name, session string) (revision int64, err error) {
	return s.call(ctx, "LOCK.TRY", name, session)
}

func (s *service) free(ctx context.Context, name, session string) (freed bool, err error) {
	return s.ask(ctx, "LOCK.FREE", name, session)
}

// ask is call for commands that answer 1 or 0.
func (s *service) ask(ctx context.Context, args ...any) (bool, error) {
	n, err := s.call(ctx, args...)
	if errors.Is(err, errNoSession) {
		return false, nil
	}
	return n == 1, err
}

// call asks the members in turn, beginning with the one that answered last, until one answers for the service. The error
// is errNoSession, or wraps errNotSent if the request reached no member, or leaves it unknown whether it was done.
func (s *service) call(ctx context.Context, args ...any) (int64, error) {
	first := int(s.preferred.Load())
	var sent, unsent error
	for i := range s.members {
		m := (first + i) % len(s.members)
		n, err := s.callMember(ctx, s.members[m], args)
		switch {
		case err == nil, errors.Is(err, errNoSession):
			s.preferred.Store(int64(m))
			return n, err
		case errors.Is(err, errNotSent):
			unsent = err
		default:
			sent = err
		}
	}
	if sent != nil {
		return 0, fmt.Errorf("no member answered for the service: %w", sent)
	}
	return 0, fmt.Errorf("no member reached: %w", unsent)
}

func (s *service) callMember(ctx context.Context, member *redis.Client, args []any) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	n, err := member.Do(ctx, args...).Int64()
	if redis.HasErrorPrefix(err, "NOSESSION") {
		return 0, errNoSession
	}
	return n, err
}

// disconnect closes the connections to all members.
func (s *service) disconnect() error {
	var errs []error
	for _, m := range s.members {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
