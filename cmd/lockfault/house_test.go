package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lockfault/lockfault/"

// house says which packages of ours each package may import. Imports run one way.
var house = map[string][]string{
	"checker/history":   {},
	"locks":             {},
	"locks/locktest":    {"checker", "checker/history", "locks", "nemesis", "scenarios", "scenarios/runner", "sim"},
	"locks/recorder":    {"checker/recording", "locks"},
	"locks/program":     {"locks"},
	"locks/conformance": {"locks", "locks/program"},
	"nemesis":           {},
	"checker":           {"checker/history"},
	"scenarios":         {"checker", "checker/history", "locks", "nemesis"},
	"scenarios/runner":  {"checker", "checker/history", "locks", "nemesis", "scenarios"},
	"sim":               {"checker/history", "locks", "nemesis", "scenarios/runner"},
	"docker":            {"checker/history", "locks", "locks/program", "nemesis", "scenarios", "scenarios/runner"},
	"results":           {"checker", "checker/history"},
	"cmd/lockfault":     {"*"},
}

// homes says where each dependency lives: nobody else imports it.
var homes = map[string][]string{
	"github.com/mattn/go-shellwords":              {"locks/program"},
	"github.com/spf13/pflag":                      {"cmd/lockfault"},
	"golang.org/x/term":                           {"cmd/lockfault"},
	"github.com/anishathalye/porcupine":           {"checker"},
	"github.com/HdrHistogram/hdrhistogram-go":     {"checker"},
	"github.com/alicebob/miniredis/v2":            {"sim", "locks/conformance"},
	"github.com/goccy/go-yaml":                    {"scenarios"},
	"github.com/redis/go-redis/v9":                {"locks", "locks/locktest", "sim", "docker"},
	"github.com/go-redsync/redsync/v4":            {"locks"},
	"github.com/bsm/redislock":                    {"locks"},
	"github.com/redis/rueidis":                    {"locks"},
	"github.com/testcontainers/testcontainers-go": {"docker"},
	"github.com/Shopify/toxiproxy/v2":             {"docker"},
	"github.com/jackc/pgx/v5":                     {"docker"},
	"github.com/chromedp/chromedp":                {"results"}, // its tests
}

// TestImportsRunOneWay holds the code to the plan of the house.
func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		checkImports(t, strings.TrimPrefix(p.ImportPath, module), p.Imports)
	}
	if seen < 8 {
		t.Errorf("saw only %d packages", seen)
	}
}

func checkImports(t *testing.T, name string, imports []string) {
	t.Helper()
	room := room(name)
	allowed, ok := house[room]
	if !ok {
		t.Errorf("package %s has no room in the house: add it to the table, or put it where it belongs", name)
		return
	}
	for _, path := range imports {
		if inner, ours := strings.CutPrefix(path, module); ours {
			if inner != room && !strings.HasPrefix(inner, room+"/") && !slices.Contains(allowed, "*") && !slices.Contains(allowed, inner) {
				t.Errorf("%s imports %s; it may import %s", name, inner, strings.Join(allowed, ", "))
			}
			continue
		}
		for dependency, rooms := range homes {
			if (path == dependency || strings.HasPrefix(path, dependency+"/")) && !slices.Contains(rooms, room) {
				t.Errorf("%s imports %s, whose home is %s", name, path, strings.Join(rooms, ", "))
			}
		}
	}
}

// room is the package's own entry, or that of the nearest folder above it.
func room(name string) string {
	for name != "" {
		if _, ok := house[name]; ok {
			return name
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			break
		}
		name = name[:i]
	}
	return name
}
