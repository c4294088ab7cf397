package sim

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	lua "github.com/yuin/gopher-lua"

	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// Testbed runs plans in virtual time. It is safe for concurrent use: each run has a world of its own.
type Testbed struct {
	// Limit of real time for one run, after which a lock that is busy without ever waiting is given up; 0 stands for 30 s.
	Limit time.Duration
}

// Name implements runner.Testbed.
func (Testbed) Name() string { return "sim" }

// Run implements runner.Testbed. The error says what the code under test left behind, or that it kept the processor busy
// without end.
func (t Testbed) Run(setup runner.Setup, body func(runner.Cluster)) error {
	if setup.Program != "" {
		return errRealTime
	}
	prepare.Do(func() {
		redis.SetLogger(silent{})
		lua.RegistrySize = luaRegistry
	})
	return bubble(cmp.Or(t.Limit, 30*time.Second), func() {
		c := newCluster(setup)
		defer c.close()
		body(c)
	})
}

var errRealTime = fmt.Errorf("%w: a program lives in real time; use the docker testbed", nemesis.ErrUnsupported)

// prepare settings that libraries have for the whole process.
var prepare sync.Once

// luaRegistry is the size of the value stack that each call of a script gets, in values. The default of 5120 is most of
// what a short script costs.
const luaRegistry = 1024

// silent keeps the client library from reporting each failed connection on standard error: here such failures are
// ordered, and the history tells of them.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
