package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockfault/lockfault/docker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/results"
)

// The test binary is lockfault itself when it is called so, by a script or as the child that serves cells.
func TestMain(m *testing.M) {
	// A test that runs cells from within the test binary must get a child, never the tests again, and so on without end.
	// The same goes for a client's process on containers.
	if len(os.Args) > 1 && (os.Args[1] == cellVerb || os.Args[1] == docker.WorkerVerb) {
		lockfault()
	}
	testscript.Main(m, map[string]func(){"lockfault": lockfault, "jsonshape": jsonShape})
}

// lockfault is main, with the naughty locks if the environment asks for them.
func lockfault() {
	if os.Getenv(withNaughtyLocks) != "" {
		locks.All = append(locks.All, naughtyAndPolite()...)
		if os.Getenv(noLimit) == "" {
			cellLimit = naughtyLimit
		}
	}
	if path := os.Getenv(peakFile); path != "" {
		code := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
		if err := os.WriteFile(path, peakMemory(), 0o600); err != nil {
			log.Fatal(err)
		}
		os.Exit(code)
	}
	main()
}

// jsonShape tells how many runs a report has, if the file is one report and nothing behind it.
func jsonShape() {
	text, err := os.ReadFile(os.Args[1])
	report := results.Report{}
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(report.Runs), "runs")
}

// noLimit is the environment variable that leaves cellLimit as it is.
const noLimit = "LOCKFAULT_TEST_NO_LIMIT"

// naughtyLimit is long enough for a run that comes to an end, under the race detector too.
const naughtyLimit = 2 * time.Second

var update = flag.Bool("update", false, "write the files that scripts compare with")

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              bringScenarios,
		UpdateScripts:      *update,
		Condition: func(name string) (bool, error) {
			if name == "mount" {
				return canMount(), nil
			}
			return false, errors.New("unknown condition " + name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// bringScenarios copies testdata/*.yaml to where the script runs.
func bringScenarios(env *testscript.Env) error {
	files, err := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(env.WorkDir, filepath.Base(file)), text, 0o644))
	}
	return err
}

// exits runs a command that must end with an exit status: exits 3 lockfault compare --locsk a
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// canMount tells whether scripts may mount a file system in a namespace of their own.
func canMount() bool { return exec.Command("unshare", "-m", "true").Run() == nil }
