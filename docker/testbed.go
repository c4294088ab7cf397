// Package docker is the testbed of real servers: Redis behind Toxiproxy, PostgreSQL for the protected resource, all in
// containers, and a process for each client. It runs the plans that package sim runs in virtual time, in real time.
//
// Timing here is the machine's, so a seed decides what the schedule holds and not when a message arrives. What cannot be
// had on real servers is refused before a run starts, with an error that wraps nemesis.ErrUnsupported.
package docker

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	moby "github.com/moby/moby/client"
	"github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// Config says what a testbed is made of. The zero value is usable.
type Config struct {
	RedisImage     string   // default: LOCKFAULT_REDIS_IMAGE, or lockfault/redis:7
	ToxiproxyImage string   // default: LOCKFAULT_TOXIPROXY_IMAGE, or lockfault/toxiproxy:2
	PostgresImage  string   // default: LOCKFAULT_POSTGRES_IMAGE, or lockfault/postgres:15
	Clients        int      // the most that a plan may have, the probe included; default 4
	Worker         []string // command that runs ServeWorker; default: this program with WorkerVerb
}

// WorkerVerb is the hidden verb of the command under which it serves as one client's process.
const WorkerVerb = "worker"

func (c Config) withDefaults() (Config, error) {
	c.RedisImage = cmp.Or(c.RedisImage, os.Getenv("LOCKFAULT_REDIS_IMAGE"), "lockfault/redis:7")
	c.ToxiproxyImage = cmp.Or(c.ToxiproxyImage, os.Getenv("LOCKFAULT_TOXIPROXY_IMAGE"), "lockfault/toxiproxy:2")
	c.PostgresImage = cmp.Or(c.PostgresImage, os.Getenv("LOCKFAULT_POSTGRES_IMAGE"), "lockfault/postgres:15")
	c.Clients = cmp.Or(c.Clients, 4)
	if len(c.Worker) == 0 {
		self, err := os.Executable()
		if err != nil {
			return c, err
		}
		c.Worker = []string{self, WorkerVerb}
	}
	return c, nil
}

// Testbed is a set of running servers, shared by runs that follow one another. Safe for concurrent use; runs take turns.
type Testbed struct {
	cfg     Config
	id      string // label of everything it started
	engine  *moby.Client
	network *testcontainers.DockerNetwork

	toxiproxy *proxies
	nodes     map[string]*node // by name: n1 to n5, primary, replica
	sentinels map[string]*sentinel
	deposed   bool // the primary does not lead, or the Sentinels are not sure of it
	db        *database

	turn    sync.Mutex
	runs    int
	current atomic.Pointer[cluster] // of the run that is under way
	journal string
	spoil   error // why no further run is possible

	closing sync.Once
	closed  error
}

// Name implements runner.Testbed.
func (*Testbed) Name() string { return "docker" }

// Unavailable says why there can be no testbed, and what to do.
type Unavailable struct {
	Reason string
	Err    error // may be nil
}

func (u *Unavailable) Error() string {
	if u.Err == nil {
		return u.Reason
	}
	return fmt.Sprintf("%s: %v", u.Reason, u.Err)
}

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// Close ends and removes everything that the testbed started. A run that is under way comes to nothing.
func (t *Testbed) Close() error {
	t.closing.Do(func() {
		if c := t.current.Load(); c != nil {
			for _, x := range c.clients {
				_ = kill(x.cmd.Process.Pid)
			}
		}
		t.hangUp()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var removed Removed
		removed, t.closed = remove(ctx, t.engine, runLabel+"="+t.id, func(map[string]string) bool { return false })
		if removed.Stuck > 0 && t.closed == nil {
			t.closed = errStuck
		}
		t.engine.Close()
	})
	return t.closed
}

// hangUp closes the harness's own connections.
func (t *Testbed) hangUp() {
	for _, n := range t.nodes {
		n.hangUp()
	}
	for _, s := range t.sentinels {
		s.command.Close()
	}
	if t.db != nil {
		t.db.close()
	}
}

// quiet silences libraries: the client library reports each failed connection on standard error, and here such failures are
// ordered.
var quiet = sync.OnceFunc(func() {
	redis.SetLogger(silent{})
	tclog.SetDefault(log.New(io.Discard, "", 0))
})

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
