package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	moby "github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// Labels of all that a testbed starts.
const (
	ownLabel   = "org.lockfault"       // "true"
	runLabel   = "org.lockfault.run"   // the testbed's id
	ownerLabel = "org.lockfault.owner" // the process that started it
)

// oldestAPI is that of Docker Engine 20.10, the oldest on which this was tried.
const oldestAPI = "1.41"

// connect reaches the container engine and makes sure of it.
func connect(ctx context.Context) (*moby.Client, error) {
	quiet()
	engine, err := moby.New(moby.FromEnv)
	if err != nil {
		return nil, &Unavailable{"the container engine cannot be reached; see DOCKER_HOST", err}
	}
	version, err := engine.ServerVersion(ctx, moby.ServerVersionOptions{})
	if err != nil {
		engine.Close()
		return nil, &Unavailable{"no container engine answers: start Docker, or point DOCKER_HOST to one", err}
	}
	if older(version.APIVersion, oldestAPI) {
		engine.Close()
		return nil, &Unavailable{Reason: fmt.Sprintf("the container engine is too old: it speaks API %s, and this needs %s (Docker 20.10)",
			version.APIVersion, oldestAPI)}
	}
	if err := sameEngine(ctx, engine); err != nil {
		engine.Close()
		return nil, err
	}
	return engine, nil
}

// sameEngine makes sure that Testcontainers, which looks for an engine in more places and goes on to the next where one does
// not answer as it should, starts things where this looks for them.
func sameEngine(ctx context.Context, engine *moby.Client) error {
	if _, err := engine.Info(ctx, moby.InfoOptions{}); err != nil {
		return &Unavailable{"the container engine does not tell about itself", err}
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return &Unavailable{"testcontainers finds no container engine; see DOCKER_HOST", err}
	}
	defer provider.Close()
	if ours, theirs := engine.DaemonHost(), provider.Client().DaemonHost(); ours != theirs {
		return &Unavailable{Reason: fmt.Sprintf("testcontainers would use the container engine at %s instead of %s: set DOCKER_HOST, "+
			"or remove the other from ~/.testcontainers.properties or the Docker context", theirs, ours)}
	}
	return nil
}

// older compares versions such as 1.41.
func older(a, b string) bool {
	var aMajor, aMinor, bMajor, bMinor int
	_, errA := fmt.Sscanf(a, "%d.%d", &aMajor, &aMinor)
	_, errB := fmt.Sscanf(b, "%d.%d", &bMajor, &bMinor)
	if errA != nil || errB != nil {
		return false
	}
	return aMajor < bMajor || aMajor == bMajor && aMinor < bMinor
}

// Ready says why no testbed could be started here, as an *Unavailable: there is no engine, or an image is missing. It starts
// nothing.
func Ready(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	return haveImages(ctx, engine, cfg)
}

func haveImages(ctx context.Context, engine *moby.Client, cfg Config) error {
	for _, image := range []struct{ name, flag string }{
		{cfg.RedisImage, "redis"}, {cfg.ToxiproxyImage, "toxiproxy"}, {cfg.PostgresImage, "postgres"},
	} {
		if err := haveImage(ctx, engine, image.name, image.flag); err != nil {
			return err
		}
	}
	return nil
}

// haveImage makes sure that an image is there. None is ever pulled: what runs is what somebody built or pulled on purpose.
func haveImage(ctx context.Context, engine *moby.Client, image, flag string) error {
	_, err := engine.ImageInspect(ctx, image)
	switch {
	case err == nil:
		return nil
	case cerrdefs.IsNotFound(err):
		return &Unavailable{Reason: fmt.Sprintf("there is no image %s: run `make images`, or name another with --%s-image or LOCKFAULT_%s_IMAGE",
			image, flag, strings.ToUpper(flag))}
	}
	return &Unavailable{fmt.Sprintf("look for the image %s", image), err}
}

// Removed counts what Clean removed, what it left because the process that uses it still runs, and networks that the engine
// takes for in use though no container is left, until it is started again.
type Removed struct{ Containers, Networks, InUse, Stuck int }

// Clean removes every container and network that a testbed left behind whose process is gone.
func Clean(ctx context.Context) (Removed, error) {
	engine, err := connect(ctx)
	if err != nil {
		return Removed{}, err
	}
	defer engine.Close()
	return remove(ctx, engine, ownLabel+"=true", func(labels map[string]string) bool { return lives(labels[ownerLabel]) })
}

// remove removes what has the label and is not spared, containers first, all at once.
func remove(ctx context.Context, engine *moby.Client, label string, spare func(labels map[string]string) bool) (Removed, error) {
	var count Removed
	filter := moby.Filters{}.Add("label", label)
	containers, err := engine.ContainerList(ctx, moby.ContainerListOptions{All: true, Filters: filter})
	if err != nil {
		return count, fmt.Errorf("list containers: %w", err)
	}
	errs := make([]error, len(containers.Items))
	var removing sync.WaitGroup
	for i, c := range containers.Items {
		if spare(c.Labels) {
			count.InUse++
			continue
		}
		count.Containers++
		removing.Go(func() {
			_, err := engine.ContainerRemove(ctx, c.ID, moby.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) { // a conflict: somebody else removes it
				errs[i] = fmt.Errorf("remove container %.12s: %w", c.ID, err)
			}
		})
	}
	removing.Wait()
	networks, err := engine.NetworkList(ctx, moby.NetworkListOptions{Filters: filter})
	if err != nil {
		return count, errors.Join(append(errs, fmt.Errorf("list networks: %w", err))...)
	}
	for _, n := range networks.Items {
		if spare(n.Labels) {
			continue
		}
		if err := removeNetwork(ctx, engine, n.ID); errors.Is(err, errStuck) {
			count.Stuck++
			continue
		} else if err != nil {
			errs = append(errs, fmt.Errorf("remove network %s: %w", n.Name, err))
			continue
		}
		count.Networks++
	}
	return count, errors.Join(errs...)
}

// partLimit is how long a container that is gone may still be at its network, as the engine sees it.
const partLimit = 5 * time.Second

var errStuck = errors.New("the engine takes the network for in use though no container is left: start the engine again")

// removeNetwork removes a network, once the engine has taken the last container off it.
func removeNetwork(ctx context.Context, engine *moby.Client, id string) error {
	for end := time.Now().Add(partLimit); ; time.Sleep(20 * time.Millisecond) {
		_, err := engine.NetworkRemove(ctx, id, moby.NetworkRemoveOptions{})
		switch {
		case err == nil, cerrdefs.IsNotFound(err):
			return nil
		case !cerrdefs.IsPermissionDenied(err): // which says that it has active endpoints
			return err
		case time.Now().Before(end):
			continue
		}
		n, inspectErr := engine.NetworkInspect(ctx, id, moby.NetworkInspectOptions{})
		if inspectErr == nil && len(n.Network.Containers) == 0 {
			return errStuck
		}
		return err
	}
}
