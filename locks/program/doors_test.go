package program

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// echoServer sends back what it gets.
func echoServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}
	}()
	return l.Addr().String()
}

func door(t *testing.T, env locks.Env) *net.TCPConn {
	t.Helper()
	d, err := OpenDoors(env.Nodes, env.Dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	conn, err := net.Dial("tcp", d.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn.(*net.TCPConn)
}

func TestWhatAProgramSendsGoesThroughDial(t *testing.T) {
	var dials atomic.Int64
	env := locks.Env{Nodes: []string{echoServer(t)}, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	conn := door(t, env)
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" || dials.Load() != 1 {
		t.Errorf("%q, %v, %d dials", got, err, dials.Load())
	}
}

func TestUnreachableServersAreSeenAsSuch(t *testing.T) {
	d, err := OpenDoors([]string{"127.0.0.1:1"}, func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	conn, err := net.Dial("tcp", d.Addrs[0])
	if err == nil {
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("want a reset, got %v", err)
	}
}

// TestSentBytesArriveAlsoWhenTheSenderGaveUp: as a kernel delivers them, once the link is there.
func TestSentBytesArriveAlsoWhenTheSenderGaveUp(t *testing.T) {
	healed := make(chan struct{})
	here, there := net.Pipe()
	defer there.Close()
	conn := door(t, locks.Env{Nodes: []string{"127.0.0.1:1"}, Dial: func(context.Context, string, string) (net.Conn, error) {
		<-healed
		return here, nil
	}})
	if _, err := conn.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	close(healed)
	_ = there.SetDeadline(time.Now().Add(10 * time.Second))
	if got, err := io.ReadAll(there); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestClosedDoorsEndTheirConnections(t *testing.T) {
	env := locks.Env{Nodes: []string{echoServer(t)}, Dial: new(net.Dialer).DialContext}
	d, err := OpenDoors(env.Nodes, env.Dial)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", d.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	d.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("still open")
	}
	if _, err := net.Dial("tcp", d.Addrs[0]); err == nil {
		t.Error("still accepts")
	}
}
