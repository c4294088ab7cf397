// Package page writes a report as one HTML file that needs nothing else: no network, no other file, no build step.
//
// The file has three parts. The front, HTML and CSS that is readable without scripts and in print: which lock kept
// exclusion and which the data, under which faults, and the matrix of locks and scenarios. The runs, one view each (its
// verdicts, figures, charts and how to repeat it, as HTML; its lanes, as package lanes draws them; its history and
// scenario), compressed, several of one scenario in a pack. And a script that opens a run and draws its lanes, which is
// the only thing that is drawn by script.
//
// Texts of a history reach the file through html/template, encoding/json and package svg, which escape them, and the page
// forbids itself by a Content-Security-Policy to run anything but its own script or to load anything.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"runtime"
	"strings"
	"sync"

	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/results/lanes"
)

//go:embed page.html run.html page.css picture.js lanes.js page.js
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"anchor": Anchor, "seconds": seconds,
}).ParseFS(files, "*.html"))

// Files are what is stored of one run. What is not there is nil.
type Files struct {
	History  []byte // as JSON lines
	Plan     []byte // plan.yaml
	Scenario []byte // the scenario's file, as it stands in the plan
}

// Source opens the files of a run of the report.
type Source func(results.Run) (Files, error)

// Write writes the report as a page. It reads the histories in parallel.
func Write(w io.Writer, r results.Report, open Source) error {
	views := makeViews(r, open)
	packs, index, err := pack(views)
	if err != nil {
		return err
	}
	front := newFront(r, views)
	front.Policy = Policy()
	front.Style, front.Script = template.CSS(Style()), template.JS(script())
	front.PictureStyle = template.CSS(lanes.StyleSheet)
	front.Packs, front.Index = packs, index
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, "page.html", front); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = w.Write(page.Bytes())
	return err
}

func embedded(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return string(text)
}

func script() string { return embedded("picture.js") + embedded("lanes.js") + embedded("page.js") }

// Style is the page's style sheet, for other pages that want to look like it.
func Style() string { return embedded("page.css") }

// Policy is the Content-Security-Policy that a page states about itself: it allows its script, styles, and pictures that
// the page makes itself.
func Policy() string {
	sum := sha256.Sum256([]byte(script()))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
}

// makeViews looks at the runs on all processors. The order of the views is that of the runs.
func makeViews(r results.Report, open Source) []*view {
	share := shares(r)
	views := make([]*view, len(r.Runs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				views[i] = newView(r, r.Runs[i], share[i], open)
			}
		})
	}
	for i := range r.Runs {
		next <- i
	}
	close(next)
	workers.Wait()
	return views
}

// Anchor is the address of a run within the page.
func Anchor(r results.Run) string { return "#" + url.PathEscape(key(r)) }

// key names a run of a page, in which one plan may have been run on several testbeds.
func key(r results.Run) string { return r.Testbed + "/" + r.Key() }

// place of a run: the pack, and which in it.
type place [2]int

// pack compresses the views, those of one scenario together, and says where each is.
func pack(views []*view) (packs template.HTML, index template.JS, err error) {
	var text strings.Builder
	places := map[string]place{}
	for n, group := range grouped(views) {
		shown, given := contents(group)
		for _, part := range []struct {
			name string
			of   any
		}{{"pack", shown}, {"files", given}} {
			blob, err := compress(part.of)
			if err != nil {
				return "", "", err
			}
			fmt.Fprintf(&text, "<script type=\"application/octet-stream\" id=\"%s-%d\">%s</script>\n", part.name, n, blob)
		}
		for i, v := range group {
			places[key(v.Run)] = place{n, i}
		}
	}
	list, err := json.Marshal(places) // which escapes <, > and &
	return template.HTML(text.String()), template.JS(list), err
}
