package docker

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// TestStraysAreFound: who has left the process group is named, and nobody else.
func TestStraysAreFound(t *testing.T) {
	for name, c := range map[string]struct{ command, want string }{
		"a child":                 {`sh -c 'echo up; read line'; true`, ""},
		"a child that left":       {`setsid sh -c 'echo up; read line'; true`, "sh (process "},
		"a grandchild that left":  {`sh -c "setsid sh -c 'echo up; read line'; true"; true`, "sh (process "},
		"a wrapper that has left": {`timeout 60 sh -c 'echo up; read line'; true`, "sh (process "},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.command)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := spawn(cmd); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "up\n" {
				t.Fatalf("%q, %v", line, err)
			}
			found, err := strays(cmd.Process.Pid)
			if text := strings.Join(found, ", "); err != nil || !strings.HasPrefix(text, c.want) || c.want == "" && text != "" {
				t.Errorf("found %q, %v", found, err)
			}
			stdin.Close() // ends them all
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
