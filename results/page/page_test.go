package page_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/internal/browser"
	"github.com/lockfault/lockfault/results/lanes"
	"github.com/lockfault/lockfault/results/page"
)

const violatedCell = `a.side[aria-label^="redlock, pause-after-acquire, without fences"]`

// witnessInView tells whether the lanes show all that the first story is about, and have been drawn.
const witnessInView = `(() => {
	const view = document.querySelector("[data-lanes]").view, story = view.data.stories[0];
	const box = view.canvas.getBoundingClientRect();
	return view.frames > 0 && +view.canvas.dataset.from <= story.from && +view.canvas.dataset.to >= story.to &&
		story.to - story.from > 0.5 * (view.to - view.from) && box.top < innerHeight && box.width > 200;
})()`

const drawn = `document.querySelector("[data-lanes]")?.view?.frames > 0`

func TestAComparisonOpensFromAFileWithoutAskingForAnything(t *testing.T) {
	b := browser.Open(t, 1440, 1000)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	if links := browser.Eval[int](b, `document.querySelectorAll("#matrix a.side").length`); links < 400 {
		t.Errorf("%d cells can be opened", links)
	}
	if answers := browser.Eval[int](b, `document.querySelectorAll(".answers tbody tr").length`); answers < 11 {
		t.Errorf("%d locks are answered for", answers)
	}
	b.Shoot("front-light", true)
	b.Quiet()
}

func TestAClickOnAViolationShowsItsLanes(t *testing.T) {
	b := browser.Open(t, 1440, 1000)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	b.Do(chromedp.Click(chromedp.CSS(violatedCell)))
	b.Wait(drawn)
	b.Wait(witnessInView)
	heading := browser.Eval[string](b, `document.querySelector("#h-run").textContent`)
	if !strings.Contains(heading, "redlock") || !strings.Contains(heading, "pause-after-acquire") || !strings.Contains(heading, "without fences") {
		t.Errorf("the run is headed %q", heading)
	}
	if sentence := browser.Eval[string](b, `document.querySelector(".story").textContent`); !strings.Contains(sentence, "B was granted at 10.021 s while A") {
		t.Errorf("the story is %q", sentence)
	}
	if reds := browser.Eval[int](b, `countInk("bad")`, browser.WithInk); reds < 200 {
		t.Errorf("%d pixels of the lanes are in the colour of a violation", reds)
	}
	for _, download := range []string{"history", "scenario", "plan", "picture"} {
		size := browser.Eval[int](b, fmt.Sprintf(`+[...document.querySelectorAll("[data-downloads] button")].find(a => a.textContent.includes(%q)).dataset.bytes`, download))
		if size < 100 {
			t.Errorf("the download of the %s has %d bytes", download, size)
		}
	}
	want, err := os.ReadFile(filepath.Join(comparisonFolder(t), "redlock/pause-after-acquire/unfenced", results.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Download(`[data-downloads] button`); !bytes.Equal(got, want) {
		t.Errorf("the history that the page gives out has %d bytes and is not the stored one of %d", len(got), len(want))
	}
	b.Shoot("run-light", true)
	b.Quiet()
}

func TestAnInnocentRunShowsNoViolation(t *testing.T) {
	b := browser.Open(t, 1440, 1000)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "#"+url.PathEscape("sim/consensus/node-restarts-empty/fenced#1"))
	b.Wait(drawn)
	if stories := browser.Eval[int](b, `document.querySelectorAll(".story:not(.fine)").length`); stories != 0 {
		t.Errorf("%d stories of violations", stories)
	}
	if wide := browser.Eval[bool](b, `(v => v.from <= 0 && v.to >= v.data.end)(document.querySelector("[data-lanes]").view)`); !wide {
		t.Error("a history without a violation does not begin with the whole")
	}
	b.Quiet()
}

func TestTheKeyboardAloneLeadsToTheWitness(t *testing.T) {
	b := browser.Open(t, 1440, 1000)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	const inMatrix = `document.activeElement.matches("a.side")`
	for range 20 {
		if browser.Eval[bool](b, inMatrix) {
			break
		}
		b.Do(chromedp.KeyEvent(kb.Tab))
	}
	if !browser.Eval[bool](b, inMatrix) {
		t.Fatal("the tab key does not lead into the matrix")
	}
	for range 8 { // from none to redlock
		b.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	label := browser.Eval[string](b, `document.activeElement.getAttribute("aria-label")`)
	if !strings.HasPrefix(label, "redlock, pause-after-acquire, without fences: holders at once two") {
		t.Fatalf("the arrows lead to %q", label)
	}
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(drawn)
	b.Wait(witnessInView)
	for range 30 {
		if browser.Eval[bool](b, `document.activeElement.matches("canvas")`) {
			break
		}
		b.Do(chromedp.KeyEvent(kb.Tab))
	}
	b.Do(chromedp.KeyEvent("0"), chromedp.KeyEvent("n"))
	if told := browser.Eval[string](b, `document.querySelector(".lanes-read").textContent`); !strings.Contains(told, " s: A, acquire, ok") {
		t.Errorf("the first event is told as %q", told)
	}
	before := browser.Eval[float64](b, `(v => v.to - v.from)(document.querySelector("[data-lanes]").view)`)
	for range 30 {
		b.Do(chromedp.KeyEvent("+"))
	}
	after := browser.Eval[float64](b, `(v => v.to - v.from)(document.querySelector("[data-lanes]").view)`)
	if before < 16e9 || after > 1e6 {
		t.Errorf("the lanes show %v ns and, after zooming in, %v ns; want the whole, and less than a millisecond", before, after)
	}
	b.Do(chromedp.KeyEvent("w"))
	b.Wait(witnessInView) // in the next picture
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`!document.querySelector("#front").hidden`)
	if now := browser.Eval[string](b, `document.activeElement.getAttribute("aria-label") || ""`); now != label {
		t.Errorf("after Escape the focus is on %q, not on the cell it came from", now)
	}
	b.Quiet()
}

// TestAHundredThousandOperationsStayFluid measures the beginning, up to the first picture of the lanes, and then the frames
// while the view pans, over the whole and in the midst. What is demanded is the time of the processor, which does not
// depend on what else the machine does; of a machine that has nothing else to do, the time on the clock as well.
func TestAHundredThousandOperationsStayFluid(t *testing.T) {
	if os.Getenv("LOCKFAULT_REQUIRE_BROWSER") == "" {
		t.Skip("NOT TESTED: it measures time, and other packages are being tested; `make test-browser` runs it alone")
	}
	run, files := judged(t, "busy", "many", manyOperations(100_000))
	path := writePage(t, results.Report{Runs: []results.Run{run}}, files)
	idle := idle()
	b := browser.Open(t, 1440, 1000)
	b.File(path, "")
	b.Wait(drawn)
	opened := time.Duration(browser.Eval[float64](b, `document.querySelector("[data-lanes]").view.firstPicture`) * float64(time.Millisecond))
	cost := b.MainThread()
	t.Logf("interactive after %v, of which the processor worked %v; the machine is idle: %v", opened.Round(time.Millisecond), cost.Round(time.Millisecond), idle)
	if opened <= 0 || cost <= 0 || cost > 2*time.Second || idle && opened > 2*time.Second {
		t.Errorf("the lanes of 100,000 operations are interactive after %v, of which the processor worked %v; want less than 2 s", opened, cost)
	}
	for _, of := range []struct {
		what  string
		share float64
	}{{"the whole", 1}, {"a tenth", 0.1}, {"a thousandth", 0.001}} {
		before := b.MainThread()
		frames := browser.Eval[[2]float64](b, fmt.Sprintf(`pan(%v)`, of.share), browser.WithPan)
		perFrame := time.Duration(float64(b.MainThread()-before) / frames[0])
		t.Logf("%s pans at %.0f frames a second; the processor works %v for each", of.what, frames[1], perFrame.Round(10*time.Microsecond))
		if perFrame <= 0 || perFrame > time.Second/30 || idle && frames[1] < 30 {
			t.Errorf("%s pans at %.0f frames a second, and the processor works %v for each; want 30 frames", of.what, frames[1], perFrame)
		}
	}
	b.Shoot("many", false)
	b.Quiet()
}

// idle tells whether fewer programs want to run than there are processors, as far as the system says.
func idle() bool {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return false
	}
	load, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	return err == nil && load < float64(runtime.NumCPU())
}

func TestNamesInAHistoryStayText(t *testing.T) {
	nasty := []string{`<script>window.hacked=1</script>`, `<img src=x onerror="window.hacked=1">`, `"><svg onload=window.hacked=1>`, "</script><b>&amp;{{.}}"}
	run, files := judged(t, nasty[0], nasty[1], twoHolders(nasty[1], nasty[2], nasty[3]))
	run.Title, run.Code, run.Because = nasty[0], nasty[3], nasty[2]
	files.Scenario = []byte(nasty[0] + nasty[3])
	report := results.Report{Command: nasty[0], Versions: map[string]string{nasty[1]: nasty[3]}, Runs: []results.Run{run, {Lock: nasty[2], Scenario: nasty[1], Unsupported: nasty[0]}}}
	b := browser.Open(t, 1440, 1000)
	b.File(writePage(t, report, files), "")
	b.Do(chromedp.Click(chromedp.CSS("a.side")))
	b.Wait(drawn)
	if hacked := browser.Eval[bool](b, `"hacked" in window || document.querySelector("main img, main script, main b b") !== null`); hacked {
		t.Error("a name became markup")
	}
	text := browser.Eval[string](b, `document.querySelector("#run").textContent + document.querySelector("#front").textContent`)
	for _, name := range nasty {
		if !strings.Contains(text, name) {
			t.Errorf("%q is not on the page as text", name)
		}
	}
	b.Quiet()
}

// TestAPageOfFiftyScenariosIsSmall has all histories in it.
func TestAPageOfFiftyScenariosIsSmall(t *testing.T) {
	folder := comparisonFolder(t)
	report, err := results.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	scenarios := map[string]bool{}
	for _, r := range report.Runs {
		scenarios[r.Scenario] = true
	}
	names := len(scenarios)
	for _, r := range report.Runs[:len(report.Runs)*max(0, 50-names)/names] {
		r.Scenario += "-again"
		report.Runs = append(report.Runs, r)
		scenarios[r.Scenario] = true
	}
	if len(scenarios) < 50 {
		t.Fatalf("only %d scenarios", len(scenarios))
	}
	var out bytes.Buffer
	missing := 0
	err = page.Write(&out, report, func(r results.Run) (page.Files, error) {
		text, err := os.ReadFile(filepath.Join(folder, r.Dir, results.HistoryFile))
		if err != nil && r.Unsupported == "" {
			missing++
		}
		return page.Files{History: text}, err
	})
	if err != nil || missing > 0 {
		t.Fatal(err, missing)
	}
	t.Logf("%d scenarios, %d runs: %d bytes", len(scenarios), len(report.Runs), out.Len())
	if out.Len() > 3<<20 {
		t.Errorf("a page of %d scenarios has %d bytes", len(scenarios), out.Len())
	}
}

// TestPicturesOfTheCatalogueShowWhatWasJudged goes through every stored run with a violation: the events that its
// verdicts.json names are in its picture, marked.
func TestPicturesOfTheCatalogueShowWhatWasJudged(t *testing.T) {
	folder := comparisonFolder(t)
	report, err := results.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, r := range report.Runs {
		if r.Verdicts[checker.Exclusion].Status != checker.Violated {
			continue
		}
		f, err := os.Open(filepath.Join(folder, r.Dir, results.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := history.ReadAll(f, r.Key())
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		c, err := checker.NewCase(events)
		if err != nil {
			t.Fatal(err)
		}
		var picture bytes.Buffer
		d := lanes.New(c, r.Verdicts)
		if err := d.WriteSVG(&picture, lanes.Picture{Properties: []string{checker.Exclusion}}); err != nil {
			t.Fatal(err)
		}
		for _, i := range r.Verdicts[checker.Exclusion].Witness.Events {
			e := events[i]
			want := fmt.Sprintf(`data-lease="%s"`, e.Lease)
			if e.Role == history.Nemesis {
				want = fmt.Sprintf(`data-fault="%s"`, e.Process)
			}
			found := false
			for line := range strings.Lines(picture.String()) {
				time := strings.Contains(line, fmt.Sprintf(`data-from-ns="%d"`, e.Time)) || strings.Contains(line, fmt.Sprintf(`data-to-ns="%d"`, e.Time))
				fence := e.Fence == 0 || strings.Contains(line, fmt.Sprintf(`data-fence="%d"`, e.Fence))
				found = found || strings.Contains(line, want) && time && fence && strings.Contains(line, "witness")
			}
			if !found {
				t.Errorf("%s: event %d, %s of %s at %v, is not in the picture", r.Key(), i, e.Op, e.Process, e.Time)
			}
		}
		shown++
	}
	if shown < 100 {
		t.Errorf("only %d violations were looked at", shown)
	}
}

func TestABrokenHistoryCostsItsOwnRunOnly(t *testing.T) {
	good, files := judged(t, "good", "pause", twoHolders("A", "B", "stock"))
	bad, missing, failed := good, good, good
	bad.Lock, missing.Lock, failed.Lock = "bad", "missing", "failed"
	failed.Error, failed.Verdicts = "panic: <nil>", nil
	var out bytes.Buffer
	err := page.Write(&out, results.Report{Runs: []results.Run{good, bad, missing, failed}}, func(r results.Run) (page.Files, error) {
		switch r.Lock {
		case "bad":
			return page.Files{History: []byte("{\"index\":1}\n")}, nil
		case "missing":
			return page.Files{}, os.ErrPermission
		case "failed":
			return page.Files{}, nil
		}
		return files, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, 1000, 800)
	b.File(path, "")
	for lock, want := range map[string]string{"good": "exclusion violated", "bad": "cannot be drawn", "missing": "could not be read", "failed": "panic: <nil>"} {
		b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#hand%%2F%s%%2Fpause%%2Funfenced%%231"`, lock)))
		b.Wait(fmt.Sprintf(`document.body.dataset.shown === "hand/%s/pause/unfenced#1"`, lock))
		if text := browser.Eval[string](b, `document.querySelector("#run").textContent`); !strings.Contains(text, want) {
			t.Errorf("the run of %s does not say %q:\n%s", lock, want, text)
		}
	}
	b.Quiet()
}

func TestTheSameReportGivesTheSamePage(t *testing.T) {
	run, files := judged(t, "redlock", "pause", twoHolders("A", "B", "stock"))
	other := run
	other.Fencing = true
	report := results.Report{When: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Runs: []results.Run{run, other}}
	pages := map[string]bool{}
	for range 4 {
		var out bytes.Buffer
		if err := page.Write(&out, report, func(results.Run) (page.Files, error) { return files, nil }); err != nil {
			t.Fatal(err)
		}
		pages[out.String()] = true
	}
	if len(pages) != 1 {
		t.Errorf("%d different pages", len(pages))
	}
}
