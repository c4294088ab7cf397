package scenarios

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func storedPlan() PlanFile {
	return PlanFile{
		Lock: "redlock", Scenario: "pause", Fencing: true, Seed: 1<<64 - 1, Speed: 2.5, Testbed: "sim",
		Versions: map[string]string{"lockfault": "v1.0", "go": "1.26"}, Text: ok,
	}
}

func TestAPlanComesBackAsItWasStored(t *testing.T) {
	for law, change := range map[string]func(*PlanFile){
		"as it is":               func(*PlanFile) {},
		"nothing optional":       func(p *PlanFile) { p.Speed, p.Versions, p.Fencing, p.Seed = 0, nil, false, 0 },
		"no line end at the end": func(p *PlanFile) { p.Text = strings.TrimSuffix(ok, "\n") },
		"lines at the end":       func(p *PlanFile) { p.Text = ok + "\n\n" },
		"Windows' line ends":     func(p *PlanFile) { p.Text = strings.ReplaceAll(ok, "\n", "\r\n") },
		"an indented first line": func(p *PlanFile) { p.Text = "  # later\n" + ok },
		"a tab to begin with":    func(p *PlanFile) { p.Text = "#\t\n" + ok },
		"blanks at line ends":    func(p *PlanFile) { p.Text = strings.ReplaceAll(ok, "\n", "  \n") },
		"a byte order mark":      func(p *PlanFile) { p.Text = "\ufeff" + ok },
		"a document's marks":     func(p *PlanFile) { p.Text = "---\n" + ok + "...\n" },
		"one line":               func(p *PlanFile) { p.Text = `{title: "x", clients: {A: [acquire]}}` },
		"a name with a suffix":   func(p *PlanFile) { p.Scenario = "a.yml" },
		"a name that is a no":    func(p *PlanFile) { p.Scenario = "no" },
		"a name that is null":    func(p *PlanFile) { p.Scenario = "null" },
		"a version of lines":     func(p *PlanFile) { p.Versions = map[string]string{"go": " 1\r\n2 "} },
		"a name with a colon":    func(p *PlanFile) { p.Scenario = "a: b # c" },
	} {
		p := storedPlan()
		change(&p)
		data, err := p.Marshal()
		if err != nil {
			t.Errorf("%s: %v", law, err)
			continue
		}
		got, s, err := ParsePlan("plan.yaml", data)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %+v (%v), want %+v from\n%s", law, got, err, p, data)
			continue
		}
		if s.Name != p.Scenario || s.Text != p.Text {
			t.Errorf("%s: the scenario is %q with the text %q", law, s.Name, s.Text)
		}
	}
}

func TestAPlanIsStoredForPeople(t *testing.T) {
	data, err := storedPlan().Marshal()
	if err != nil || !strings.Contains(string(data), "\ntext: |\n  title: x\n") {
		t.Errorf("%v in\n%s", err, data)
	}
}

func TestAnyTextComesBackToTheByte(t *testing.T) {
	odd := rapid.StringOf(rapid.RuneFrom([]rune(" \n\r\t\"'\\:#-{}[]|>%&*!?~né☃\u2028\u0085\ufeff\x00\x07\U0001F512")))
	texts := rapid.OneOf(odd, rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		p := PlanFile{
			Lock: texts.Draw(t, "lock"), Scenario: texts.Draw(t, "scenario"), Testbed: texts.Draw(t, "testbed"), Text: texts.Draw(t, "text"),
			Fencing: rapid.Bool().Draw(t, "fencing"), Seed: rapid.Uint64().Draw(t, "seed"),
			Speed: rapid.Float64Range(0, 1e9).Draw(t, "speed"), Versions: rapid.MapOf(texts, texts).Draw(t, "versions"),
		}
		if len(p.Versions) == 0 {
			p.Versions = nil
		}
		data, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		// The scenario in it is none; the plan is there all the same.
		if got, _, _ := ParsePlan("plan.yaml", data); !reflect.DeepEqual(got, p) {
			t.Errorf("got  %+v\nwant %+v\nfrom %q", got, p, data)
		}
	})
}

func TestATextThatIsNotUTF8IsNotStored(t *testing.T) {
	p := storedPlan()
	p.Text = "title: caf\xe9\n"
	if data, err := p.Marshal(); err == nil {
		t.Errorf("stored as %q", data)
	}
}

func TestABrokenPlanIsAnError(t *testing.T) {
	const plan = "lock: single\nscenario: x\ntestbed: sim\n"
	for _, tt := range []struct {
		law, text, want string
		place           bool
	}{
		{"an unknown key", plan + "sed: 1\n", `plan.yaml:4:1: unknown field "sed"`, true},
		{"a seed that is no number", plan + "seed: many\n", `plan.yaml:4:7: cannot unmarshal string into Go struct field PlanFile.Seed of type uint64`, true},
		{"no YAML", "lock: \"single\n", `plan.yaml:1:7: could not find end character of double-quoted text`, true},
		{"no text", plan, `plan.yaml: not the plan of one run: lock, scenario or text is missing`, false},
		{"nothing", "", `plan.yaml: not the plan of one run: lock, scenario or text is missing`, false},
		{"a speed that runs back", plan + "text: x\nspeed: -1\n", `plan.yaml: speed: want a positive number, not -1`, false},
		{"a speed without end", plan + "text: x\nspeed: .inf\n", `plan.yaml: speed: want a positive number, not +Inf`, false},
		{"a scenario with a mistake", plan + "text: |\n  title: y\n  client: {}\n", `x.yaml:2:1: scenario: unknown key "client"; known are title, ` +
			`code, source, ttl, horizon, data, stock, clients, faults, random, expect`, true},
	} {
		_, s, err := ParsePlan("plan.yaml", []byte(tt.text))
		if s != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.law, err, tt.want)
		}
		var mistake *FileError
		if errors.As(err, &mistake) != tt.place {
			t.Errorf("%s: the error is a %T", tt.law, err)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	data, err := storedPlan().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, s, err := ParsePlan("plan.yaml", data)
		if err != nil {
			return
		}
		checkSound(t, s)
		if again, err := p.Marshal(); err != nil {
			t.Errorf("%+v, read from %q, cannot be stored: %v", p, data, err)
		} else if q, _, err := ParsePlan("plan.yaml", again); err != nil || !p.same(q) {
			t.Errorf("%+v comes back as %+v (%v)", p, q, err)
		}
	})
}
