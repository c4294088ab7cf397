package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// parse reads a file that must be sound.
func parse(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

func TestEveryKeyOfAFileIsRead(t *testing.T) {
	text := `title: >
  The holder
  stops
code: X1
source: 2016
ttl: 2s
horizon: 1m
data: inventory
stock: 7
clients:
  A:
    - acquire
    - acquire: {at: 1s, wait: 3s}
    - work: 4s
    - work: {after: B acquired + 5ms, for: 6s}
    - extend
    - check
    - read: {timeout: 7ms}
    - write: {value: 8}
    - release: {at: 9s}
  B: [acquire]
faults:
  - pause: A
    at: 10ms
    for: 11ms
    optional: true
expect:
  - violated: [exclusion]
`
	after := nemesis.Trigger{At: 5 * time.Millisecond, Moment: nemesis.Moment{Edge: nemesis.After, Client: "B", Op: "acquire", Nth: 1}}
	want := &Scenario{
		Name: "test", Title: "The holder stops", Code: "X1", Source: "2016", TTL: 2 * time.Second, Horizon: time.Minute,
		Data: InventoryData, Stock: 7, Text: text,
		Clients: []Client{
			{Name: "A", Steps: []Step{
				{Op: history.Acquire, For: 6 * time.Second}, // three times to live
				{Op: history.Acquire, For: 3 * time.Second, When: nemesis.Trigger{At: time.Second}},
				{Op: Work, For: 4 * time.Second},
				{Op: Work, For: 6 * time.Second, When: after},
				{Op: history.Extend, For: time.Second}, // half a time to live
				{Op: history.Check},
				{Op: history.Read, For: 7 * time.Millisecond},
				{Op: history.Write, For: time.Second, Value: 8},
				{Op: history.Release, For: time.Second, When: nemesis.Trigger{At: 9 * time.Second}},
			}},
			{Name: "B", Steps: []Step{{Op: history.Acquire, For: 6 * time.Second}}},
		},
		Faults: nemesis.Schedule{{
			Fault: nemesis.Pause{Client: "A"}, When: nemesis.Trigger{At: 10 * time.Millisecond}, For: 11 * time.Millisecond, Optional: true,
		}},
		Expect: []Rule{{Violated: []string{"exclusion"}}},
	}
	if got := parse(t, text); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWhatAFileLeavesOutHasADefault(t *testing.T) {
	s := parse(t, ok)
	if s.TTL != 10*time.Second || s.Horizon != 2*time.Minute || s.Data != RegisterData || s.Stock != 10 {
		t.Errorf("ttl %v, horizon %v, %v with %d", s.TTL, s.Horizon, s.Data, s.Stock)
	}
	r := parse(t, "title: x\nrandom: {}\n").Random
	if want := (Random{Clients: 3, Sections: 5, Faults: 4, Kinds: nemesis.RandomKinds}); !reflect.DeepEqual(*r, want) {
		t.Errorf("random draws %+v, want %+v", *r, want)
	}
}

func TestTheHorizonLeavesRoomForEverySection(t *testing.T) {
	few, many := parse(t, "title: x\nrandom: {sections: 1}\n"), parse(t, "title: x\nrandom: {sections: 100}\n")
	if few.Horizon != 12*few.TTL {
		t.Errorf("3 sections end at %v", few.Horizon)
	}
	if many.Horizon < 300*many.TTL/3 {
		t.Errorf("300 sections of at least a third of %v end at %v", many.TTL, many.Horizon)
	}
	if s := parse(t, "title: x\nhorizon: 20s\nrandom: {sections: 100}\n"); s.Horizon != 20*time.Second {
		t.Errorf("horizon: 20s was read as %v", s.Horizon)
	}
}

func TestTheTTLIsTheUnitOfDefaultsWhereverItStands(t *testing.T) {
	first, last := parse(t, "ttl: 4s\n"+ok), parse(t, ok+"ttl: 4s\n")
	if !reflect.DeepEqual(first.Clients, last.Clients) || first.Horizon != last.Horizon {
		t.Errorf("first: %+v\nlast:  %+v", first, last)
	}
	if first.Clients[0].Steps[0].For != 12*time.Second {
		t.Errorf("an acquire waits %v", first.Clients[0].Steps[0].For)
	}
}

func TestEditorsAndQuotesMakeNoDifference(t *testing.T) {
	want := parse(t, ok)
	for law, text := range map[string]string{
		"a byte order mark":   "\ufeff" + ok,
		"Windows' line ends":  strings.ReplaceAll(ok, "\n", "\r\n"),
		"quotes":              "\"title\": 'x'\n'clients': {\"A\": [\"acquire\", 'write'], B: [acquire]}\n",
		"blocks":              "title: |\n  x\nclients:\n  A:\n  - acquire\n  - write\n  B:\n  - acquire\n",
		"comments":            "# what\ntitle: x # this\nclients: {A: [acquire, write], B: [acquire]} # who\n",
		"a document's marks":  "---\n" + ok + "...\n",
		"nothing said at all": ok + "faults: []\nexpect: []\n",
		"empty keys":          "title: x\nclients: {A: [acquire: {}, write], B: [acquire]}\n",
	} {
		got := parse(t, text)
		got.Text = want.Text
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", law, got, want)
		}
	}
}

func TestAScenarioHasTheNameOfItsFile(t *testing.T) {
	for file, want := range map[string]string{
		"a.yaml": "a", "dir.d/b.yml": "b", "a.yml.yaml": "a.yml", "c": "c", "../my ticket.yaml": "my ticket", "v1.2.yaml": "v1.2",
	} {
		s, err := Parse(file, []byte(ok))
		if err != nil || s.Name != want {
			t.Errorf("%s is called %q (%v), want %q", file, s.Name, err, want)
		}
	}
}

func TestAFileIsFoundByPathAndNamedInItsMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if _, err := Find(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there gives %v", err)
	}
	if err := os.WriteFile(path, []byte(ok), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Find(path); err != nil || s.Name != "mine" || s.Text != ok {
		t.Errorf("read as %+v, %v", s, err)
	}
	if err := os.WriteFile(path, []byte("title: x\nclient: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(path); err == nil || !strings.HasPrefix(err.Error(), path+":2:1: ") {
		t.Errorf("a mistake gives %v", err)
	}
	if err := os.Truncate(path, 1<<40); err == nil { // sparse
		if _, err := Find(path); err == nil || !strings.Contains(err.Error(), "larger than 1024 KiB") {
			t.Errorf("a terabyte gives %v", err)
		}
	}
}

// The YAML library would need minutes for these; that they are refused by their shape is what keeps Parse quick.
func TestHostileShapesAreRefusedBeforeTheyAreParsed(t *testing.T) {
	for _, unit := range []string{"[", "{a: ", "- ", "? ", "- - ", "[{a: ", "a:\n ", "a:\n", "a: {", "- x\n"} {
		_, err := Parse("x.yaml", []byte(strings.Repeat(unit, 1<<16/len(unit))))
		if err == nil || !strings.HasSuffix(err.Error(), ": this is no scenario") {
			t.Errorf("%q without end: %v", unit, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	all, err := Catalogue()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range all {
		f.Add(s.Text)
	}
	for _, b := range broken {
		if len(b.text) < 1<<10 {
			f.Add(b.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("fuzz.yaml", []byte(text))
		if err != nil {
			checkMistake(t, text, err)
			return
		}
		checkSound(t, s)
	})
}

// checkMistake holds an error to its promises: a type, a place inside the file, a message of one line.
func checkMistake(t *testing.T, text string, err error) {
	var mistake *FileError
	if !errors.As(err, &mistake) {
		t.Fatalf("%v is a %T", err, err)
	}
	if lines := strings.Count(strings.ReplaceAll(text, "\r", "\n"), "\n") + 1; mistake.Line < 0 || mistake.Line > lines {
		t.Errorf("line %d of %d: %v", mistake.Line, lines, err)
	}
	if (mistake.Line == 0) != (mistake.Column == 0) || mistake.Message == "" || strings.ContainsFunc(mistake.Message, unicode.IsControl) {
		t.Errorf("line %d, column %d, %q", mistake.Line, mistake.Column, mistake.Message)
	}
}

// checkSound holds a scenario to what Parse promises.
func checkSound(t *testing.T, s *Scenario) {
	if s.Title == "" || s.TTL < time.Millisecond || s.Horizon < s.TTL || s.TTL > longest || (s.Random == nil) == (len(s.Clients) == 0) {
		t.Errorf("%+v is not sound", s)
	}
	for _, c := range s.Clients {
		for _, step := range c.Steps {
			if step.For < 0 || step.When.At < 0 || step.For == 0 && step.Op != history.Check {
				t.Errorf("%s has the step %+v", c.Name, step)
			}
		}
	}
	if s.Random != nil && s.Random.Clients*s.Random.Sections > 1000 {
		return
	}
	if _, err := s.Expand(1, fiveNodes); err != nil && !errors.Is(err, nemesis.ErrUnsupported) {
		t.Errorf("on five nodes: %v", err)
	}
	again, err := Parse(s.Name+".yaml", []byte(s.Text))
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("its own text gives %+v (%v), not %+v", again, err, s)
	}
}
