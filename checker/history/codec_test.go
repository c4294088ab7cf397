package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// anEvent draws any event that may stand at the index.
func anEvent(index int, after time.Duration) *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		number := rapid.Int64()
		text := rapid.OneOf(rapid.String(), rapid.StringN(0, 8, -1), rapid.SampledFrom([]string{
			"", "A", "n1", `"\`, "<script>&", "\x00\x1f\x7f\n\t", "\u2028\u2029", "замок", "\xff\xfe",
		}))
		word := text.Filter(func(s string) bool { return s != "" })
		e := Event{
			Index:    index,
			Time:     after + time.Duration(rapid.Int64Range(0, int64(math.MaxInt64-after)/2).Draw(t, "time")),
			Process:  word.Draw(t, "process"),
			Role:     rapid.SampledFrom([]Role{Client, Node, Resource, Nemesis, Harness}).Draw(t, "role"),
			Type:     Type(rapid.IntRange(int(Invoke), int(Info)).Draw(t, "type")),
			Op:       Op(word.Draw(t, "op")),
			Resource: text.Draw(t, "resource"),
			Lease:    text.Draw(t, "lease"),
			By:       text.Draw(t, "by"),
			Value:    number.Draw(t, "value"),
			Version:  number.Draw(t, "version"),
			Fence:    number.Draw(t, "fence"),
			Until:    time.Duration(number.Draw(t, "until")),
			Error:    text.Draw(t, "error"),
		}
		if rapid.Bool().Draw(t, "detailed") {
			e.Detail = rapid.MapOfN(text, text, 0, 5).Draw(t, "detail")
		}
		return e
	})
}

func TestWriterWritesWhatEncodingJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anEvent(0, 0).Draw(t, "event")
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendJSON(nil, e); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestHistorySurvivesWritingAndReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Event
		var file bytes.Buffer
		w := NewWriter(&file)
		now := time.Duration(0)
		for i := range rapid.IntRange(0, 8).Draw(t, "length") {
			e := anEvent(i, now).Draw(t, "event")
			now = e.Time
			want = append(want, asRead(t, e))
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		got, warnings, err := ReadAll(iotest.OneByteReader(&file), "h")
		if err != nil || warnings != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v, %v, %v\nwant %+v", got, warnings, err, want)
		}
	})
}

// asRead is the event with broken UTF-8 repaired and an empty detail left out, by way of encoding/json alone.
func asRead(t *rapid.T, e Event) (out Event) {
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const two = `{"index":0,"time_ns":0,"process":"A","type":"invoke","op":"acquire"}
{"index":1,"time_ns":5,"process":"A","type":"ok","op":"acquire","fence":33}
`

func TestCutOffLastLineIsLeftOutWithAWarning(t *testing.T) {
	last := `{"index":2,"time_ns":9,"process":"A","type":"info","op":"lost"}`
	for cut := 1; cut < len(last); cut++ {
		events, warnings, err := ReadAll(strings.NewReader(two+last[:cut]), "run/history.jsonl")
		want := fmt.Sprintf("run/history.jsonl:3: the last line is cut off after %d bytes and was left out", cut)
		if len(events) != 2 || err != nil || len(warnings) != 1 || warnings[0] != want {
			t.Fatalf("cut at %d: %d events, %q, %v", cut, len(events), warnings, err)
		}
	}
	events, warnings, err := ReadAll(strings.NewReader(two+last), "h")
	if len(events) != 3 || warnings != nil || err != nil {
		t.Errorf("only the newline is missing: %d events, %q, %v", len(events), warnings, err)
	}
}

func TestBrokenLineIsAnErrorThatNamesIt(t *testing.T) {
	event := func(fields string) string { return `{"index":2,"time_ns":5,` + fields + "}\n" }
	for _, law := range []struct{ name, line, want string }{
		{"bad JSON", "{\"index\":2,,}\n", "h:3: bad JSON at byte 12: invalid character ',' looking for beginning of object key string"},
		{"EDN", "{:index 2, :process 0}\n", "h:3: EDN in a history that began as JSON lines"},
		{"cut off but not last", "{\"index\":2,\n", "h:3: bad JSON: the line ends early"},
		{"two on a line", strings.TrimSpace(event(`"process":"A","type":"ok","op":"read"`)) + "{}\n", "h:3: bad JSON: more after the event, at byte 62"},
		{"empty line", "\n", "h:3: empty line"},
		{"no object", "[1]\n", "h:3: an event is a JSON object, not array"},
		{"null", "null\n", "h:3: no type"},
		{"unknown field", event(`"procces":"A","type":"ok","op":"read"`), `h:3: unknown field "procces"`},
		{"unknown type", event(`"process":"A","type":"okay","op":"read"`), `h:3: event type "okay" is none of invoke, ok, fail, info`},
		{"no type", event(`"process":"A","op":"read"`), "h:3: no type"},
		{"wrong kind", event(`"process":7,"type":"ok","op":"read"`), `h:3: field "process" cannot be number`},
		{"too large a number", event(`"process":"A","type":"ok","op":"read","fence":9223372036854775808`), `h:3: field "fence" cannot be number 9223372036854775808`},
		{"no process", event(`"type":"ok","op":"read"`), "h:3: no process"},
		{"no op", event(`"process":"A","type":"ok"`), "h:3: no op"},
		{"unknown role", event(`"process":"n1","role":"nod","type":"ok","op":"key-set"`), `h:3: role "nod" is none of node, resource, nemesis, harness (a client has none)`},
		{"index skipped", `{"index":3,"time_ns":5,"process":"A","type":"ok","op":"read"}` + "\n", "h:3: index 3 does not follow: expected 2, as events are numbered from 0"},
		{"index repeated", `{"index":1,"time_ns":5,"process":"A","type":"ok","op":"read"}` + "\n", "h:3: index 1 does not follow: expected 2, as events are numbered from 0"},
		{"time back", `{"index":2,"time_ns":4,"process":"A","type":"ok","op":"read"}` + "\n", "h:3: time runs backwards: 4 ns after 5 ns"},
		{"last, whole, but wrong", `{"index":2}`, "h:3: no type"},
		{"long line", strings.Repeat(" ", MaxLine+1) + "\n", "h:3: line longer than 1048576 bytes"},
		{"long line without end", strings.Repeat("x", 3*MaxLine), "h:3: line longer than 1048576 bytes"},
	} {
		t.Run(law.name, func(t *testing.T) {
			events, _, err := ReadAll(strings.NewReader(two+law.line), "h")
			if err == nil || err.Error() != law.want {
				t.Errorf("got  %v\nwant %s", err, law.want)
			}
			if len(events) != 2 {
				t.Errorf("%d events before the broken line, want 2", len(events))
			}
		})
	}
}

func TestLongestLineIsReadAndWritten(t *testing.T) {
	var file bytes.Buffer
	bare := len(`{"index":0,"time_ns":0,"process":"A","type":"fail","op":"acquire","error":""}`)
	e := Event{Process: "A", Type: Fail, Op: Acquire, Error: strings.Repeat("x", MaxLine-bare)}
	if err := NewWriter(&file).Write(e); err != nil {
		t.Fatal(err)
	}
	if events, _, err := ReadAll(&file, "h"); len(events) != 1 || err != nil {
		t.Errorf("%d events, %v", len(events), err)
	}
	e.Error += "x"
	if err := NewWriter(&file).Write(e); err == nil {
		t.Error("a line that cannot be read was written")
	}
}

func TestReadFailureIsAnErrorNotACutOffLine(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(two+`{"index":2`), iotest.ErrReader(errors.New("input/output error")))
	events, warnings, err := ReadAll(broken, "h")
	if len(events) != 2 || warnings != nil || err == nil || err.Error() != "h:3: input/output error" {
		t.Errorf("%d events, %q, %v", len(events), warnings, err)
	}
}

func TestWriterRefusesWhatAReaderWould(t *testing.T) {
	good := Event{Process: "A", Type: Ok, Op: Read, Time: 5}
	for name, spoil := range map[string]func(*Event){
		"no type":       func(e *Event) { e.Type = 0 },
		"no such type":  func(e *Event) { e.Type = 9 },
		"no process":    func(e *Event) { e.Process = "" },
		"no op":         func(e *Event) { e.Op = "" },
		"no such role":  func(e *Event) { e.Role = 9 },
		"index skipped": func(e *Event) { e.Index = 2 },
		"time back":     func(e *Event) { e.Time = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			w := NewWriter(&file)
			if err := w.Write(good); err != nil {
				t.Fatal(err)
			}
			before := file.Len()
			next := good
			next.Index = 1
			spoil(&next)
			if w.Write(next) == nil || file.Len() != before {
				t.Errorf("wrote %s", file.Bytes()[before:])
			}
		})
	}
}

// full is a disk that takes so many bytes.
type full struct{ room int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, len(p))
	f.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestFirstWriteErrorIsKept(t *testing.T) {
	disk := &full{room: 100}
	w := NewWriter(disk)
	e := Event{Process: "A", Type: Ok, Op: Acquire}
	if err := w.Write(e); err != nil {
		t.Fatal(err)
	}
	e.Index = 1
	first := w.Write(e)
	disk.room = 1000 // a line after the half-written one would be unreadable
	e.Index = 2
	if again := w.Write(e); !errors.Is(first, errFull) || again != first || w.Err() != first || disk.room != 1000 {
		t.Errorf("first %v, then %v, kept %v", first, again, w.Err())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte(two + `{"index":2`))
	f.Add([]byte(`{"index":0,"time_ns":-1}` + "\n\n\x00"))
	f.Add([]byte(strings.Repeat("[", 20_000) + "\n"))
	for _, text := range jepsenSamples {
		f.Add([]byte(text))
	}
	f.Add(zipped(two))
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := NewReader(bytes.NewReader(data), "h")
		events, err := reader.ReadAll()
		if err != nil && !strings.HasPrefix(err.Error(), "h:") {
			t.Errorf("error without its place: %v", err)
		}
		if w := reader.Warnings(); reader.Format() == JSONLines && (len(w) > 1 || len(w) == 1 && err != nil) {
			t.Errorf("warnings %q with error %v", w, err)
		}
		var file bytes.Buffer
		w := NewWriter(&file)
		for _, e := range events {
			if err := w.Write(e); err != nil {
				if strings.Contains(err.Error(), "more than the") {
					return // escapes made the line longer than it was
				}
				t.Fatalf("read but not written again: %v", err)
			}
		}
		again, warnings, err := ReadAll(&file, "again")
		if err != nil || warnings != nil || !reflect.DeepEqual(again, tidy(events)) {
			t.Errorf("second reading differs: %v, %v", warnings, err)
		}
	})
}

// tidy leaves out empty details, which are not written.
func tidy(events []Event) []Event {
	for i := range events {
		if len(events[i].Detail) == 0 {
			events[i].Detail = nil
		}
	}
	return events
}

func BenchmarkWriter(b *testing.B) {
	w := NewWriter(io.Discard)
	e := Event{Process: "A", Type: Ok, Op: Acquire, Resource: "stock", Lease: "A#1", Fence: 33, Until: 10 * time.Second}
	for i := 0; b.Loop(); i++ {
		e.Index, e.Time = i, time.Duration(i)*time.Millisecond
		if err := w.Write(e); err != nil {
			b.Fatal(err)
		}
	}
}
