package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker"
)

func TestKeyNamesTheWholePlan(t *testing.T) {
	r := Run{Lock: "redlock", Scenario: "pause-after-acquire", Fencing: true, Seed: 42}
	if got, want := r.Key(), "redlock/pause-after-acquire/fenced#42"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutcomeNeverPassesForNothing(t *testing.T) {
	judged := func(got checker.Status, expected ...checker.Status) Run {
		r := Run{AsExpected: true, Verdicts: verdicts{"exclusion": {Status: got}}}
		for _, e := range expected {
			r.Expected = map[string]checker.Status{"exclusion": e}
		}
		return r
	}
	with := func(r Run, change func(*Run)) Run { change(&r); return r }
	for _, law := range []struct {
		name string
		run  Run
		want Outcome
	}{
		{"zero value", Run{}, Undecided},
		{"no verdicts, said to be as expected", Run{AsExpected: true}, Undecided},
		{"expected, not judged", Run{AsExpected: true, Expected: map[string]checker.Status{"exclusion": checker.Held}}, Undecided},
		{"held as expected", judged(checker.Held, checker.Held), AsExpected},
		{"violated as expected", judged(checker.Violated, checker.Violated), AsExpected},
		{"violation", judged(checker.Violated, checker.Held), NotAsExpected},
		{"expected violation did not show", judged(checker.Held, checker.Violated), NotAsExpected},
		{"held demanded, undecided", judged(checker.Undecided, checker.Held), Undecided},
		{"violation demanded, undecided", judged(checker.Undecided, checker.Violated), Undecided},
		{"nothing stated, decided", judged(checker.Held), AsExpected},
		{"nothing stated, undecided", judged(checker.Undecided), Undecided},
		{"nothing stated, one undecided that does not matter", with(judged(checker.Undecided), func(r *Run) { r.Verdicts["effects"] = held }), AsExpected},
		{"nothing stated, one undecided that matters", with(judged(checker.Undecided), func(r *Run) {
			r.Verdicts["effects"], r.AsExpected = held, false
		}), Undecided},
		{"nothing stated, a violation beside an undecided", with(judged(checker.Undecided), func(r *Run) {
			r.Verdicts["effects"], r.AsExpected = stale, false
		}), NotAsExpected},
		{"nothing stated, another reason", with(judged(checker.Held), func(r *Run) { r.AsExpected = false }), NotAsExpected},
		{"another reason", with(judged(checker.Held, checker.Held), func(r *Run) { r.AsExpected = false }), NotAsExpected},
		{"unsupported", Run{AsExpected: true, Unsupported: "no clock"}, Unsupported},
		{"error", with(judged(checker.Held, checker.Held), func(r *Run) { r.Error = "panic" }), Failed},
		{"violation beside an undecided", with(judged(checker.Undecided, checker.Held), func(r *Run) {
			r.Expected["effects"] = checker.Held
			r.Verdicts["effects"] = stale
		}), NotAsExpected},
	} {
		if got := law.run.Outcome(); got != law.want {
			t.Errorf("%s: got %v, want %v", law.name, got, law.want)
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	for _, width := range []int{0, 64, 80, 100, 200} {
		var out bytes.Buffer
		for _, r := range []Report{typical(), awkward(), {}} {
			for _, write := range []func(io.Writer, Report, Layout) error{WriteTable, WriteMatrix} {
				if err := write(&out, r, Layout{Width: width}); err != nil {
					t.Fatal(err)
				}
			}
			for _, run := range r.Runs {
				if err := WriteRun(&out, run, Layout{Width: width}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if width == 0 {
			width = 80
		}
		for line := range strings.Lines(out.String()) {
			path := strings.Contains(line, "history: ") // whole, to be copied
			if line = strings.TrimSuffix(line, "\n"); columns(line) > width && !path {
				t.Errorf("%d columns, want at most %d: %s", columns(line), width, line)
			}
		}
	}
}

func TestColourAddsNothingButColour(t *testing.T) {
	ansi := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, write := range []func(io.Writer, Report, Layout) error{WriteTable, WriteMatrix} {
		var plain, coloured bytes.Buffer
		if err := errors.Join(write(&plain, awkward(), Layout{}), write(&coloured, awkward(), Layout{Color: true})); err != nil {
			t.Fatal(err)
		}
		trailing := regexp.MustCompile(`(?m) +$`)
		if got := trailing.ReplaceAllString(ansi.ReplaceAllString(coloured.String(), ""), ""); got != plain.String() {
			t.Errorf("without colour:\n%s\nwith colour, taken away:\n%s", &plain, got)
		}
	}
}

func TestJSONSurvivesReading(t *testing.T) {
	for _, want := range []Report{typical(), awkward()} {
		var first, second bytes.Buffer
		if err := WriteJSON(&first, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadJSON(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&second, got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) || !reflect.DeepEqual(got.Summary(), want.Summary()) {
			t.Error("a report changed by being written and read")
		}
	}
}

func TestJSONWithoutRunsIsNoReport(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", `{"runs":null}`, `{"runs":[{"verdicts":{"exclusion":{"status":"fine"}}}]}`} {
		if _, err := ReadJSON(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as a report", text)
		}
	}
}

// aRun draws a run in which every text is anything at all.
func aRun(t *rapid.T) Run {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x1b[2J", "]]>", "\x00", "\ufffe", "\u202e", "\xff", "a|b`c"}))
	draw := func(name string) string { return text.Draw(t, name) }
	r := Run{
		Lock: draw("lock"), Scenario: draw("scenario"), Code: draw("code"), Title: draw("title"), Testbed: draw("testbed"),
		Fencing: rapid.Bool().Draw(t, "fencing"), Dir: draw("dir"), Unexpected: []string{draw("unexpected")},
		Verdicts: verdicts{draw("property"): {Status: checker.Violated, Witness: &checker.Witness{Sentence: draw("sentence")}}},
	}
	if rapid.Bool().Draw(t, "broken") {
		r.Error = draw("error")
	}
	return r
}

func TestAnyTextMakesWellFormedReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Report{Runs: rapid.SliceOfN(rapid.Custom(aRun), 0, 4).Draw(t, "runs")}
		var junit, table bytes.Buffer
		if err := WriteJUnit(&junit, r); err != nil {
			t.Fatal(err)
		}
		for decoder := xml.NewDecoder(&junit); ; {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(WriteTable(&table, r, Layout{}), WriteMatrix(&table, r, Layout{}), WriteMarkdown(&table, r))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table.String() {
			if c != '\n' && c < ' ' || c == '\u202e' {
				t.Fatalf("%q reaches the terminal", c)
			}
		}
	})
}

func TestAReasonIsShownWithItsRun(t *testing.T) {
	run := Run{Lock: "redlock", Scenario: "s", AsExpected: true, Because: "four of five clocks are right",
		Verdicts: map[string]checker.Verdict{checker.Exclusion: {Status: checker.Held}}}
	var with, without strings.Builder
	if err := WriteRun(&with, run, Layout{}); err != nil {
		t.Fatal(err)
	}
	run.Because = ""
	if err := WriteRun(&without, run, Layout{}); err != nil {
		t.Fatal(err)
	}
	const line = "  expected because four of five clocks are right\n"
	if !strings.Contains(with.String(), line) || strings.Contains(without.String(), "because") {
		t.Errorf("with a reason:\n%s\nwithout:\n%s", with.String(), without.String())
	}
}

// TestRunsThatWereNotMadeAreTold, and why: a command that is interrupted has not spent its budget.
func TestRunsThatWereNotMadeAreTold(t *testing.T) {
	for _, law := range []struct {
		report         Report
		junit, summary string
	}{
		{Report{NotRun: 124, Budget: time.Second, Elapsed: time.Second}, `message="124 runs were not made: the budget of 1s was spent"`, "; 124 more not run: the budget of 1s was spent"},
		{Report{NotRun: 1, Budget: time.Minute, Elapsed: time.Second}, `message="1 run was not made: the command ended before"`, "; 1 more not run"},
		{Report{NotRun: 2, Elapsed: time.Second}, `message="2 runs were not made: the command ended before"`, "; 2 more not run"},
	} {
		var junit bytes.Buffer
		if err := WriteJUnit(&junit, law.report); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{law.junit, `<testsuites name="lockfault" tests="1" failures="0" errors="0" skipped="1"`} {
			if !strings.Contains(junit.String(), want) {
				t.Errorf("want %s in\n%s", want, junit.String())
			}
		}
		if got := law.report.summary(); !strings.HasSuffix(got, law.summary) {
			t.Errorf("got %q, want %q at its end", got, law.summary)
		}
	}
}
