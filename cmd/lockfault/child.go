package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// child is a process that serves cells.
type child struct {
	cmd      *exec.Cmd
	requests *os.File
	answers  *os.File
	said     *tail // what the lock printed, and what the runtime said when it died
	wait     func() error
}

// childMark is set in the environment of a child, which has no children: were this code part of a program that does not
// know cellVerb, such as the binary of a test, each child would do as its parent does, without end.
const childMark = "LOCKFAULT_CHILD"

func startChild() (*child, error) {
	if os.Getenv(childMark) != "" {
		return nil, errors.New("start a child process: this is one")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a child process: %w", err)
	}
	defer theirRequests.Close()
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a child process: %w", err), requests.Close())
	}
	defer theirAnswers.Close()
	c := &child{requests: requests, answers: answers, said: &tail{}}
	c.cmd = &exec.Cmd{Path: self, Args: []string{os.Args[0], cellVerb}}
	// A world in virtual time is made of small garbage: a larger heap halves what collecting it costs. What the user sets
	// comes later and counts.
	c.cmd.Env = append([]string{"GOGC=400"}, os.Environ()...)
	c.cmd.Env = append(c.cmd.Env, "GOMAXPROCS=1", "GOTRACEBACK=single", childMark+"=1")
	c.cmd.ExtraFiles = []*os.File{theirRequests, theirAnswers} // requestsFD, answersFD
	c.cmd.Stdout, c.cmd.Stderr = c.said, c.said
	c.cmd.WaitDelay = time.Second // a process that the lock has started may hold them open
	c.wait = sync.OnceValue(c.cmd.Wait)
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a child process: %w", err), requests.Close(), answers.Close())
	}
	return c, nil
}

var errNoAnswer = errors.New("no answer")

// ask hands the child a cell and waits for its answer. An error says how the child died; it is dead then, be it that ctx
// was done.
func (c *child) ask(ctx context.Context, r cellRequest) (cellAnswer, error) {
	patience := cellLimit * 3 / 2 // a child that still works gives the lock up before
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })()
	var answer cellAnswer
	err := json.NewEncoder(c.requests).Encode(r)
	if err == nil {
		err = json.NewDecoder(c.answers).Decode(&answer)
	}
	if err == nil {
		return answer, nil
	}
	c.stop()
	if context.Cause(ctx) == errNoAnswer {
		return answer, fmt.Errorf("%w within %v of real time: the lock keeps its process from running anything else", errNoAnswer, patience)
	}
	return answer, fmt.Errorf("the lock ended its process (%v): %s", c.cmd.ProcessState, c.said)
}

// stop ends the child, which has nothing to lose. One that is exiting anyhow keeps its exit status.
func (c *child) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.wait()
	_ = c.requests.Close()
	_ = c.answers.Close()
}
