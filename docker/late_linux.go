package docker

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// readLate reads what has arrived on a connection whose deadline has passed.
func readLate(conn net.Conn, b []byte) (n int, ok bool) {
	c, is := conn.(syscall.Conn)
	if !is {
		return 0, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	_ = raw.Control(func(fd uintptr) { // not Read, which heeds the deadline
		n, err = unix.Read(int(fd), b)
	})
	return n, err == nil && n > 0
}
