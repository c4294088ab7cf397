package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// engineOf pretends to be a container engine of a version of the API. It has the images of which the name holds one of the
// words.
func engineOf(t *testing.T, version string, images ...string) string {
	t.Helper()
	strip := regexp.MustCompile(`^/v\d+\.\d+`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", version)
		path := strip.ReplaceAllString(r.URL.Path, "")
		switch {
		case path == "/_ping":
			fmt.Fprint(w, "OK")
		case path == "/info" && !slices.Contains(images, "broken"):
			fmt.Fprint(w, `{"OperatingSystem":"none"}`)
		case r.Method == http.MethodGet && path == "/containers/json":
			fmt.Fprint(w, "[]")
		case r.Method == http.MethodGet && path == "/networks":
			fmt.Fprint(w, "[]")
		case path == "/version":
			fmt.Fprintf(w, `{"Version":"1","ApiVersion":%q,"MinAPIVersion":"1.12"}`, version)
		case strings.HasPrefix(path, "/images/"):
			for _, name := range images {
				if strings.Contains(path, name) {
					fmt.Fprint(w, `{"Id":"sha256:0"}`)
					return
				}
			}
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"No such image"}`)
		default:
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"message":"the disk of the engine is broken"}`)
		}
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "tcp", 1)
}

// TestWithoutWhatIsNeededOneSentenceSaysSo and the exit status is 3. None of these tests needs an engine.
func TestWithoutWhatIsNeededOneSentenceSaysSo(t *testing.T) {
	everything := []string{"redis", "toxiproxy", "postgres"}
	for _, c := range []struct {
		name, host string
		args       string
		want       string // all that is said, as a regular expression
	}{
		{"too old", engineOf(t, "1.40", everything...), "",
			`the container engine is too old: it speaks API 1\.40, and this needs 1\.41 \(Docker 20\.10\)`},
		{"far too old", engineOf(t, "1.24", everything...), "",
			`the container engine is too old: it speaks API 1\.24, and this needs 1\.41 \(Docker 20\.10\)`},
		{"no image of Redis", engineOf(t, "1.41", everything[1:]...), "",
			"there is no image lockfault/redis:7: run `make images`, or name another with --redis-image or LOCKFAULT_REDIS_IMAGE"},
		{"no image of Toxiproxy", engineOf(t, "1.45", "redis", "postgres"), "",
			"there is no image lockfault/toxiproxy:2: run `make images`, or name another with --toxiproxy-image or LOCKFAULT_TOXIPROXY_IMAGE"},
		{"a name that is none", engineOf(t, "1.41", everything[1:]...), " --redis-image example.org/mine:1",
			"there is no image example\\.org/mine:1: run `make images`, or name another with --redis-image or LOCKFAULT_REDIS_IMAGE"},
		{"an engine that makes nothing", engineOf(t, "1.41", everything...), "",
			`make the private network: .*the disk of the engine is broken.*`},
		{"an engine that fails", engineOf(t, "1.41", "broken"), "",
			`the container engine does not tell about itself: .*the disk of the engine is broken.*`},
		{"nobody there", "tcp://127.0.0.1:1", "",
			"no container engine answers: start Docker, or point DOCKER_HOST to one: .*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("lockfault", strings.Fields("run --testbed docker --lock single --scenario A1"+c.args)...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "DOCKER_HOST="+c.host, "TESTCONTAINERS_RYUK_DISABLED=true",
				"LOCKFAULT_REDIS_IMAGE=", "LOCKFAULT_TOXIPROXY_IMAGE=", "LOCKFAULT_POSTGRES_IMAGE=")
			out, _ := cmd.CombinedOutput()
			whole := regexp.MustCompile(`^lockfault run: ` + c.want + `; 0 of 2 runs were judged before that\n$`)
			if code := cmd.ProcessState.ExitCode(); code != 3 || !whole.Match(out) {
				t.Errorf("exit status %d, want 3, and the whole output\n  %swant\n  %s", code, out, whole)
			}
		})
	}
}
