package docker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	moby "github.com/moby/moby/client"
)

// console is a shell in a container that stays open, so that a command there takes a millisecond and not a tenth of a
// second. Safe for concurrent use.
type console struct {
	mu    sync.Mutex
	shell moby.HijackedResponse
	lines *bufio.Reader
}

// openConsole starts the shell.
func openConsole(ctx context.Context, engine *moby.Client, container string) (*console, error) {
	made, err := engine.ExecCreate(ctx, container, moby.ExecCreateOptions{
		AttachStdin: true, AttachStdout: true, AttachStderr: true, Cmd: []string{"sh"},
	})
	if err != nil {
		return nil, fmt.Errorf("open a shell: %w", err)
	}
	attached, err := engine.ExecAttach(ctx, made.ID, moby.ExecAttachOptions{})
	if err != nil {
		return nil, fmt.Errorf("open a shell: %w", err)
	}
	plain, w := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(w, w, attached.Reader)
		if err == nil {
			err = io.EOF
		}
		w.CloseWithError(err)
	}()
	return &console{shell: attached.HijackedResponse, lines: bufio.NewReader(plain)}, nil
}

// endMark comes before the exit status of each command.
const endMark = "lockfault-status "

// consoleLimit is how long a command may take.
const consoleLimit = 10 * time.Second

// run has the shell carry out a command line, and returns what it printed.
func (c *console) run(command string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	guard := time.AfterFunc(consoleLimit, c.shell.Close)
	defer guard.Stop()
	if _, err := fmt.Fprintf(c.shell.Conn, "{ %s\n} 2>&1 </dev/null; echo; echo %s$?\n", command, endMark); err != nil {
		return "", fmt.Errorf("%s: %w", command, err)
	}
	var printed strings.Builder
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("%s: the shell ended: %w", command, err)
		}
		status, end := strings.CutPrefix(strings.TrimSpace(line), endMark)
		if !end {
			printed.WriteString(line)
			continue
		}
		text := strings.TrimSpace(printed.String())
		if code, err := strconv.Atoi(status); err != nil || code != 0 {
			return text, fmt.Errorf("%s: exit status %s: %s", command, status, text)
		}
		return text, nil
	}
}

func (c *console) close() { c.shell.Close() }
