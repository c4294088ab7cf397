package program

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Group is a process group for programs that are not its head, as in a run, where that is the client. Not for concurrent use.
type Group struct {
	head  *exec.Cmd
	stdin *os.File // keeps the head until it is closed, or this process ends
}

// NewGroup starts one, whose head does nothing. An error says that its process could not be started.
func NewGroup() (*Group, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a process group: %w", err)
	}
	defer r.Close()
	g := &Group{head: exec.Command("cat"), stdin: w}
	g.head.Stdin = r
	g.head.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.head.Start(); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("start a process group: %w", err)
	}
	return g, nil
}

// StartIn is Start in a group of NewGroup, which is not ended with the program.
func StartIn(g *Group, command string) (*Program, error) {
	return start(command, place{within: g.head.Process.Pid})
}

// Stop has every process of the group stand still, as a pause does.
func (g *Group) Stop() error { return g.signal(syscall.SIGSTOP) }

// Continue has them go on.
func (g *Group) Continue() error { return g.signal(syscall.SIGCONT) }

// End kills what is in the group.
func (g *Group) End() {
	_ = g.signal(syscall.SIGKILL)
	_ = g.stdin.Close()
	_ = g.head.Wait()
}

func (g *Group) signal(s syscall.Signal) error {
	if err := syscall.Kill(-g.head.Process.Pid, s); err != nil {
		return fmt.Errorf("%v to the process group: %w", s, err)
	}
	return nil
}
