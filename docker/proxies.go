package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/lockfault/lockfault/nemesis"
)

// Ports inside the Toxiproxy container.
const (
	apiPort         = 8474
	replicationPort = 19999
	primaryPort     = 19998 // under which the Sentinels, and by them the clients, know the primary
	replicaPort     = 19997 // the same for the replica
	firstPort       = 20000 // of the proxies that are reached from outside
)

// clientTargets are the servers that a client can have a link to. A lock on one node, "redis", uses n1.
var clientTargets = append([]string{"n1", "n2", "n3", "n4", "n5", nemesis.Primary, nemesis.Replica, nemesis.Resource}, sentinelNames...)

// harnessTargets are those to which the harness has a link of its own, which no fault touches.
var harnessTargets = slices.Concat(redisNames, []string{nemesis.Resource}, sentinelNames)

// proxies is the Toxiproxy of a testbed: a proxy for each link.
type proxies struct {
	addr  string // of the API
	api   *toxiproxy.Client
	ip    string // on the private network
	links map[string]*proxy
}

// proxy is one link.
type proxy struct {
	*toxiproxy.Proxy
	addr     string // where it is reached from outside; empty for the replication link
	upstream string // in the ordinary state

	mu      sync.Mutex
	streams map[string]*cutState // by Toxiproxy's name of the direction
}

// Names of proxies.
func clientLink(client int, target string) string { return fmt.Sprintf("client%d-%s", client, target) }
func harnessLink(target string) string            { return "harness-" + target }

const replicationLink = nemesis.Primary + "-" + nemesis.Replica

// announcedLink leads to the primary or the replica, for the Sentinels and for whoever follows it.
func announcedLink(server string) string { return "announced-" + server }

// announced is the address under which the Sentinels know the primary or the replica.
func (p *proxies) announced(server string) string {
	port := primaryPort
	if server == nemesis.Replica {
		port = replicaPort
	}
	return net.JoinHostPort(p.ip, strconv.Itoa(port))
}

// published lists the names of the proxies that are reached from outside, in the order of their ports.
func (t *Testbed) published() []string {
	var names []string
	for _, target := range harnessTargets {
		names = append(names, harnessLink(target))
	}
	for client := range t.cfg.Clients {
		for _, target := range clientTargets {
			names = append(names, clientLink(client, target))
		}
	}
	return names
}

func (t *Testbed) toxiproxyOptions() []testcontainers.ContainerCustomizer {
	ports := []string{strconv.Itoa(apiPort) + "/tcp"}
	for i := range t.published() {
		ports = append(ports, strconv.Itoa(firstPort+i)+"/tcp")
	}
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(ports...),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/version").WithPort(ports[0])),
	}
}

// openProxies makes all proxies.
func (t *Testbed) openProxies(ctx context.Context, containers map[string]*started) (*proxies, error) {
	c := containers["toxiproxy"]
	host, err := c.Host(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the engine's host: %w", err)
	}
	if host, err = literal(ctx, host); err != nil {
		return nil, err
	}
	info, err := c.Inspect(ctx)
	if err != nil {
		return nil, fmt.Errorf("inspect toxiproxy: %w", err)
	}
	outside := map[int]string{}
	for port, bindings := range info.NetworkSettings.Ports {
		if len(bindings) > 0 {
			outside[int(port.Num())] = net.JoinHostPort(host, bindings[0].HostPort)
		}
	}
	p := &proxies{addr: outside[apiPort], api: toxiproxy.NewClient(outside[apiPort]), ip: c.ip, links: map[string]*proxy{}}
	add := func(name string, port int, upstream string) {
		p.links[name] = &proxy{
			Proxy: &toxiproxy.Proxy{Name: name, Listen: fmt.Sprintf("0.0.0.0:%d", port), Upstream: upstream, Enabled: true},
			addr:  outside[port], upstream: upstream,
		}
	}
	address := func(target string) string {
		if target == nemesis.Resource {
			return net.JoinHostPort(containers["postgres"].ip, "5432")
		}
		if slices.Contains(sentinelNames, target) {
			return net.JoinHostPort(containers[target].ip, sentinelPort)
		}
		return net.JoinHostPort(containers[target].ip, "6379")
	}
	for i, name := range t.published() {
		target := ""
		if i < len(harnessTargets) {
			target = harnessTargets[i]
		} else {
			target = clientTargets[(i-len(harnessTargets))%len(clientTargets)]
		}
		add(name, firstPort+i, address(target))
	}
	add(replicationLink, replicationPort, address(nemesis.Primary))
	add(announcedLink(nemesis.Primary), primaryPort, address(nemesis.Primary))
	add(announcedLink(nemesis.Replica), replicaPort, address(nemesis.Replica))
	return p, p.create()
}

func (p *proxies) create() error {
	var config []toxiproxy.Proxy
	for _, l := range p.links {
		config = append(config, *l.Proxy)
	}
	if _, err := p.api.Populate(config); err != nil {
		return fmt.Errorf("make the proxies: %w", err)
	}
	now, err := p.api.Proxies() // as Populate leaves them, they cannot be changed
	if err != nil {
		return fmt.Errorf("make the proxies: %w", err)
	}
	for name, l := range p.links {
		if now[name] == nil {
			return fmt.Errorf("make the proxies: %s is missing", name)
		}
		l.Proxy = now[name]
	}
	return nil
}

// look returns the present state of the proxies. The client library's own call leaves a connection open each time.
func (p *proxies) look() (map[string]*toxiproxy.Proxy, error) {
	answer, err := http.Get("http://" + p.addr + "/proxies")
	if err != nil {
		return nil, fmt.Errorf("look at the proxies: %w", err)
	}
	defer answer.Body.Close()
	now := map[string]*toxiproxy.Proxy{}
	if err := json.NewDecoder(answer.Body).Decode(&now); err != nil {
		return nil, fmt.Errorf("look at the proxies: %w", err)
	}
	return now, nil
}

// harness is the address of the harness's own link.
func (p *proxies) harness(target string) string { return p.links[harnessLink(target)].addr }

// reset heals every link, and proves it.
func (p *proxies) reset() error {
	if err := p.api.ResetState(); err != nil {
		return fmt.Errorf("reset the proxies: %w", err)
	}
	for _, l := range p.links {
		l.mu.Lock()
		l.streams = nil
		l.mu.Unlock()
		if l.Upstream != l.upstream {
			if err := p.repoint(l, l.upstream); err != nil {
				return err
			}
		}
	}
	now, err := p.look()
	if err != nil {
		return err
	}
	var errs []error
	for name, l := range p.links {
		switch n := now[name]; {
		case n == nil:
			errs = append(errs, fmt.Errorf("the proxy %s is gone", name))
		case !n.Enabled || len(n.ActiveToxics) > 0 || n.Upstream != l.upstream:
			errs = append(errs, fmt.Errorf("the proxy %s is not as it should be: enabled %v, to %s, %d toxics",
				name, n.Enabled, n.Upstream, len(n.ActiveToxics)))
		}
	}
	return errors.Join(errs...)
}

// repoint ends the link's connections and leads new ones to another server.
func (p *proxies) repoint(l *proxy, upstream string) error {
	l.Upstream = upstream
	l.Enabled = true
	if err := l.Save(); err != nil {
		return fmt.Errorf("lead %s to %s: %w", l.Name, upstream, err)
	}
	return nil
}
