package page_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/internal/browser"
	"github.com/lockfault/lockfault/results/page"
)

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

func TestTwiceAsManyLocksFitOnPaper(t *testing.T) {
	report, err := results.Load(comparisonFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Runs {
		r.Lock += "-2"
		report.Runs = append(report.Runs, r)
	}
	b := browser.Open(t, 1047, 720)
	b.File(writePage(t, report, page.Files{}), "")
	b.Media("print", "")
	if cut := browser.Eval[bool](b, `[...document.querySelectorAll(".scroll")].some(s => s.scrollWidth > s.clientWidth + 1)`); cut {
		t.Error("a table is wider than the paper")
	}
	b.Shoot("front-print-many", true)
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
