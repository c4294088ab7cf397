package sim

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

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
	quiet.Do(func() { redis.SetLogger(silent{}) })
	return bubble(cmp.Or(t.Limit, 30*time.Second), func() {
		c := newCluster(setup)
		defer c.close()
		body(c)
	})
}

// The client library reports each failed connection on standard error; here such failures are ordered, and the history
// tells of them.
var quiet sync.Once

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
