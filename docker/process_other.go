//go:build !linux

package docker

import (
	"errors"
	"os"
	"os/exec"
)

var errOnlyLinux = errors.New("the container testbed needs Linux")

// workersWorkHere says why clients cannot be processes on this system.
func workersWorkHere() error {
	return &Unavailable{Reason: "the container testbed runs on Linux only: it stops clients by the kernel's means"}
}

func newBoard() (*board, *os.File, error) { return nil, nil, errOnlyLinux }
func mapBoard(*os.File) (*board, error)   { return nil, errOnlyLinux }
func closeOnExec(int)                     {}
func spawn(*exec.Cmd) error               { return errOnlyLinux }
func stop(int) error                      { return errOnlyLinux }
func resume(int) error                    { return errOnlyLinux }
func kill(int) error                      { return errOnlyLinux }
func isStopped(int) bool                  { return false }
func strays(int) ([]string, error)        { return nil, errOnlyLinux }
func thisProcess() string                 { return "" }
func lives(string) bool                   { return false }
func hurry()                              {}
