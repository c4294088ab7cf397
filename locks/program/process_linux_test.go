package program

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// TestProgramsShareTheFateOfTheirGroup: what stops or ends a client stops or ends its program; one that is alone is none of it.
func TestProgramsShareTheFateOfTheirGroup(t *testing.T) {
	t.Setenv(mode, "plain")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		start func(string) (*Program, error)
		same  bool
	}{{Start, true}, {StartAlone, false}} {
		p, err := c.start(strconv.Quote(self))
		if err != nil {
			t.Fatal(err)
		}
		group, err := syscall.Getpgid(p.cmd.Process.Pid)
		if err != nil || (group == syscall.Getpgrp()) != c.same {
			t.Errorf("group %d of %d, ours is %d, %v", group, p.cmd.Process.Pid, syscall.Getpgrp(), err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		gone(t, p)
	}
}

// TestGroupsStandStillAsAWhole: and a program that was started in one is not its head.
func TestGroupsStandStillAsAWhole(t *testing.T) {
	t.Setenv(mode, "plain")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	defer g.End()
	p, err := StartIn(g, strconv.Quote(self))
	if err != nil {
		t.Fatal(err)
	}
	pid := p.cmd.Process.Pid
	if group, err := syscall.Getpgid(pid); err != nil || group != g.head.Process.Pid || group == pid {
		t.Errorf("group %d of %d, want %d, %v", group, pid, g.head.Process.Pid, err)
	}
	if err := g.Stop(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Errorf("status %v, %v", status, err)
	}
	if err := g.Continue(); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(pid, &status, syscall.WCONTINUED, nil); err != nil || !status.Continued() {
		t.Errorf("status %v, %v", status, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
