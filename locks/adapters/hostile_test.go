package adapters_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostile is a program that is granted every lock. Its first argument is what it does when it is asked to acquire.
const hostile = `
while read -r line; do
	id=${line#*:}
	id=${id%%,*}
	case $line in
	*'"hello"'*) echo "{\"id\":$id,\"outcome\":\"ok\",\"name\":\"hostile\",\"servers\":\"one-node\"}"; continue ;;
	*'"quit"'*) exit ;;
	*'"acquire"'*)
		case $1 in
		mute) continue ;;
		dies) echo "out of memory" >&2; exit 3 ;;
		twice) echo "{\"id\":$id,\"outcome\":\"ok\",\"validity_ms\":1000}" ;;
		floods) head -c 20000000 /dev/zero | tr '\0' x >&2 ;;
		forks) sleep 600 & echo $! >>"$2" ;;
		esac ;;
	esac
	echo "{\"id\":$id,\"outcome\":\"ok\",\"validity_ms\":1000}"
done`

const section = `
title: one client alone
horizon: 12s
clients:
  A: [acquire, {release: {at: 1s}}]
expect:
  - may: [exclusion, effects, ownership, expiry, availability]
`

// TestHostileProgramsHarmTheirOwnRunOnly: on containers too, whatever a program does ends its run in time, and is said.
func TestHostileProgramsHarmTheirOwnRunOnly(t *testing.T) {
	needQuiet(t)
	dir := t.TempDir()
	script, plan, children := filepath.Join(dir, "hostile.sh"), filepath.Join(dir, "alone.yaml"), filepath.Join(dir, "children")
	for file, text := range map[string]string{script: hostile, plan: section, children: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		habit, err, progress string
		code                 int
	}{
		{"mute", "", "violated", 1},
		{"dies", `it ended by itself \(exit status 3\); it said on standard error: out of memory`, "violated", 3},
		{"twice", `it answered request 3 a second time`, "violated", 3},
		{"floods", "^$", "held", 0},
		{"forks", "^$", "held", 0},
	} {
		t.Run(c.habit, func(t *testing.T) {
			began := time.Now()
			code, stdout, stderr := lockfault(t, "run", "--lock", "exec:sh "+script+" "+c.habit+" "+children, "--scenario", plan,
				"--fencing", "off", "--format", "json", "--quiet", "--out", filepath.Join(t.TempDir(), "run"))
			var report struct {
				Runs []struct {
					Error    string
					Verdicts map[string]struct{ Status string }
				}
			}
			if err := json.Unmarshal([]byte(stdout), &report); err != nil || len(report.Runs) != 1 {
				unavailable(t, stderr)
				t.Fatalf("exit status %d: %v\n%s", code, err, stderr)
			}
			r := report.Runs[0]
			if strings.Contains(r.Error, "the machine was too busy") {
				t.Skip(r.Error)
			}
			if code != c.code || !regexp.MustCompile(c.err).MatchString(r.Error) || r.Verdicts["progress"].Status != c.progress {
				t.Errorf("exit status %d, error %q, progress %s", code, r.Error, r.Verdicts["progress"].Status)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
			pids, err := os.ReadFile(children)
			if err != nil || c.habit == "forks" && len(pids) == 0 {
				t.Errorf("children %q, %v", pids, err)
			}
			for _, pid := range strings.Fields(string(pids)) {
				if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
					t.Errorf("a child is left: %s", stat)
				}
			}
		})
	}
}
