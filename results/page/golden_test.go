package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/internal/golden"
	"github.com/lockfault/lockfault/results/page"
)

var (
	packed    = regexp.MustCompile(`<script type="application/octet-stream" id="([a-z]+-\d+)">([^<]*)</script>`)
	ourScript = regexp.MustCompile(`(?s)<(style|script)( id="picture-style")?>.*?</(style|script)>`)
)

// TestThePageLooksAsItShould compares the page with its packs unpacked, without our own style and script.
func TestThePageLooksAsItShould(t *testing.T) {
	run, files := judged(t, "redlock", "pause", twoHolders("A", "B", "stock"))
	run.Code, run.Title, run.Dir = "A1", "The holder stops for longer than its lease", "redlock/pause/unfenced"
	fenced := run
	fenced.Fencing, fenced.Seed, fenced.AsExpected, fenced.Unexpected = true, 42, false, []string{"exclusion: expected held, got violated"}
	report := results.Report{
		When: time.Date(2026, 11, 30, 18, 0, 0, 0, time.UTC), Command: "lockfault compare", Versions: map[string]string{"go": "go1.26"},
		Elapsed: time.Second, NotRun: 2, Budget: time.Second,
		Runs: []results.Run{run, fenced, {Lock: "none", Scenario: "pause", Testbed: "hand", Fencing: true, Unsupported: "not supported here: no fences"},
			{Lock: "none", Scenario: "pause", Testbed: "hand", Error: "panic: left 3 goroutines running"}},
	}
	var out bytes.Buffer
	err := page.Write(&out, report, func(r results.Run) (page.Files, error) {
		if r.Lock == "none" {
			return page.Files{}, nil
		}
		return files, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(out.String(), template.HTMLEscapeString(page.Policy()), "our policy", 1)
	text = ourScript.ReplaceAllString(text, "<!-- ours -->")
	text = packed.ReplaceAllStringFunc(text, func(script string) string {
		match := packed.FindStringSubmatch(script)
		return match[1] + ": " + unpacked(t, match[2])
	})
	golden.Compare(t, "page.txt", []byte(text))
}

// unpacked is the JSON of a pack with its texts as lines.
func unpacked(t *testing.T, blob string) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(blob)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var contents any
	if err := json.NewDecoder(zip).Decode(&contents); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	encoder := json.NewEncoder(&indented)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(contents); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(indented.String(), `\n`, "\n")
}
