package docker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	moby "github.com/moby/moby/client"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// said is one line that a server said of itself: in its log, or to MONITOR.
type said struct {
	at     time.Time
	server string
	text   string
}

func (s said) String() string {
	return fmt.Sprintf("%s %-9s %s", s.at.UTC().Format("15:04:05.000"), s.server, s.text)
}

// Journal is what the servers of the last run said, if that was one on a primary with a replica: what the primary and the
// replica carried out for clients that changed a key, and the logs of both and of the Sentinels, in order of time. It is
// empty otherwise. Not to be called while a run is under way.
func (t *Testbed) Journal() string { return t.journal }

// keepJournal reads it, at the end of a run.
func (c *cluster) keepJournal() {
	if c.setup.Servers != locks.PrimaryAndReplica {
		return
	}
	lines, err := c.listen()
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&text, l)
	}
	if err != nil {
		fmt.Fprintln(&text, "not whole:", err)
	}
	c.bed.journal = text.String()
}

// listen collects what the servers have said since the run began.
func (c *cluster) listen() ([]said, error) {
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	ids := map[string]string{}
	for _, name := range []string{nemesis.Primary, nemesis.Replica} {
		ids[name] = c.nodes[name].id
	}
	for _, s := range c.bed.sentinels {
		ids[s.name] = s.id
	}
	var all []said
	for name, id := range ids {
		lines, err := c.bed.logs(ctx, name, id, c.began)
		if err != nil {
			return all, err
		}
		all = append(all, lines...)
	}
	for name, l := range c.ledgers {
		for _, h := range l.told() {
			all = append(all, said{c.began.Add(h.at - c.origin), name, "MONITOR " + h.from + ": " + strings.Join(h.args, " ")})
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return a.at.Compare(b.at) })
	return all, nil
}

// logs reads what a container has printed since a time.
func (t *Testbed) logs(ctx context.Context, name, id string, since time.Time) ([]said, error) {
	printed, err := t.engine.ContainerLogs(ctx, id, moby.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true, Timestamps: true, Since: since.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", name, err)
	}
	defer printed.Close()
	var text bytes.Buffer
	if _, err := stdcopy.StdCopy(&text, &text, printed); err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", name, err)
	}
	var lines []said
	for line := range strings.Lines(text.String()) {
		stamp, line, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err == nil && line != "" {
			lines = append(lines, said{at, name, line})
		}
	}
	return lines, nil
}

// said adds to the evidence of a failover the lines by which the servers tell of it.
func (c *cluster) said(detail map[string]string) {
	lines, err := c.listen()
	if err != nil {
		detail["server_logs"] = err.Error()
		return
	}
	for key, mark := range map[string]string{"sentinel_log": "+switch-master", "replica_log": "MASTER MODE enabled"} {
		for _, l := range lines {
			if strings.Contains(l.text, mark) {
				detail[key] = l.String()
				break
			}
		}
	}
}
