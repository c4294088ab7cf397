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
