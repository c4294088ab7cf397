package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// mode is the environment variable that makes the test binary a program with a habit.
const mode = "LOCKFAULT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if habit := os.Getenv(mode); habit != "" {
		serve(habit)
		return
	}
	os.Exit(m.Run())
}

// say writes a line to standard output.
func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

const description = `"name":"hostile","version":"x 1","servers":"one-node","fences":true`

// serve is a program that is granted every lock and, from its first acquire on, has a habit. A habit returns true when it has
// answered by itself.
func serve(habit string) {
	if habit == "deaf" {
		time.Sleep(time.Hour)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if r.Op == "quit" {
			if habit == "ignores quit" || habit == "forks and ignores quit" {
				time.Sleep(time.Hour)
			}
			return
		}
		if act := habits[habit]; act != nil && act(r) {
			continue
		}
		plainAnswer(r)
	}
}

func plainAnswer(r request) {
	switch r.Op {
	case "hello":
		say(`{"id":%d,"outcome":"ok",%s}`, r.ID, description)
	case "acquire":
		say(`{"id":%d,"outcome":"ok","token":"t%d","fence":%d,"validity_ms":%d}`, r.ID, r.ID, r.ID, 900)
	default:
		say(`{"id":%d,"outcome":"ok","validity_ms":800}`, r.ID)
	}
}

// on does something instead of answering a request of one kind.
func on(op string, f func(r request)) func(request) bool {
	return func(r request) bool {
		if r.Op == op {
			f(r)
		}
		return r.Op == op
	}
}

// answers a request of one kind with a line in which %d is its id.
func answers(op, line string) func(request) bool {
	return on(op, func(r request) { say(strings.ReplaceAll(line, "%d", fmt.Sprint(r.ID))) })
}

// before does something, and then has the request answered.
func before(op string, f func()) func(request) bool {
	return func(r request) bool {
		if r.Op == op {
			f()
		}
		return false
	}
}

var habits = map[string]func(request) bool{
	"never answers":         on("acquire", func(request) {}),
	"never says hello":      on("hello", func(request) {}),
	"answers twice":         on("acquire", func(r request) { plainAnswer(r); plainAnswer(r) }),
	"answers another":       answers("acquire", `{"id":77,"outcome":"ok","validity_ms":1}`),
	"answers nobody":        before("acquire", func() { say(`{"id":1,"outcome":"ok"}`) }),
	"chatters":              before("acquire", func() { say("connecting to redis ...") }),
	"chatters late":         on("acquire", func(r request) { plainAnswer(r); say("done") }),
	"says null":             answers("acquire", "null"),
	"says two things":       answers("acquire", `{"id":%d,"outcome":"fail"} {"id":%d,"outcome":"ok"}`),
	"misspells":             answers("acquire", `{"id":%d,"outcome":"ok","validty_ms":5}`),
	"has its own outcome":   answers("acquire", `{"id":%d,"outcome":"granted"}`),
	"is valid before":       answers("acquire", `{"id":%d,"outcome":"ok","fence":1,"validity_ms":-5}`),
	"forgets the fence":     answers("acquire", `{"id":%d,"outcome":"ok","validity_ms":5}`),
	"loses what it has not": answers("acquire", `{"lost":99}`),
	"writes a huge line":    on("acquire", func(request) { fmt.Print(strings.Repeat("x", 50<<20)) }),
	"stops in mid-line":     on("acquire", func(r request) { fmt.Printf(`{"id":%d,`, r.ID); os.Exit(0) }),
	"dies":                  on("acquire", func(request) { fmt.Fprintln(os.Stderr, "panic: no memory"); os.Exit(4) }),
	"dies between":          on("acquire", func(r request) { plainAnswer(r); os.Exit(0) }),
	"fills stderr": before("acquire", func() {
		fmt.Fprint(os.Stderr, strings.Repeat("a line on standard error\n", 1<<20), "the last line\n")
	}),
	"fills stderr and dies": on("acquire", func(request) {
		fmt.Fprint(os.Stderr, strings.Repeat("a line on standard error\n", 1<<20), "the last line\n")
		os.Exit(1)
	}),
	"forks":                  before("acquire", fork),
	"forks and dies":         on("acquire", func(request) { fork(); os.Exit(5) }),
	"forks and ignores quit": before("acquire", fork),
	"refuses":                answers("acquire", `{"id":%d,"outcome":"fail","error":"taken"}`),
	"does not know":          answers("acquire", `{"id":%d,"outcome":"unknown","error":"time-out"}`),
	"does not know, waiting": func(r request) bool {
		if r.Op == "hello" {
			say(`{"id":%d,"outcome":"ok",%s,"waits":true}`, r.ID, description)
		}
		if r.Op == "acquire" {
			say(`{"id":%d,"outcome":"unknown","error":"time-out"}`, r.ID)
		}
		return r.Op == "hello" || r.Op == "acquire"
	},
	"waits": on("acquire", func(r request) { time.Sleep(50 * time.Millisecond); plainAnswer(r) }),
	"loses": func(r request) bool {
		if r.Op == "valid" {
			say(`{"lost":%d}`, r.Lease)
			say(`{"id":%d,"outcome":"fail"}`, r.ID)
		}
		return r.Op == "valid"
	},
	"loses early":      on("acquire", func(r request) { say(`{"lost":%d}`, r.ID); plainAnswer(r) }),
	"has a bad name":   answers("hello", `{"id":%d,"outcome":"ok","name":"My Lock!","servers":"one-node"}`),
	"has no servers":   answers("hello", `{"id":%d,"outcome":"ok","name":"x"}`),
	"is called single": answers("hello", `{"id":%d,"outcome":"ok","name":"single","servers":"one-node"}`),
	"is like nothing":  answers("hello", `{"id":%d,"outcome":"ok","name":"x","servers":"one-node","like":"y"}`),
	"cannot extend":    answers("hello", `{"id":%d,"outcome":"ok","name":"x","servers":"one-node","extends":false}`),
	"is asked more":    answers("hello", `{"id":%d,"outcome":"fail","error":"protocol 1 is too old"}`),
}

// fork leaves a child behind that keeps standard output open.
func fork() {
	cmd := exec.Command("sleep", "600")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	fmt.Fprintf(os.Stderr, "child %d\n", cmd.Process.Pid)
}
