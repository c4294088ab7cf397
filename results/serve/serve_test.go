package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/internal/browser"
)

const oneHistory = `{"index":0,"time_ns":0,"process":"harness","role":"harness","type":"info","op":"begin","detail":{"lock":"redlock","ttl":"10s"}}
{"index":1,"time_ns":5,"process":"A","type":"invoke","op":"acquire","resource":"stock","lease":"A/1"}
{"index":2,"time_ns":1000,"process":"A","type":"ok","op":"acquire","resource":"stock","lease":"A/1","fence":33}
{"index":3,"time_ns":2000,"process":"B","type":"invoke","op":"acquire","resource":"stock","lease":"B/1"}
{"index":4,"time_ns":3000,"process":"B","type":"ok","op":"acquire","resource":"stock","lease":"B/1","fence":34}
{"index":5,"time_ns":4000,"process":"harness","role":"harness","type":"info","op":"end"}
`

// store makes one with runs of these names.
func store(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		keeping(t).in(root, name, results.Run{Lock: "redlock", Scenario: "pause-after-acquire", Code: "A1", Testbed: "sim", Seed: 1})
	}
	return root
}

// keeper stores runs.
type keeper struct{ t *testing.T }

func keeping(t *testing.T) keeper { return keeper{t} }

func (k keeper) in(root, name string, runs ...results.Run) {
	k.t.Helper()
	report := results.Report{Command: "lockfault compare --seed 7"}
	for i, r := range runs {
		r.Dir = filepath.ToSlash(filepath.Join(fmt.Sprint(i), "run"))
		r.AsExpected, r.Events = true, 6
		r.Verdicts = map[string]checker.Verdict{checker.Exclusion: {Status: checker.Violated, Witness: &checker.Witness{Sentence: "B was granted too", Events: []int{2, 4}}}}
		report.Runs = append(report.Runs, r)
		k.write(filepath.Join(root, name, r.Dir, results.HistoryFile), oneHistory)
	}
	var text bytes.Buffer
	if err := results.WriteJSON(&text, report); err != nil {
		k.t.Fatal(err)
	}
	k.write(filepath.Join(root, name, results.VerdictsFile), text.String())
}

func (k keeper) write(path, text string) {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

func serving(t *testing.T, root string) *httptest.Server {
	t.Helper()
	s, err := New(root, "127.0.0.1", func(plan []byte) ([]byte, error) { return plan, nil })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(func() { server.Close(); s.Close() })
	return server
}

// ask sends a request with any target, which an http.Client would tidy up.
func ask(t *testing.T, server *httptest.Server, method, target, host string) (status int, header http.Header, body string) {
	t.Helper()
	request := httptest.NewRequest(method, "/", nil)
	request.URL.Opaque, request.URL.Path, request.RequestURI = "//"+host+target, "", ""
	request.URL.Scheme, request.URL.Host, request.Host = "http", strings.TrimPrefix(server.URL, "http://"), host
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

const here = "127.0.0.1:8000"

func TestStoredRunsAreListedAndShown(t *testing.T) {
	server := serving(t, store(t, "20261130T180000Z-compare", "20261129T180000Z-single"))
	status, header, body := ask(t, server, "GET", "/", here)
	first, second := strings.Index(body, "20261130T180000Z-compare"), strings.Index(body, "20261129T180000Z-single")
	if status != 200 || first < 0 || second < first {
		t.Errorf("%d, the newest first: %d, %d", status, first, second)
	}
	if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'none'") {
		t.Errorf("policy %q", header.Get("Content-Security-Policy"))
	}
	status, header, body = ask(t, server, "GET", "/run/20261130T180000Z-compare", here)
	if status != 200 || !strings.Contains(body, "Which locks kept exclusion") || !strings.Contains(header.Get("Content-Security-Policy"), "sha256-") {
		t.Errorf("%d, %q", status, header)
	}
	if status, header, _ = ask(t, server, "GET", "/run/latest", here); status != 303 || header.Get("Location") != "/run/20261130T180000Z-compare" {
		t.Errorf("latest: %d, %q", status, header.Get("Location"))
	}
}

// TestNothingOutsideTheStoreIsServed tries what leads out: paths, links, a report that names other folders, a pipe.
func TestNothingOutsideTheStoreIsServed(t *testing.T) {
	const secret = "SECRET-OUTSIDE"
	root := store(t, "good")
	outside := t.TempDir()
	keep := keeping(t)
	keep.in(outside, "run", results.Run{Lock: secret, Scenario: "s", Testbed: "sim"})
	keep.write(filepath.Join(outside, results.HistoryFile), oneHistory+secret)
	keep.write(filepath.Join(outside, results.PlanFile), secret)
	keep.write(filepath.Join(root, ".hidden", results.VerdictsFile), `{"runs":[{"lock":"`+secret+`"}]}`)
	keep.write(filepath.Join(root, "bare.txt"), secret)
	link := func(to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(outside, "run"), filepath.Join(root, "linked"))
	link(filepath.Join(outside, "run", results.VerdictsFile), filepath.Join(root, "linked-verdicts", results.VerdictsFile))
	keep.in(root, "linked-history", results.Run{Lock: "l", Scenario: "s", Testbed: "sim"})
	os.RemoveAll(filepath.Join(root, "linked-history/0"))
	link(outside, filepath.Join(root, "linked-history/0/run"))
	link(filepath.Join(outside, results.HistoryFile), filepath.Join(root, "live", results.HistoryFile))
	up := "../../" + filepath.Base(filepath.Dir(outside)) + "/" + filepath.Base(outside)
	keep.write(filepath.Join(root, "climbing", results.VerdictsFile), fmt.Sprintf(`{"runs":[{"lock":"l","scenario":"s","dir":%q},{"lock":"m","scenario":"s","dir":%q}]}`, up, outside))
	keep.write(filepath.Join(root, "piped", results.VerdictsFile), `{"runs":[{"lock":"l","scenario":"s","dir":"."}]}`)
	if err := syscall.Mkfifo(filepath.Join(root, "piped", results.HistoryFile), 0o644); err != nil {
		t.Fatal(err)
	}
	server := serving(t, root)
	for _, target := range []string{
		"/run/linked", "/run/linked-verdicts", "/run/linked-history", "/run/climbing", "/run/piped", "/run/.hidden", "/run/bare.txt", "/run/", "/run/.", "/run/..",
		"/run/../good", "/run/..%2f..%2f" + filepath.Base(outside) + "%2frun", "/run/good%2f..%2f.hidden", "/run/%2e%2e", "/run/good/../../" + filepath.Base(outside),
		"/run/good/verdicts.json", "/run/" + strings.ReplaceAll(outside, "/", "%2f") + "%2frun", "/run/good%00", "/run/good/0/run/history.jsonl",
		"/live/live", "/live/linked", "/live/..%2f" + filepath.Base(outside), "/side?a=linked&b=..", "/", "/?q=" + secret, "/verdicts.json", "//etc/passwd", "/static/../serve.go",
	} {
		status, header, body := ask(t, server, "GET", target, here)
		if strings.Contains(strings.Replace(body, `value="`+secret+`"`, "", 1), secret) {
			t.Errorf("%s gives away what lies outside (%d)", target, status)
		}
		if header.Get("Content-Security-Policy") == "" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is answered without a policy: %v", target, header)
		}
	}
	for target, want := range map[string]int{"/run/linked": 404, "/run/.hidden": 404, "/run/%2e%2e": 404, "/run/good/verdicts.json": 404, "/run/linked-verdicts": 500, "/run/good": 200} {
		if status, _, _ := ask(t, server, "GET", target, here); status != want {
			t.Errorf("%s is answered with %d, want %d", target, status, want)
		}
	}
}

func TestForeignNamesAreRefused(t *testing.T) {
	server := serving(t, store(t, "run"))
	for host, want := range map[string]int{
		"127.0.0.1:8000": 200, "localhost:8000": 200, "LOCALHOST": 200, "[::1]:8000": 200, "192.168.1.5": 200,
		"evil.example": 421, "evil.example:8000": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example:80": 421,
	} {
		if status, _, _ := ask(t, server, "GET", "/", host); status != want {
			t.Errorf("%s is answered with %d, want %d", host, status, want)
		}
	}
}

func TestOnlyReadingIsAnswered(t *testing.T) {
	server := serving(t, store(t, "run"))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		if status, _, _ := ask(t, server, method, "/run/run", here); status != 405 {
			t.Errorf("%s is answered with %d", method, status)
		}
	}
}

func TestTheStoreIsSearched(t *testing.T) {
	root := store(t, "20261128T180000Z-old", "20261130T180000Z-new")
	keeping(t).in(root, "20261129T120000Z-mixed", results.Run{Lock: "single", Scenario: "reply-lost", Testbed: "sim"}, results.Run{Lock: "consensus", Scenario: "random", Testbed: "sim"})
	server := serving(t, root)
	for target, want := range map[string]string{
		"/": "new mixed old", "/?lock=single": "mixed", "/?scenario=pause-after-acquire": "new old", "/?q=A1": "new old", "/?q=CONSENSUS": "mixed",
		"/?lock=single&scenario=random": "", "/?from=2026-11-29": "new mixed", "/?to=2026-11-28": "old", "/?from=2026-11-29&to=2026-11-29": "mixed", "/?q=seed+7": "new mixed old",
	} {
		_, _, body := ask(t, server, "GET", target, here)
		var found []string
		for _, name := range []string{"20261130T180000Z-new", "20261129T120000Z-mixed", "20261128T180000Z-old"} {
			if strings.Contains(body, `href="/run/`+name+`"`) {
				found = append(found, name[strings.Index(name, "-")+1:])
			}
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s finds %q, want %q", target, got, want)
		}
	}
}

// TestARunUnderWayIsFollowed as its history grows, until it has verdicts.
func TestARunUnderWayIsFollowed(t *testing.T) {
	every = time.Millisecond
	root := t.TempDir()
	keep := keeping(t)
	lines := strings.SplitAfter(oneHistory, "\n")
	path := filepath.Join(root, "growing", "single", "s", "fenced", results.HistoryFile)
	keep.write(path, lines[0]+lines[1][:20])
	server := serving(t, root)
	if status, header, _ := ask(t, server, "GET", "/run/growing", here); status != 303 || header.Get("Location") != "/live/growing" {
		t.Errorf("%d, to %q", status, header.Get("Location"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/live/growing/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	stream := bufio.NewReader(answer.Body)
	next := func() state { return nextState(t, stream) }
	if s := next(); s.Begun != 1 || len(s.Tail) != 1 || s.Current != "single/s/fenced" || s.Done {
		t.Errorf("at first %+v", s)
	}
	keep.write(path, lines[0]+lines[1])
	s := next()
	for len(s.Tail) < 2 { // the file may be seen half written
		s = next()
	}
	if !strings.Contains(s.Tail[1], `"acquire"`) {
		t.Errorf("then %+v", s)
	}
	keep.in(root, "growing", results.Run{Lock: "single", Scenario: "s", Testbed: "sim"})
	for !s.Done {
		s = next()
	}
	if rest, err := io.ReadAll(stream); err != nil || len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("after the end came %q, %v", rest, err)
	}
	if status, _, _ := ask(t, server, "GET", "/run/growing", here); status != 200 {
		t.Errorf("the run that ended is answered with %d", status)
	}
}

// nextState reads the next server-sent event.
func nextState(t *testing.T, stream *bufio.Reader) (s state) {
	t.Helper()
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(text), &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
}

func TestTheStoreInABrowser(t *testing.T) {
	every = 50 * time.Millisecond
	root := store(t, "20261130T180000Z-compare", "20261129T180000Z-single")
	nasty := `<script>document.title="hacked"</script>`
	keep := keeping(t)
	keep.in(root, "20261128T180000Z-nasty", results.Run{Lock: nasty, Scenario: `"><img src=x>`, Testbed: nasty, Title: nasty})
	growing := filepath.Join(root, "20261201T180000Z-growing", results.HistoryFile)
	keep.write(growing, nasty+"\n")
	server := serving(t, root)
	b := browser.Open(t, 1440, 900)
	b.Do(chromedp.Navigate(server.URL + "/?q=script"))
	if text := browser.Eval[string](b, `document.body.textContent`); !strings.Contains(text, nasty) || browser.Eval[int](b, `document.querySelectorAll("main script, img").length`) > 0 {
		t.Error("a name is not text")
	}
	b.Do(chromedp.Navigate(server.URL))
	b.Shoot("list", true)
	for _, problem := range browser.Eval[struct{ Problems []string }](b, `audit()`, browser.WithAudit).Problems {
		t.Errorf("the list: %s", problem)
	}
	b.Do(chromedp.Click(chromedp.CSS(`input[value="20261130T180000Z-compare"]`)), chromedp.Click(chromedp.CSS(`input[value="20261129T180000Z-single"]`)),
		chromedp.Click(chromedp.CSS(`main form[action="/side"] button`)), chromedp.WaitReady(chromedp.CSS("iframe")))
	b.Wait(`[...document.querySelectorAll("iframe")].filter(f => f.contentDocument?.querySelector("[data-lanes]")?.view?.frames > 0).length === 2`)
	b.Shoot("side", false)
	b.Do(chromedp.Navigate(server.URL + "/live/20261201T180000Z-growing"))
	b.Wait(`document.querySelector("#tail").textContent.includes("document.title")`)
	keep.write(growing, nasty+"\nmore\n")
	b.Wait(`document.querySelector("#tail").textContent.includes("more")`)
	b.Shoot("live", false)
	keep.in(root, "20261201T180000Z-growing", results.Run{Lock: "single", Scenario: "s", Testbed: "sim"})
	b.Do(chromedp.WaitReady(chromedp.CSS("#matrix")))
	b.Wait(`location.pathname === "/run/20261201T180000Z-growing" && document.querySelector("[data-lanes]")?.view?.frames > 0`)
	if title := browser.Eval[string](b, `document.title`); strings.Contains(title, "hacked") {
		t.Error("a name was run")
	}
	for _, problem := range b.Complaints() {
		t.Errorf("the browser complains: %s", problem)
	}
}
