package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockfault/lockfault/nemesis"
)

// node is one Redis server with the harness's connections to it, which lead through links that no fault touches.
type node struct {
	name    string
	bed     *Testbed
	id      string // of the container
	ip      string
	console *console
	command *redis.Client
	watch   *watch
	down    atomic.Bool // it was crashed and not started again
	crashes atomic.Int64
}

// open connects the harness.
func (n *node) open(ctx context.Context) (err error) {
	if n.console, err = openConsole(ctx, n.bed.engine, n.id); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	n.command = redis.NewClient(&redis.Options{
		Addr: n.bed.toxiproxy.harness(n.name), ClientName: harnessName, Protocol: 2, DisableIdentity: true,
	})
	version, err := n.info(ctx, "server", "redis_version")
	if err != nil {
		return err
	}
	if major, _, _ := strings.Cut(version, "."); len(major) == 1 && major < "7" {
		return &Unavailable{Reason: fmt.Sprintf("the Redis image holds version %s, and this needs 7 or later", version)}
	}
	if err := n.announce(ctx); err != nil {
		return err
	}
	n.watch, err = openWatch(ctx, n.name, n.bed.toxiproxy.harness(n.name))
	return err
}

// announce sets under which address the server, if it follows another, is known to that and to the Sentinels.
func (n *node) announce(ctx context.Context) error {
	if n.name != nemesis.Primary && n.name != nemesis.Replica {
		return nil
	}
	host, port, err := net.SplitHostPort(n.bed.toxiproxy.announced(n.name))
	if err != nil {
		return err
	}
	for setting, value := range map[string]string{"replica-announce-ip": host, "replica-announce-port": port} {
		if err := n.command.ConfigSet(ctx, setting, value).Err(); err != nil {
			return fmt.Errorf("set %s of %s: %w", setting, n.name, err)
		}
	}
	return nil
}

// harnessName is what the harness's connections are called on the servers.
const harnessName = "lockfault-harness"

func (n *node) hangUp() {
	if n.watch != nil {
		n.watch.close()
	}
	if n.command != nil {
		n.command.Close()
	}
	if n.console != nil {
		n.console.close()
	}
}

// info returns one field of a section of INFO.
func (n *node) info(ctx context.Context, section, field string) (string, error) {
	text, err := n.command.Info(ctx, section).Result()
	if err != nil {
		return "", fmt.Errorf("ask %s for its %s: %w", n.name, field, err)
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s does not tell its %s", n.name, field)
}

// time is the node's wall clock.
func (n *node) time(ctx context.Context) (time.Time, error) {
	t, err := n.command.Time(ctx).Result()
	if err != nil {
		return t, fmt.Errorf("ask %s for its time: %w", n.name, err)
	}
	return t, nil
}

// setClock runs the clock tool with the arguments.
func (n *node) setClock(args ...string) error {
	answer, err := n.console.run("lockfault-clock " + strings.Join(args, " "))
	if err != nil {
		return fmt.Errorf("set the clock of %s: %w", n.name, err)
	}
	var state struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(answer), &state) != nil || state.Error != "" {
		return fmt.Errorf("set the clock of %s: %s", n.name, answer)
	}
	return nil
}

// crash kills the server, as kill -9 does. It returns when the process is gone.
func (n *node) crash() error {
	n.crashes.Add(1)
	_, err := n.console.run(`pid=$(cat /lockfault/pid) && kill -9 "$pid" && while kill -0 "$pid"; do sleep 0.002; done 2>/dev/null`)
	if err != nil {
		return fmt.Errorf("kill %s: %w", n.name, err)
	}
	return nil
}

// restart starts the server again, with its data or without, and returns when the harness is connected to it.
func (n *node) restart(ctx context.Context, empty bool) error {
	before := ""
	if empty {
		before = "rm -rf /data/* && "
	}
	if _, err := n.console.run(before + `echo up >/lockfault/up`); err != nil {
		return fmt.Errorf("start %s again: %w", n.name, err)
	}
	if err := n.awaitPing(ctx); err != nil {
		return err
	}
	if err := n.announce(ctx); err != nil {
		return err
	}
	return n.watch.connect(ctx)
}

// awaitPing returns when the server answers.
func (n *node) awaitPing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, consoleLimit)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := n.command.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not come back: %w", n.name, err)
		}
	}
}

// connections counts those of a client that the server still serves.
func (n *node) connections(ctx context.Context, client string) (int64, error) {
	list, err := n.command.ClientList(ctx).Result()
	if err != nil {
		return 0, fmt.Errorf("list the connections to %s: %w", n.name, err)
	}
	return int64(strings.Count(list, " name="+clientPrefix+client+" ")), nil
}

// offset is how far the server's replication stream has come.
func (n *node) offset(ctx context.Context, field string) (int64, error) {
	text, err := n.info(ctx, "replication", field)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}
