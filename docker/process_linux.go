package docker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// workersWorkHere says why clients cannot be processes on this system.
func workersWorkHere() error { return nil }

// newBoard makes the shared memory; the file is for the worker to inherit.
func newBoard() (*board, *os.File, error) {
	fd, err := unix.MemfdCreate("lockfault-board", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("make shared memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "lockfault-board")
	if err := file.Truncate(int64(boardSize)); err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("make shared memory: %w", err)
	}
	b, err := mapBoard(file)
	if err != nil {
		file.Close()
	}
	return b, file, err
}

func mapBoard(file *os.File) (*board, error) {
	memory, err := unix.Mmap(int(file.Fd()), 0, boardSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map shared memory: %w", err)
	}
	return (*board)(unsafe.Pointer(&memory[0])), nil
}

func closeOnExec(fd int) { unix.CloseOnExec(fd) }

// spawn starts a command as the head of a process group of its own, which dies with this process.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// The kernel takes the end of the thread that started a child for the end of its parent. The main thread never ends.
	done := make(chan error)
	spawns <- func() { done <- cmd.Start() }
	if err := <-done; err != nil {
		return err
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, cmd.Process.Pid, urgency) // where it is allowed
	return nil
}

// urgency is the nice value of the clients and the harness: they must not wait for what else runs here.
const urgency = -10

// hurry gives this process its urgency, where that is allowed.
func hurry() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads { // a nice value is a thread's; those to come inherit it
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, urgency)
		}
	}
}

// spawns are carried out on one thread that never ends.
var spawns = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for f := range spawns {
			f()
		}
	}()
}

// stop stops a process group, and returns when its head stands still.
func stop(pid int) error {
	if err := unix.Kill(-pid, unix.SIGSTOP); err != nil {
		return err
	}
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		}
		if !isStopped(pid) {
			return errors.New("it ended instead of standing still")
		}
		// The notice is taken, so that the next stop is not mistaken for this one.
		_ = unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
		return nil
	}
}

// resume lets a stopped process group go on.
func resume(pid int) error { return unix.Kill(-pid, unix.SIGCONT) }

// kill ends a process group at once.
func kill(pid int) error { return unix.Kill(-pid, unix.SIGKILL) }

// thisProcess names this process so that it is not mistaken for a later one with its number.
func thisProcess() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s %d %s", hostname(), pid, startOf(pid))
}

// lives tells whether the process that thisProcess named so still runs. One on another machine may.
func lives(name string) bool {
	var host, start string
	var pid int
	if n, err := fmt.Sscanf(name, "%s %d %s", &host, &pid, &start); n != 3 || err != nil {
		return false
	}
	return host != hostname() || startOf(pid) == start
}

// startOf is when a process was started; empty if there is none.
func startOf(pid int) string {
	p, err := lookAt(pid)
	if err != nil || p.state == 'Z' {
		return ""
	}
	return p.start
}

// isStopped asks the kernel whether a process is stopped.
func isStopped(pid int) bool {
	p, err := lookAt(pid)
	return err == nil && p.state == 'T'
}

// strays names the descendants of the head of a process group that have left the group: no signal to it reaches them.
func strays(head int) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	processes := map[int]process{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, err := lookAt(pid); err == nil { // else it has ended meanwhile
				processes[pid] = p
			}
		}
	}
	var found []string
	for pid, p := range processes {
		if p.group == head || p.state == 'Z' {
			continue
		}
		for up := p.parent; up != 0; up = processes[up].parent {
			if up == head {
				found = append(found, fmt.Sprintf("%s (process %d)", p.name, pid))
				break
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// process is what the kernel says of one.
type process struct {
	name          string
	state         byte // T: stopped; Z: ended, and nobody has asked how
	parent, group int
	start         string // in the kernel's ticks since boot
}

func lookAt(pid int) (process, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	// The second field, a name in parentheses, may hold anything.
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[to+1:])
	if from < 0 || to < from || len(fields) < 20 {
		return process{}, fmt.Errorf("the kernel says of process %d: %q", pid, stat)
	}
	p := process{name: string(stat[from+1 : to]), state: fields[0][0], start: string(fields[19])}
	if p.parent, err = strconv.Atoi(string(fields[1])); err == nil {
		p.group, err = strconv.Atoi(string(fields[2]))
	}
	return p, err
}
