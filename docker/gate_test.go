package docker

import (
	"net"
	"testing"
	"time"
)

// TestALockMaySpeakToItsServersWhenItIsMade: nobody lifts replies before the client is there. Later they wait.
func TestALockMaySpeakToItsServersWhenItIsMade(t *testing.T) {
	asked := make(chan held, 1)
	traffic := newTraffic(&board{}, "A", true, nil, func(h held) { asked <- h })
	server, client := net.Pipe()
	defer server.Close()
	conn := &lockConn{countedConn: countedConn{Conn: client, link: &linkBoard{}}, traffic: traffic}
	read := func() <-chan int {
		done := make(chan int, 1)
		go func() {
			n, _ := conn.Read(make([]byte, 8))
			done <- n
		}()
		_, _ = server.Write([]byte("+OK\r\n"))
		return done
	}
	traffic.making.Store(true)
	select {
	case <-read():
	case <-time.After(10 * time.Second):
		t.Fatal("a reply to a lock that is being made waits for ever")
	}
	traffic.making.Store(false)
	done := read()
	h := <-asked
	select {
	case <-done:
		t.Error("a reply to a client that is watched did not wait")
	default:
	}
	traffic.lift(h.ID)
	<-done
}
