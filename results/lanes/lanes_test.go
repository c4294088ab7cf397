package lanes_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/results/internal/golden"
	"github.com/lockfault/lockfault/results/lanes"
)

// sample reads a history of testdata, recorded by lockfault run.
func sample(t testing.TB, name string) []history.Event {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, warnings, err := history.ReadAll(f, name)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return events
}

func draw(t testing.TB, events []history.Event) (*lanes.Drawing, map[string]checker.Verdict) {
	t.Helper()
	c, err := checker.NewCase(events)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := checker.Judge(events)
	if err != nil {
		t.Fatal(err)
	}
	return lanes.New(c, verdicts), verdicts
}

// samples: A1 on redlock without and with fencing, a lost node (C1), a failover (C4) and random faults (R1).
var samples = []string{"pause-unfenced", "pause-fenced", "restart", "failover", "random"}

func TestWritersLookAsTheyShould(t *testing.T) {
	for _, name := range samples {
		d, _ := draw(t, sample(t, name))
		for ending, write := range map[string]func(io.Writer) error{
			"svg":      func(w io.Writer) error { return d.WriteSVG(w, lanes.Picture{Title: name}) },
			"bare.svg": func(w io.Writer) error { return d.WriteSVG(w, lanes.Picture{Title: name, Bare: true}) },
			"txt":      func(w io.Writer) error { return d.WriteText(w, 80, checker.Exclusion, checker.Effects) },
			"trace":    d.WriteTrace,
			"json":     func(w io.Writer) error { return json.NewEncoder(w).Encode(d) },
		} {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, name+"."+ending, out.Bytes())
		}
	}
}

// Under a split brain another primary takes over as in a failover, and may know less.
func TestWhatAServerMayHaveLostIsDoubtful(t *testing.T) {
	doubtful := func(events []history.Event) int {
		d, _ := draw(t, events)
		n := 0
		for _, b := range d.Bars {
			if b.Sort == lanes.Stay && b.Doubtful {
				n++
			}
		}
		return n
	}
	events := sample(t, "failover")
	want := doubtful(events)
	for i := range events {
		if events[i].Op == "failover" {
			events[i].Op = "split-brain"
		}
	}
	if got := doubtful(events); want == 0 || got != want {
		t.Errorf("%d stays are doubtful under a split brain, %d in a failover", got, want)
	}
}

// element is one of a picture.
type element struct {
	name       string
	attributes map[string]string
}

func elements(t testing.TB, picture []byte) []element {
	t.Helper()
	var all []element
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		if start, ok := token.(xml.StartElement); ok {
			e := element{start.Name.Local, map[string]string{}}
			for _, a := range start.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			all = append(all, e)
		}
	}
}

func (e element) has(class string) bool {
	return slices.Contains(strings.Fields(e.attributes["class"]), class)
}

// witnessed are the elements that stand for a witness.
func witnessed(all []element) []element {
	return slices.DeleteFunc(slices.Clone(all), func(e element) bool { return !e.has("witness") || e.name == "line" })
}

// missing tells which event that the verdicts name is not in the picture with its lease, its fence and its time.
func missing(all []element, events []history.Event, verdicts map[string]checker.Verdict) []string {
	var lost []string
	for property, verdict := range verdicts {
		if verdict.Witness == nil || property != checker.Exclusion && property != checker.Effects {
			continue
		}
		for _, i := range verdict.Witness.Events {
			e := events[i]
			at := fmt.Sprint(int64(e.Time))
			shown := slices.ContainsFunc(witnessed(all), func(shown element) bool {
				a := shown.attributes
				same := a["data-lease"] == e.Lease && (e.Fence == 0 || a["data-fence"] == fmt.Sprint(e.Fence)) || a["data-fault"] == e.Process
				return same && (a["data-from-ns"] == at || a["data-to-ns"] == at)
			})
			if !shown {
				lost = append(lost, fmt.Sprintf("%s: event %d, %s of lease %q with fence %d at %v", property, i, e.Op, e.Lease, e.Fence, e.Time))
			}
		}
	}
	return lost
}

// TestThePictureShowsWhatWasJudged finds each event of the witness in the picture: its lease, its fence and its time. It
// does not if the picture is of another witness.
func TestThePictureShowsWhatWasJudged(t *testing.T) {
	for _, name := range samples {
		events := sample(t, name)
		d, verdicts := draw(t, events)
		var picture bytes.Buffer
		if err := d.WriteSVG(&picture, lanes.Picture{Title: name}); err != nil {
			t.Fatal(err)
		}
		all := elements(t, picture.Bytes())
		if lost := missing(all, events, verdicts); len(lost) > 0 || len(witnessed(all)) < 3 {
			t.Errorf("%s: %d elements of the witness; not in the picture: %q", name, len(witnessed(all)), lost)
		}
		verdicts[checker.Exclusion] = checker.Verdict{Status: checker.Violated, Witness: &checker.Witness{Events: []int{len(events) - 1, 1}}}
		if lost := missing(all, events, verdicts); len(lost) == 0 {
			t.Errorf("%s: the picture is taken for that of any witness", name)
		}
	}
}

// TestBarsAreTheBeliefsThatExclusionJudged: two holders at once are two bars that overlap, and nowhere else do any.
func TestBarsAreTheBeliefsThatExclusionJudged(t *testing.T) {
	for _, name := range samples {
		d, verdicts := draw(t, sample(t, name))
		overlap := false
		for i, a := range d.Bars {
			for _, b := range d.Bars[:i] {
				if a.Sort == lanes.Believed && b.Sort == lanes.Believed && a.Lock == b.Lock && a.Client != b.Client && a.From < b.To && b.From < a.To {
					overlap = true
				}
			}
		}
		if violated := verdicts[checker.Exclusion].Status == checker.Violated; overlap != violated {
			t.Errorf("%s: exclusion violated: %v, bars overlap: %v", name, violated, overlap)
		}
	}
}

func TestTheGapBetweenBeliefAndServersIsSeen(t *testing.T) {
	d, _ := draw(t, sample(t, "pause-fenced"))
	var believed, served lanes.Bar
	for _, b := range d.Bars {
		switch {
		case b.Lease == "A/1" && b.Sort == lanes.Believed:
			believed = b
		case b.Lease == "A/1" && b.Sort == lanes.Served:
			served = b
		}
	}
	if gap := believed.To - served.To; served.From > believed.From || gap < 4*time.Second || gap > 5*time.Second {
		t.Errorf("A believes from %v to %v, and the servers have its lease from %v to %v", believed.From, believed.To, served.From, served.To)
	}
	var picture bytes.Buffer
	if err := d.WriteSVG(&picture, lanes.Picture{}); err != nil {
		t.Fatal(err)
	}
	gaps := 0
	for _, e := range elements(t, picture.Bytes()) {
		if e.has("gap") && e.attributes["data-gap-ns"] == fmt.Sprint(int64(believed.To-served.To)) {
			gaps++
		}
	}
	if gaps != 1 {
		t.Errorf("the gap is drawn %d times", gaps)
	}
}

func TestRejectedAndStaleWritesAreMarked(t *testing.T) {
	for name, want := range map[string]lanes.Mark{"pause-unfenced": lanes.Stale, "pause-fenced": lanes.Rejected} {
		d, _ := draw(t, sample(t, name))
		marks := map[lanes.Kind][]string{}
		for _, tick := range d.Ticks {
			if tick.Mark == want {
				kind := d.Lanes[tick.Lane].Kind
				marks[kind] = append(marks[kind], tick.Lease)
			}
		}
		if !slices.Contains(marks[lanes.Client], "A/1") || !slices.Contains(marks[lanes.Resource], "A/1") {
			t.Errorf("%s: %v marks are on %v", name, want, marks)
		}
	}
}

func TestTraceIsWhatPerfettoReads(t *testing.T) {
	d, _ := draw(t, sample(t, "pause-fenced"))
	var out bytes.Buffer
	if err := d.WriteTrace(&out); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
			Pid, Tid int
			Args     map[string]any
			ID       int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	named, used, flows := map[int]bool{}, map[int]bool{}, map[int]string{}
	for _, e := range trace.TraceEvents {
		switch {
		case e.Name == "thread_name":
			named[e.Tid] = true
		case e.Ph == "X" || e.Ph == "i":
			used[e.Tid] = true
			if e.Ts < 0 || e.Dur < 0 || e.Ts+e.Dur > float64(d.End)/1e3+1 {
				t.Errorf("%s lies at %v for %v", e.Name, e.Ts, e.Dur)
			}
		case e.Ph == "s" || e.Ph == "f":
			flows[e.ID] += e.Ph
		}
	}
	for thread := range used {
		if !named[thread] {
			t.Errorf("thread %d has no name", thread)
		}
	}
	for id, ends := range flows {
		if ends != "sf" {
			t.Errorf("flow %d has the ends %q", id, ends)
		}
	}
	if len(used) < 10 || len(flows) < 2 {
		t.Errorf("%d threads, %d flows", len(used), len(flows))
	}
}

// TestAnyNamesMakeWellFormedPictures with what a history may call its processes.
func TestAnyNamesMakeWellFormedPictures(t *testing.T) {
	base := sample(t, "pause-fenced")
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.StringN(1, 20, -1), rapid.SampledFrom([]string{"<b>", "]]>", "\x1b[2J", "\x00", "\"'&", "\u202e", "A-B", "all", "замок"}))
		names := map[string]string{"A": text.Draw(r, "A"), "B": text.Draw(r, "B"), "stock": text.Draw(r, "stock"), "n1": text.Draw(r, "n1")}
		if names["A"] == names["B"] {
			return
		}
		events := slices.Clone(base)
		for i := range events {
			e := &events[i]
			for _, field := range []*string{&e.Process, &e.Resource, &e.By} {
				if name, ok := names[*field]; ok {
					*field = name
				}
			}
		}
		c, err := checker.NewCase(events)
		if err != nil {
			return
		}
		d := lanes.New(c, map[string]checker.Verdict{text.Draw(r, "property"): {Witness: &checker.Witness{Sentence: text.Draw(r, "sentence"), Events: []int{-1, 3, 1 << 30}}}})
		var picture, plain bytes.Buffer
		if err := d.WriteSVG(&picture, lanes.Picture{Title: text.Draw(r, "title")}); err != nil {
			r.Fatal(err)
		}
		for decoder := xml.NewDecoder(&picture); ; {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				r.Fatal(err)
			}
		}
		if err := d.WriteText(&plain, 80); err != nil {
			r.Fatal(err)
		}
		for _, c := range plain.String() {
			if c != '\n' && c < ' ' || c == '\u202e' {
				r.Fatalf("%q reaches the terminal", c)
			}
		}
	})
}

func TestEmptyHistoriesAreDrawn(t *testing.T) {
	for _, events := range [][]history.Event{nil, {{Process: "A", Type: history.Invoke, Op: history.Acquire, Lease: "A/1"}}} {
		d, _ := draw(t, events)
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { return d.WriteSVG(w, lanes.Picture{}) }, func(w io.Writer) error { return d.WriteText(w, 80) }, d.WriteTrace,
		} {
			if err := write(io.Discard); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPicturesOfLargeHistoriesStaySmall, with a violation and without, and say what they leave out.
func TestPicturesOfLargeHistoriesStaySmall(t *testing.T) {
	var events []history.Event
	add := func(e history.Event) {
		e.Index, e.Time = len(events), time.Duration(len(events))*time.Millisecond
		events = append(events, e)
	}
	for i := range 20_000 {
		client := fmt.Sprintf("c%d", i%30)
		for _, op := range []history.Op{history.Acquire, history.Release} {
			add(history.Event{Process: client, Type: history.Invoke, Op: op, Resource: "stock", Lease: fmt.Sprint(i)})
			add(history.Event{Process: client, Type: history.Ok, Op: op, Resource: "stock", Lease: fmt.Sprint(i)})
		}
	}
	d, _ := draw(t, events)
	for _, stories := range [][]lanes.Story{nil, {{Property: checker.Exclusion, Sentence: "they collide", Events: []int{1, len(events) - 3}, To: d.End}}} {
		d.Stories = stories
		var picture, text bytes.Buffer
		if err := d.WriteSVG(&picture, lanes.Picture{}); err != nil {
			t.Fatal(err)
		}
		if err := d.WriteText(&text, 80); err != nil {
			t.Fatal(err)
		}
		if picture.Len() > 150_000 || text.Len() > 5_000 || !strings.Contains(picture.String(), "more leases are not drawn") {
			t.Errorf("with %d stories: %d bytes of SVG, %d of text", len(stories), picture.Len(), text.Len())
		}
	}
}

// TestACutKeepsTheWitness and the causes of what it keeps.
func TestACutKeepsTheWitness(t *testing.T) {
	d, _ := draw(t, sample(t, "random"))
	cut := d.Near(60)
	if len(cut.Ticks) >= len(d.Ticks) || len(cut.Ticks) < 30 {
		t.Errorf("%d of %d operations are left of 60", len(cut.Ticks), len(d.Ticks))
	}
	story := cut.Stories[0]
	for _, event := range story.Events {
		found := slices.ContainsFunc(cut.Ticks, func(t lanes.Tick) bool { return t.Event == event || t.Invoke == event }) ||
			slices.ContainsFunc(cut.Bars, func(b lanes.Bar) bool { return b.Event == event }) ||
			slices.ContainsFunc(cut.Bands, func(b lanes.Band) bool { return b.Event == event })
		if !found {
			t.Errorf("event %d of the witness is cut off", event)
		}
	}
	for _, tick := range cut.Ticks {
		if tick.Cause >= 0 && (cut.Ticks[tick.Cause].Lease != tick.Lease || cut.Ticks[tick.Cause].Op != tick.Op) {
			t.Errorf("the write of %s has a call of %s for its cause", tick.Lease, cut.Ticks[tick.Cause].Lease)
		}
	}
}
