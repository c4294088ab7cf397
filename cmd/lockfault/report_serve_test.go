package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTheStoreIsServedUntilTheCommandIsInterrupted on loopback, and nowhere else unless asked.
func TestTheStoreIsServedUntilTheCommandIsInterrupted(t *testing.T) {
	binary, dir := ordinaryBinary(t), t.TempDir()
	made := exec.Command(binary, "run", "--lock", "redlock", "--scenario", "A1", "--quiet")
	made.Dir = dir
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "report", "--serve")
	c.Dir = dir
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	if url == "" {
		t.Fatalf("it says %q", line)
	}
	for path, want := range map[string]string{"": "redlock-pause-after-acquire", "run/latest": "Which locks kept exclusion"} {
		answer, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s is answered with %d, %v", url+path, answer.StatusCode, err)
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("interrupted, it ends with %v", err)
	}
}
