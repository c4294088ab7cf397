package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/serve"
)

// serveStore shows the store in a browser until the command is interrupted.
func (c *call) serveStore(addr string) (int, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, usagef("--addr %q: want an address with a port, such as 127.0.0.1:8000: %w", addr, err)
	}
	s, err := serve.New(results.DefaultRoot, host, scenarioText)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return 0, fmt.Errorf("--addr: %w", err)
	}
	if !loopback(listener.Addr().String()) {
		fmt.Fprintf(c.stderr, "lockfault report: anybody who reaches %v can read the store\n", listener.Addr())
	}
	fmt.Fprintf(c.stdout, "the runs of %s are at http://%v/ until this command is interrupted\n", results.DefaultRoot, listener.Addr())
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return c.ctx }, // ends those who follow a run
	}
	stopped := context.AfterFunc(c.ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return 0, err
	}
	return exitExpected, nil
}

func loopback(hostport string) bool {
	at, err := netip.ParseAddrPort(hostport)
	return err == nil && at.Addr().Unmap().IsLoopback()
}
