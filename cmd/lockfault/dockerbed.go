package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockfault/lockfault/docker"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// The container testbed: its runs follow one another on the same servers, without child processes of their own, since
// each client is a process already.

// dockerSpeed is the default speed on containers.
const dockerSpeed = 5

// imageFlags replace the images of the container testbed.
type imageFlags struct{ redis, toxiproxy, postgres string }

func (f *imageFlags) add(c *call) {
	c.flags.StringVar(&f.redis, "redis-image", "", "with --testbed docker: `IMAGE` of Redis (default: LOCKFAULT_REDIS_IMAGE, or what `make images` builds)")
	c.flags.StringVar(&f.toxiproxy, "toxiproxy-image", "", "the same for Toxiproxy: `IMAGE` (default: LOCKFAULT_TOXIPROXY_IMAGE)")
	c.flags.StringVar(&f.postgres, "postgres-image", "", "the same for PostgreSQL: `IMAGE` (default: LOCKFAULT_POSTGRES_IMAGE)")
}

func (f imageFlags) config() docker.Config {
	return docker.Config{RedisImage: f.redis, ToxiproxyImage: f.toxiproxy, PostgresImage: f.postgres}
}

// runOn carries out the jobs of the queue on containers, one after another.
func (p *pool) runOn(ctx context.Context, cfg docker.Config, q *queue) (err error) {
	for _, j := range q.jobs {
		cfg.Clients = max(cfg.Clients, clientsOf(j.plan)+1) // and the probe
	}
	bed, err := docker.Start(ctx, cfg)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer func() { err = errors.Join(err, bed.Close()) }()
	for j := q.take(ctx); j != nil; j = q.take(ctx) {
		if err := p.runJobOn(ctx, bed, j); err != nil || !j.done {
			return err
		}
		p.progress.step()
	}
	return nil
}

func clientsOf(p runner.Plan) int {
	if p.Scenario.Random != nil {
		return p.Scenario.Random.Clients
	}
	return len(p.Scenario.Clients)
}

// runJobOn carries out a job. When ctx is done it stays undone, with what its history holds by then.
func (p *pool) runJobOn(ctx context.Context, bed *docker.Testbed, j *job) error {
	if err := j.begin(); err != nil {
		return err
	}
	out, err := j.dir.CreateHistory()
	if err != nil {
		return err
	}
	var outcome runner.Outcome
	ran := make(chan error, 1)
	go func() {
		var err error
		outcome, err = runner.Run(bed, j.plan, out)
		ran <- err
	}()
	select {
	case err = <-ran:
	case <-ctx.Done():
		// What goes on until its processes are ended is no part of the run any more.
		return out.Close()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err == nil && errors.Is(outcome.Err, docker.ErrSpoilt) {
		err = outcome.Err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.plan.Key(), err)
	}
	if said := bed.Journal(); said != "" && outcome.Unsupported == "" {
		if err := os.WriteFile(filepath.Join(j.dir.Path, results.ServersFile), []byte(said), 0o644); err != nil {
			return err
		}
	}
	j.run = asRun(outcome)
	if err := p.store(j); err != nil {
		return err
	}
	j.done = true
	return nil
}
