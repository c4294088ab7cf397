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

var (
	errRefused = errors.New("refused by the resource")
	errNotSent = errors.New("not sent")
)

// serveData answers one client's requests to the protected resource, a JSON line each, and records what the resource does
// in the order in which it does it.
func serveData(data *scenarios.Data, name string, record func(history.Event)) func(client string, conn net.Conn) {
	return func(client string, conn net.Conn) {
		defer conn.Close()
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			var r scenarios.Request
			if json.Unmarshal(lines.Bytes(), &r) != nil {
				return
			}
			answer := data.Do(r, func(a scenarios.Response) { record(accessEvent(r, a, name)) })
			reply, err := json.Marshal(answer)
			if err != nil {
				return
			}
			if _, err := conn.Write(append(reply, '\n')); err != nil {
				return
			}
		}
	}
}

func accessEvent(r scenarios.Request, a scenarios.Response, name string) history.Event {
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

// dataClient sends one client's requests to the resource, one at a time. After an unanswered request it takes a new
// connection, as database drivers do: what was sent on the old one may still arrive.
type dataClient struct {
	kind    scenarios.DataKind
	dial    func(context.Context) (net.Conn, error)
	conn    net.Conn
	replies *bufio.Scanner
}

// do returns the answer, an error that wraps errNotSent if the request certainly had no effect, or another if that is
// unknown.
func (d *dataClient) do(r scenarios.Request, timeout time.Duration) (scenarios.Response, error) {
	var answer scenarios.Response
	deadline := time.Now().Add(timeout)
	if d.conn == nil {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		conn, err := d.dial(ctx)
		if err != nil {
			return answer, fmt.Errorf("%w: %w", errNotSent, err)
		}
		d.conn, d.replies = conn, bufio.NewScanner(conn)
	}
	request, err := json.Marshal(r)
	if err != nil {
		return answer, fmt.Errorf("%w: %w", errNotSent, err)
	}
	if err := d.exchange(append(request, '\n'), deadline, &answer); err != nil {
		d.close()
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

func (d *dataClient) close() {
	if d.conn != nil {
		d.conn.Close()
		d.conn, d.replies = nil, nil
	}
}
