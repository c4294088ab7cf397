package page_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
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

// TestAHundredThousandOperationsStayFluid measures from the beginning of the navigation to the first picture of the lanes,
// and then the frames while the view pans, over the whole and in the midst.
func TestAHundredThousandOperationsStayFluid(t *testing.T) {
	if os.Getenv("LOCKFAULT_REQUIRE_BROWSER") == "" {
		t.Skip("NOT TESTED: it measures time, and other packages are being tested; `make test-browser` runs it alone")
	}
	run, files := judged(t, "busy", "many", manyOperations(100_000))
	path := writePage(t, results.Report{Runs: []results.Run{run}}, files)
	b := browser.Open(t, 1440, 1000)
	b.File(path, "")
	b.Wait(drawn)
	opened := browser.Eval[float64](b, `new Promise(done => { const v = document.querySelector("[data-lanes]").view; v.zoom(0.9); requestAnimationFrame(() => requestAnimationFrame(() => done(v.firstPicture))); })`)
	t.Logf("interactive after %.0f ms", opened)
	if opened <= 0 || opened > 2000 {
		t.Errorf("the lanes of 100,000 operations are interactive after %.0f ms, want less than 2000", opened)
	}
	idle := browser.Eval[float64](b, `idleRate()`, browser.WithPan)
	want := min(30, 0.8*idle) // a machine that has other things to do cannot give more
	t.Logf("an idle page has %.0f frames a second", idle)
	for _, of := range []struct {
		what  string
		share float64
	}{{"the whole", 1}, {"a tenth", 0.1}, {"a thousandth", 0.001}} {
		rate := browser.Eval[float64](b, fmt.Sprintf(`panRate(%v)`, of.share), browser.WithPan)
		t.Logf("%s pans at %.0f frames a second", of.what, rate)
		if rate < want {
			t.Errorf("%s pans at %.0f frames a second, want %.0f", of.what, rate, want)
		}
	}
	b.Shoot("many", false)
	b.Quiet()
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

// finding is what the audit of a page says.
type finding struct {
	Texts    int      `json:"texts"`
	Problems []string `json:"problems"`
}

func TestEverybodyCanReadThePage(t *testing.T) {
	b := browser.Open(t, 1440, 1000)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	audit := func(what string) {
		t.Helper()
		found := browser.Eval[finding](b, `audit()`, browser.WithAudit)
		if found.Texts < 100 {
			t.Errorf("%s: only %d texts were looked at", what, found.Texts)
		}
		for _, problem := range found.Problems[:min(20, len(found.Problems))] {
			t.Errorf("%s: %s", what, problem)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Media("", scheme)
		audit("the front, " + scheme)
		b.Do(chromedp.Click(chromedp.CSS(violatedCell)))
		b.Wait(drawn)
		audit("a run, " + scheme)
		b.Do(chromedp.KeyEvent(kb.Escape))
		b.Wait(`!document.querySelector("#front").hidden`)
	}
}

func TestTheAuditFindsWhatIsWrong(t *testing.T) {
	run, files := judged(t, "redlock", "pause", twoHolders("A", "B", "stock"))
	b := browser.Open(t, 1000, 800)
	b.File(writePage(t, results.Report{Runs: []results.Run{run}}, files), "")
	b.Wait(drawn)
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("main").insertAdjacentHTML("beforeend",
		'<p style="color:#999">pale</p><button></button><table><tr><th>head</th></tr></table><h4>deep</h4><i id="main">x</i>' +
		'<div style="width:50px;overflow:auto"><span>wwwwwwwwwwwwwwwwwwwwww</span></div>')`))
	found := strings.Join(browser.Eval[finding](b, `audit()`, browser.WithAudit).Problems, "\n")
	for _, want := range []string{"contrast 2.85, want 4.5: p pale", "no name: button", "no scope: th head", "id twice: main", "scrolls and cannot be focused: div"} {
		if !strings.Contains(found, want) {
			t.Errorf("the audit does not find %q; it finds\n%s", want, found)
		}
	}
}

func TestThePageFitsAPhoneAndADarkRoom(t *testing.T) {
	b := browser.Open(t, 390, 844)
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	fits := func(what string) {
		t.Helper()
		if width := browser.Eval[int](b, `document.documentElement.scrollWidth`); width > 390 {
			t.Errorf("%s is %d pixels wide on a phone of 390", what, width)
		}
	}
	fits("the front")
	b.Shoot("front-phone", false)
	b.Do(chromedp.Click(chromedp.CSS(violatedCell)))
	b.Wait(drawn)
	fits("a run")
	b.Shoot("run-phone", true)
	b.Media("", "dark")
	b.Do(chromedp.EmulateViewport(1440, 1000))
	b.Wait(`getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)"`)
	b.Wait(`document.querySelector("[data-lanes]").view.paint.paper !== "#fff"`)
	b.Shoot("run-dark", true)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`!document.querySelector("#front").hidden`)
	b.Shoot("front-dark", true)
	b.Quiet()
}

// TestAMonochromePrintOfTheMatrixIsReadable prints on A4: nothing is cut off, and no two cells that say different things
// look the same without colour.
func TestAMonochromePrintOfTheMatrixIsReadable(t *testing.T) {
	b := browser.Open(t, 1047, 720) // A4 landscape without margins
	b.File(filepath.Join(comparisonFolder(t), results.PageFile), "")
	b.Media("print", "")
	if cut := browser.Eval[bool](b, `[...document.querySelectorAll(".scroll")].some(s => s.scrollWidth > s.clientWidth + 1)`); cut {
		t.Error("a table is wider than the paper")
	}
	looks := browser.Eval[map[string][]string](b, `Object.fromEntries(Object.entries(Object.groupBy(document.querySelectorAll("#matrix a.side"),
		a => a.innerText.replace(/\s+/g, " "))).map(([text, all]) => [text, [...new Set(all.map(a => a.getAttribute("aria-label").replace(/^.*?: /, "")))]]))`)
	for text, meanings := range looks {
		if len(meanings) != 1 {
			t.Errorf("%q in print means %q", text, meanings)
		}
	}
	if len(looks) < 5 {
		t.Errorf("only %d kinds of cells: %v", len(looks), looks)
	}
	if colours := browser.Eval[[]string](b, `[...new Set([...document.querySelectorAll("#matrix *")].map(e => getComputedStyle(e).color))].filter(c => { const [r, g, b] = c.match(/\d+/g); return r !== g || g !== b })`); len(colours) > 0 {
		t.Errorf("the matrix is printed in %v", colours)
	}
	b.Shoot("front-print", true)
	b.Media("", "")
	b.Do(chromedp.Click(chromedp.CSS(violatedCell)))
	b.Wait(drawn)
	b.Media("print", "")
	if !browser.Eval[bool](b, `(s => s && s.getBoundingClientRect().height > 100)(document.querySelector("[data-picture] svg"))`) {
		t.Error("the picture is not printed")
	}
	b.Shoot("run-print", true)
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
