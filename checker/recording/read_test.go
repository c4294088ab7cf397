package recording

import (
	"os"
	"strings"
	"testing"
	"time"
)

const good = `{"host":"web-1","process":"p","op":"acquire","client":"w","lock":"stock","lease":"l","outcome":"ok",` +
	`"began":"2026-11-30T21:00:00.1Z","ended":"2026-11-30T21:00:00.102Z","fence":33}`

func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	lines, warnings, err := Read(strings.NewReader(good+"\n\n"+good), "f")
	if err != nil || len(warnings) > 0 || len(lines) != 2 {
		t.Fatalf("%v, %v, %v", lines, warnings, err)
	}
	l := lines[1]
	if l.Fence != 33 || l.Ended.Sub(l.Began) != 2*time.Millisecond || l.Place() != "f:3" {
		t.Errorf("%+v", l)
	}
}

// TestTheDocumentedLinesAreLines: those of the package comment.
func TestTheDocumentedLinesAreLines(t *testing.T) {
	text, err := os.ReadFile("line.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if example, ok := strings.CutPrefix(line, "//\t{"); ok {
			if _, _, err := Read(strings.NewReader("{"+example), "f"); err != nil {
				t.Error(err)
			}
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d examples", n)
	}
}

func TestACutOffLineIsLeftOut(t *testing.T) {
	lines, warnings, err := Read(strings.NewReader(good[:50]+"\n"+good+"\n"+good[:70]), "f")
	if err != nil || len(lines) != 1 || len(warnings) != 2 || !strings.HasPrefix(warnings[1], "f:3: ") {
		t.Errorf("%v, %v, %v", lines, warnings, err)
	}
}

func TestAWrongLineSaysWhatToDo(t *testing.T) {
	for from, to := range map[string][2]string{
		`"host":"web-1",`:                  {``, "f:1: no host"},
		`"process":"p",`:                   {``, "no process"},
		`"op":"acquire"`:                   {`"op":"lock"`, `op "lock" is none of acquire`},
		`"client":"w",`:                    {``, "no client"},
		`"lease":"l",`:                     {``, "no lease: give each grant a name of its own"},
		`"outcome":"ok"`:                   {`"outcome":"yes"`, `outcome "yes" is none of ok, fail, unknown`},
		`"began":`:                         {`"start":`, "start"},
		`"began":"2026-11-30T21:00:00.1Z"`: {`"began":"2026-11-30T21:00:09Z"`, "before it began"},
		`33}`:                              {`33} {}`, "more than one value"},
		`"fence":33`:                       {`"fence":"33"`, "fence"},
	} {
		text := strings.Replace(good, from, to[0], 1)
		if text == good {
			t.Fatalf("%s is not there", from)
		}
		if _, _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), to[1]) {
			t.Errorf("%s: got %v, want %q", text, err, to[1])
		}
	}
}

func TestAWrongTimeSaysWhatToDo(t *testing.T) {
	const right = `"2026-11-30T21:00:00.102Z"`
	for wrong, want := range map[string]string{
		`"2026-11-30T21:00:00.102"`: `f:1: ended: "2026-11-30T21:00:00.102" has no zone: write the time with its zone, such as 2026-11-30T21:00:00.102Z`,
		`"2026-11-30T21:00:00"`:     `has no zone`,
		`1796072400.102`:            `f:1: ended: a time is text, such as "2026-11-30T21:00:00.102Z"`,
		`{}`:                        `a time is text`,
		`"2026-11-30 21:00:00Z"`:    `ended: "2026-11-30 21:00:00Z" is not a time as RFC 3339 has it: write it with its zone, such as 2026-11-30T21:00:00.102Z`,
		`"21:00"`:                   `is not a time`,
		`""`:                        `is not a time`,
	} {
		text := strings.Replace(good, right, wrong, 1)
		if text == good {
			t.Fatal("there is no time to replace")
		}
		if _, _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", wrong, err, want)
		}
	}
	for _, name := range []string{"began", "until"} {
		text := `{"host":"web-1","` + name + `":1}`
		if _, _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), name+": a time is text") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestAByteOrderMarkIsSkippedAtTheBeginning(t *testing.T) {
	const mark = "\ufeff"
	if !Is([]byte(mark + good)) {
		t.Error("it is no recording")
	}
	lines, warnings, err := Read(strings.NewReader(mark+good+"\n"+good), "f")
	if err != nil || len(warnings) > 0 || len(lines) != 2 {
		t.Errorf("%v, %v, %v", lines, warnings, err)
	}
	if _, _, err := Read(strings.NewReader(good+"\n"+mark+good), "f"); err == nil || !strings.HasPrefix(err.Error(), "f:2: ") {
		t.Errorf("in the middle: %v", err)
	}
}

func TestARecordingIsToldFromAHistory(t *testing.T) {
	for text, want := range map[string]bool{
		good: true,
		`{"index":0,"time_ns":0,"process":"test","role":"harness","type":"info","op":"begin","detail":{"host":"x"}}`: false,
		`{:process 0, :type :invoke, :f :acquire, :host "a"}`:                                                        false,
		"": false,
	} {
		if Is([]byte(text)) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
}
