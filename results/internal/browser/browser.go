// Package browser drives a real Chromium through the DevTools protocol, for tests of what we write for browsers. Nothing
// but tests may use it.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is a page of a real browser that notes what should not happen. One goroutine uses it.
type Tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // errors on the console, uncaught exceptions
	requests []string // beyond the page itself
}

// Open starts a browser for one test. Without one the test is skipped, or fails if one was promised by
// LOCKFAULT_REQUIRE_BROWSER.
func Open(t *testing.T, width, height int) *Tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		const why = "NOT TESTED: no chromium on this machine; `make test-browser` installs it"
		if os.Getenv("LOCKFAULT_REQUIRE_BROWSER") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	allocator, stopBrowser := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.WindowSize(width, height), chromedp.WSURLReadTimeout(time.Minute))
	t.Cleanup(stopBrowser)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	b := &Tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	b.Do(command(network.Enable, network.EnableParams{}), command(cdplog.Enable, cdp.Empty{}),
		command(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}), chromedp.EmulateViewport(int64(width), int64(height)))
	return b
}

// command is an action that sends a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, c, params)
		return chromedp.Void{}, err
	}
}

func (b *Tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdpruntime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.ConsoleAPICalledTypeError || e.Type == cdpruntime.ConsoleAPICalledTypeWarning {
			b.problems = append(b.problems, fmt.Sprint(e.Type, e.Args))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			b.problems = append(b.problems, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if e.Type != network.ResourceTypeDocument && !strings.HasPrefix(e.Request.URL, "blob:") && !strings.HasPrefix(e.Request.URL, "data:") {
			b.requests = append(b.requests, e.Request.URL)
		}
	}
}

// Do carries out actions; a failure ends the test.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// File shows a file. Its address in the page may be empty.
func (b *Tab) File(path, hash string) {
	b.t.Helper()
	absolute, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Do(chromedp.Navigate("file://"+absolute+hash), chromedp.WaitReady(chromedp.CSS("html.scripted")))
}

// Eval runs a script, which may be a promise, and reads what it gives. Helpers go before it.
func Eval[T any](b *Tab, script string, helpers ...string) T {
	b.t.Helper()
	whole := "(async () => { " + strings.Join(helpers, "\n") + " return JSON.stringify(await (" + script + ")) ?? 'null' })()"
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](whole, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		b.t.Fatalf("%s gives %s: %v", script, text, err)
	}
	return value
}

// Wait until a script gives true. The browser looks at each frame.
func (b *Tab) Wait(condition string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		b.t.Fatalf("waited for %s: %v", condition, err)
	}
}

// Quiet demands that nothing went wrong and nothing was asked of a network.
func (b *Tab) Quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.t.Errorf("the browser complains: %s", problem)
	}
	for _, url := range b.requests {
		b.t.Errorf("the page asked for %s", url)
	}
}

// Shoot writes a picture for review to the folder screenshots, which git ignores.
func (b *Tab) Shoot(name string, whole bool) {
	b.t.Helper()
	action := chromedp.CaptureScreenshot()
	if whole {
		action = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll("screenshots", 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("screenshots", name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// Media pretends another medium or colour scheme; both empty are the browser's own.
func (b *Tab) Media(medium, scheme string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Media: medium}
	if scheme != "" {
		p.Features = []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	}
	b.Do(command(emulation.SetEmulatedMedia, p))
}

// Download clicks a link and returns the file that the browser saves.
func (b *Tab) Download(link string) []byte {
	b.t.Helper()
	dir := b.t.TempDir()
	ended := make(chan *cdpbrowser.EventDownloadProgress, 100)
	err := chromedp.ListenBrowser(b.ctx, func(event any) {
		if e, ok := event.(*cdpbrowser.EventDownloadProgress); ok && e.State != cdpbrowser.DownloadProgressStateInProgress {
			ended <- e
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	on := true
	_, err = chromedp.CallBrowser(b.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &on,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Do(chromedp.Click(chromedp.CSS(link)))
	select {
	case e := <-ended:
		text, err := os.ReadFile(filepath.Join(dir, e.GUID))
		if err != nil || e.State != cdpbrowser.DownloadProgressStateCompleted {
			b.t.Fatalf("download: %v, %v", e.State, err)
		}
		return text
	case <-b.ctx.Done():
		b.t.Fatal("the download does not end")
	}
	return nil
}

// Complaints are the errors on the console so far.
func (b *Tab) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

// MainThread is the time that the processor has spent on the page's main thread so far: what a page costs, however many
// others want the processor.
func (b *Tab) MainThread() time.Duration {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.t.Fatal("the browser does not tell the time of its main thread")
	return 0
}
