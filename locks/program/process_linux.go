package program

import (
	"os/exec"
	"syscall"
)

// prepare has the program die with the thread that starts it and, if asked to, be the head of a process group.
func prepare(cmd *exec.Cmd, ownGroup bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL}
}

// end ends the program at once and, if it is the head of a group, all of that.
func end(cmd *exec.Cmd, ownGroup bool) {
	if ownGroup {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = cmd.Process.Kill()
}
