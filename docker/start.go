package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/lockfault/lockfault/nemesis"
)

// StartLimit is how long the servers may take until they are ready.
const StartLimit = time.Minute

// Start starts the servers and makes sure that they serve. On an error nothing is left behind. Errors that are about the
// machine, an engine that is not there or an image that is missing, are *Unavailable.
func Start(ctx context.Context, cfg Config) (*Testbed, error) {
	quiet()
	if err := workersWorkHere(); err != nil {
		return nil, err
	}
	if os.Getenv(insideWorker) != "" {
		return nil, errors.New("this program was called as a client's process and must call ServeWorker then")
	}
	hurry()
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, StartLimit, fmt.Errorf("the servers were not ready within %v", StartLimit))
	defer cancel()
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	t := &Testbed{cfg: cfg, engine: engine, id: newID(), nodes: map[string]*node{}, sentinels: map[string]*sentinel{}}
	if err := t.start(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func newID() string {
	b := make([]byte, 6)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// redisNames are the Redis servers of a testbed: five independent ones, of which a lock on one node uses the first, and a
// primary with its replica.
var redisNames = []string{"n1", "n2", "n3", "n4", "n5", nemesis.Primary, nemesis.Replica}

func (t *Testbed) start(ctx context.Context) error {
	if err := haveImages(ctx, t.engine, t.cfg); err != nil {
		return err
	}
	making, cancel := uncancelled(ctx)
	defer cancel()
	var err error
	t.network, err = network.New(making, network.WithLabels(t.labels("network")))
	if err != nil && strings.Contains(err.Error(), "reaper") {
		return &Unavailable{"the reaper of testcontainers cannot be started: pull its image, or set TESTCONTAINERS_RYUK_DISABLED=true, " +
			"since `lockfault clean` removes what a killed run leaves", err}
	}
	if err != nil {
		return fmt.Errorf("make the private network: %w", err)
	}
	containers, err := t.startAll(ctx)
	if err != nil {
		return err
	}
	for _, name := range redisNames {
		t.nodes[name] = &node{name: name, bed: t, ip: containers[name].ip, id: containers[name].GetContainerID()}
	}
	if t.toxiproxy, err = t.openProxies(ctx, containers); err != nil {
		return err
	}
	if t.db, err = openDatabase(ctx, t.toxiproxy.harness(nemesis.Resource)); err != nil {
		return err
	}
	for _, name := range sentinelNames {
		t.sentinels[name] = &sentinel{
			name: name, id: containers[name].GetContainerID(), addr: net.JoinHostPort(containers[name].ip, sentinelPort),
		}
		t.sentinels[name].open(t.toxiproxy.harness(name))
	}
	t.deposed = true
	return together(redisNames, func(name string) error { return t.nodes[name].open(ctx) })
}

// started is a container with its address on the private network.
type started struct {
	*testcontainers.DockerContainer
	ip string
}

// startAll starts the containers, all at once.
func (t *Testbed) startAll(ctx context.Context) (map[string]*started, error) {
	var mu sync.Mutex
	all := map[string]*started{}
	err := together(slices.Concat([]string{"toxiproxy", "postgres"}, redisNames, sentinelNames), func(name string) error {
		image, options := t.cfg.RedisImage, redisOptions()
		switch name {
		case "toxiproxy":
			image, options = t.cfg.ToxiproxyImage, t.toxiproxyOptions()
		case "postgres":
			image, options = t.cfg.PostgresImage, postgresOptions()
		case sentinelNames[0], sentinelNames[1], sentinelNames[2]:
			options = sentinelOptions()
		}
		options = append(options, testcontainers.WithHostConfigModifier(urgent), network.WithNetwork([]string{name}, t.network), testcontainers.WithLabels(t.labels(name)))
		c, err := launch(ctx, image, options)
		if err != nil {
			return fmt.Errorf("start %s from image %s: %w", name, image, err)
		}
		info, err := c.Inspect(ctx)
		if err != nil {
			return fmt.Errorf("inspect %s: %w", name, err)
		}
		endpoint := info.NetworkSettings.Networks[t.network.Name]
		if endpoint == nil || !endpoint.IPAddress.IsValid() {
			return fmt.Errorf("%s has no address on the private network", name)
		}
		mu.Lock()
		defer mu.Unlock()
		all[name] = &started{c, endpoint.IPAddress.String()}
		return nil
	})
	return all, err
}

// launch makes a container, starts it and waits until it serves. Making it cannot be cancelled: the engine would make it all
// the same, after all that was there has been removed.
func launch(ctx context.Context, image string, options []testcontainers.ContainerCustomizer) (*testcontainers.DockerContainer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	making, cancel := uncancelled(ctx)
	defer cancel()
	c, err := testcontainers.Run(making, image, append(options, testcontainers.WithNoStart())...)
	if err != nil {
		return nil, err
	}
	return c, c.Start(ctx)
}

func uncancelled(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), StartLimit)
}

func (t *Testbed) labels(name string) map[string]string {
	return map[string]string{ownLabel: "true", runLabel: t.id, ownerLabel: thisProcess(), ownLabel + ".name": name}
}

// shares is the weight of each container when processors are short: a server must not wait for what else runs here.
const shares = 8192

func urgent(host *container.HostConfig) { host.CPUShares = shares }

// supervisor keeps a container alive while its Redis is killed and started again: so a crash is one of the server, at
// once, and its data, its clock and its address stay. Its arguments are those of Redis.
const supervisor = `
mkfifo /lockfault/up
while :; do
	lockfault-redis "$@" &
	echo $! >/lockfault/pid
	wait $!
	read -r _ </lockfault/up
done`

// A node's log of writes is not synced: what here crashes is the server and never the machine, and what a server has written
// the kernel keeps. So nothing acknowledged is lost in a crash, as with appendfsync always, and five nodes need not wait for
// one disk: it lies in memory, since on some storage drivers a file is slow to close, and a process does not end before.
func redisOptions() []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("sh", "-c", supervisor, "supervisor",
			"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0",
			"--notify-keyspace-events", "EA", "--repl-diskless-sync-delay", "0"),
		testcontainers.WithTmpfs(map[string]string{"/data": "size=256m"}),
		testcontainers.WithWaitStrategy(wait.ForLog("Ready to accept connections").WithPollInterval(20 * time.Millisecond)),
	}
}

// A Sentinel is told whom to watch once there is an address to watch it at.
func sentinelOptions() []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("sh", "-c", `printf 'port %s\nbind 0.0.0.0\nprotected-mode no\ndir /data\n' "$0" >/data/sentinel.conf
exec redis-sentinel /data/sentinel.conf`, sentinelPort),
		testcontainers.WithWaitStrategy(wait.ForLog("Sentinel ID is").WithPollInterval(20 * time.Millisecond)),
	}
}

func postgresOptions() []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("lockfault-postgres", "-c", "fsync=off"), // as with Redis
		testcontainers.WithWaitStrategy(
			wait.ForLog("database system is ready to accept connections").WithPollInterval(20 * time.Millisecond)),
	}
}

// together does f for every name at the same time, and joins the errors.
func together(names []string, f func(name string) error) error {
	errs := make([]error, len(names))
	var doing sync.WaitGroup
	for i, name := range names {
		doing.Go(func() { errs[i] = f(name) })
	}
	doing.Wait()
	return errors.Join(errs...)
}

// literal turns the engine's host into an IP literal: clients are given no names to look up.
func literal(ctx context.Context, host string) (string, error) {
	if net.ParseIP(host) != nil {
		return host, nil
	}
	found, err := net.DefaultResolver.LookupIP(ctx, "ip4", host)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("look up the engine's host %q: %w", host, err)
	}
	return found[0].String(), nil
}
