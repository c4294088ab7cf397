package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// composite is what of an action's file matters here.
type composite struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, Run, Shell string
			Env              map[string]string
		}
	}
}

func readAction(t *testing.T) composite {
	t.Helper()
	text, err := os.ReadFile("../../.github/actions/lockfault/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a composite
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// step runs a step of the action as a runner does, with inputs that differ from the defaults, and returns its exit status.
func (a composite) step(t *testing.T, name string, inputs map[string]string, env ...string) (int, string) {
	t.Helper()
	for _, s := range a.Runs.Steps {
		if s.Name != name {
			continue
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.Run)
		cmd.Env = append(os.Environ(), env...)
		for key, value := range s.Env {
			value = strings.TrimSuffix(strings.TrimPrefix(value, "${{ "), " }}")
			if input, ok := strings.CutPrefix(value, "inputs."); ok {
				given, known := a.Inputs[input]
				if !known {
					t.Fatalf("step %s uses an input %s that there is not", name, input)
				}
				if value = given.Default; inputs[input] != "" {
					value = inputs[input]
				}
			}
			value = strings.Replace(value, "github.action_path }}", "../../.github/actions/lockfault", 1)
			cmd.Env = append(cmd.Env, key+"="+value)
		}
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		var status *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &status) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), said.String()
	}
	t.Fatalf("no step %s", name)
	return 0, ""
}

// TestActionRuns: what it builds and calls works, the workflow's own use of it passes, and a violation fails the step.
func TestActionRuns(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	a, temp := readAction(t), t.TempDir()
	env := []string{"RUNNER_TEMP=" + temp, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary.md")}
	if code, said := a.step(t, "Build lockfault", nil, env...); code != 0 {
		t.Fatal(said)
	}
	junit := filepath.Join(temp, "out.xml")
	inputs := map[string]string{
		"lock": "single", "scenarios": "A1,B1,N2", "baseline": "../../.github/lockfault.yaml", "junit": junit,
		"args": "--out " + filepath.Join(temp, "run"),
	}
	if code, said := a.step(t, "Compare", inputs, env...); code != 0 {
		t.Errorf("exit status %d\n%s", code, said)
	}
	inputs["scenarios"], inputs["lock"] = "A1,D1", "single\nsingle-del\n"
	code, said := a.step(t, "Compare", inputs, env...)
	if code != 1 || !strings.Contains(said, "::error title=single-del/release-deletes-successor/unfenced#1::exclusion: violated, which is not in") {
		t.Errorf("exit status %d\n%s", code, said)
	}
	text, err := os.ReadFile(junit)
	if err != nil || !bytes.Contains(text, []byte(`<testsuites name="lockfault" tests="8"`)) {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err = os.ReadFile(filepath.Join(temp, "summary.md")); err != nil || bytes.Count(text, []byte("## lockfault compare")) != 2 {
		t.Errorf("%v\n%s", err, text)
	}
}
