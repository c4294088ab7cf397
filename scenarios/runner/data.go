package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/scenarios"
)

// DataClient is one client's access to the protected resource.
type DataClient interface {
	// Do returns the resource's answer, which may be a refusal; an error that wraps ErrNotSent if the request certainly had
	// no effect; or another error if that is unknown. It takes at most about timeout. One goroutine calls it at a time.
	Do(r scenarios.Request, timeout time.Duration) (scenarios.Response, error)
	// Close ends its connection.
	Close()
}

// ErrNotSent: a request certainly did not reach the resource.
var ErrNotSent = errors.New("not sent")

var errRefused = errors.New("refused by the resource")

// ServeData answers one client's requests to the protected resource, a JSON line each, until conn ends. It observes what
// the resource does in the order in which it does it.
func (s Setup) ServeData(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var r scenarios.Request
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			return
		}
		answer := s.Data.Do(r, func(a scenarios.Response) { s.Observer.Event(AccessEvent(r, a, s.Resource)) })
		reply, err := json.Marshal(answer)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(reply, '\n')); err != nil {
			return
		}
	}
}

// AccessEvent is what the log of the resource tells of a request and its answer.
func AccessEvent(r scenarios.Request, a scenarios.Response, name string) history.Event {
	e := history.Event{
		Process: "resource", Role: history.Resource, Type: history.Ok, Op: r.Op, Resource: name,
		By: r.Client, Lease: r.Lease, Fence: r.Fence, Value: r.Value, Version: a.Version,
	}
	if r.Op == history.Read {
		e.Value = a.Value
	}
	if a.Refused != "" {
		e.Type, e.Error = history.Fail, a.Refused
	}
	return e
}

// NewDataClient speaks to ServeData over connections that dial opens. After an unanswered request it takes a new one, as
// database drivers do: what was sent on the old may still arrive.
func NewDataClient(dial func(context.Context) (net.Conn, error)) DataClient {
	return &dataClient{dial: dial}
}

type dataClient struct {
	dial    func(context.Context) (net.Conn, error)
	conn    net.Conn
	replies *bufio.Scanner
}

// Do implements DataClient.
func (d *dataClient) Do(r scenarios.Request, timeout time.Duration) (scenarios.Response, error) {
	var answer scenarios.Response
	deadline := time.Now().Add(timeout)
	if d.conn == nil {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		conn, err := d.dial(ctx)
		if err != nil {
			return answer, fmt.Errorf("%w: %w", ErrNotSent, err)
		}
		d.conn, d.replies = conn, bufio.NewScanner(conn)
	}
	request, err := json.Marshal(r)
	if err != nil {
		return answer, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if err := d.exchange(append(request, '\n'), deadline, &answer); err != nil {
		d.Close()
		return answer, fmt.Errorf("no answer from the resource: %w", err)
	}
	return answer, nil
}

func (d *dataClient) exchange(request []byte, deadline time.Time, answer *scenarios.Response) error {
	if err := d.conn.SetDeadline(deadline); err != nil {
		return err
	}
	if _, err := d.conn.Write(request); err != nil {
		return err
	}
	if !d.replies.Scan() {
		if err := d.replies.Err(); err != nil {
			return err
		}
		return errors.New("connection closed")
	}
	return json.Unmarshal(d.replies.Bytes(), answer)
}

// Close implements DataClient.
func (d *dataClient) Close() {
	if d.conn != nil {
		d.conn.Close()
		d.conn, d.replies = nil, nil
	}
}
