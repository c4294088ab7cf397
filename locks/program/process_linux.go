package program

import (
	"os/exec"
	"syscall"
)

// prepare has the program die with the thread that starts it, and be in its place from the start.
func prepare(cmd *exec.Cmd, where place) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: where.own || where.within != 0, Pgid: where.within, Pdeathsig: syscall.SIGKILL,
	}
}

// end ends the program at once and, if it is the head of a group, all of that.
func end(cmd *exec.Cmd, where place) {
	if where.own {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = cmd.Process.Kill()
}
