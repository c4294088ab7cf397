package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// sameAsDecode holds the scanner to encoding/json: what it takes, decode takes, and as the same event.
func sameAsDecode(t interface {
	Helper()
	Fatalf(string, ...any)
}, line []byte) {
	t.Helper()
	var s scanner
	for _, before := range []string{"", two[:strings.IndexByte(two, '\n')], string(line)} { // what the scanner remembers
		s.scan([]byte(before), &Event{})
		var got Event
		if !s.scan(line, &got) {
			continue
		}
		want, err := decode(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nscanned %+v\ndecoded %+v, %v", line, got, want, err)
		}
	}
}

func TestScannerAndEncodingJSONAgreeOnWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sameAsDecode(t, appendJSON(nil, anEvent(0, 0).Draw(t, "event")))
	})
}

func TestScannerAndEncodingJSONAgreeOnDamagedLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := appendJSON(nil, anEvent(0, 0).Draw(t, "event"))
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "damage") {
			case 0:
				line[at] = rapid.SampledFrom([]byte("\"\\{}[]:,-+.0123456789eE tfn\x00\x1f\x7f\x80\xff")).Draw(t, "byte")
			case 1:
				line = append(line[:at:at], line[min(at+1, len(line)):]...)
			case 2:
				line = append(line[:at:at], append([]byte(rapid.SampledFrom([]string{
					`,"value":0`, `,"fence":-0`, `,"fence":007`, `,"detail":{}`, ` `, `\u0041`, `"`, `0`,
				}).Draw(t, "insertion")), line[at:]...)...)
			}
			if len(line) == 0 {
				return
			}
		}
		sameAsDecode(t, line)
	})
}

func TestScannerNeedsNoHelpWithPlainEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[ !#-%'-;=?-\[\]-~а-я]{1,12}`)
		maybe := rapid.OneOf(rapid.Just(""), plain)
		number := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999)
		e := Event{
			Index: rapid.IntRange(0, 1e9).Draw(t, "index"), Time: time.Duration(number.Draw(t, "time")),
			Process: plain.Draw(t, "process"), Role: rapid.SampledFrom([]Role{Client, Node, Resource, Nemesis, Harness}).Draw(t, "role"), Op: Op(plain.Draw(t, "op")),
			Type:     rapid.SampledFrom([]Type{Invoke, Ok, Fail, Info}).Draw(t, "type"),
			Resource: maybe.Draw(t, "resource"), Lease: maybe.Draw(t, "lease"), By: maybe.Draw(t, "by"),
			Value: number.Draw(t, "value"), Version: number.Draw(t, "version"), Fence: number.Draw(t, "fence"),
			Until: time.Duration(number.Draw(t, "until")), Error: maybe.Draw(t, "error"),
			Detail: rapid.MapOfN(plain, maybe, 0, 3).Draw(t, "detail"),
		}
		if len(e.Detail) == 0 {
			e.Detail = nil
		}
		var s scanner
		var got Event
		if line := appendJSON(nil, e); !s.scan(line, &got) || !reflect.DeepEqual(got, e) {
			t.Fatalf("scanned %+v\nfrom %s", got, line)
		}
	})
}

func TestScannerDoesNotAllocateForWhatItSawBefore(t *testing.T) {
	line := appendJSON(nil, Event{Index: 7, Time: 9, Process: "A", Type: Ok, Op: Acquire, Resource: "stock", Lease: "A#1", Fence: 33})
	var s scanner
	if n := testing.AllocsPerRun(100, func() {
		var e Event
		if !s.scan(line, &e) {
			t.Fatal("not scanned")
		}
	}); n != 0 {
		t.Errorf("%v allocations per line", n)
	}
}

func FuzzScan(f *testing.F) {
	for line := range strings.Lines(two) {
		f.Add([]byte(strings.TrimSpace(line)))
	}
	f.Add([]byte(`{"index":0,"time_ns":-5,"process":"A","role":"node","type":"info","op":"x","resource":"r","lease":"l","by":"b",` +
		`"value":1,"version":2,"fence":3,"until_ns":4,"error":"é","detail":{"a":"b","a":"c"}}`))
	f.Fuzz(func(t *testing.T, line []byte) { sameAsDecode(t, line) })
}

// contended is a history of n operations: clients take turns, with a refusal now and then, and write under the lock.
func contended(n int) []Event {
	events := make([]Event, 0, 2*n)
	add := func(e Event) {
		e.Index, e.Time = len(events), time.Duration(len(events))*17*time.Microsecond
		events = append(events, e)
	}
	for turn := 0; len(events) < 2*n; turn++ {
		client := string(rune('A' + turn*7%20))
		lease := fmt.Sprintf("%s#%d", client, turn)
		for _, op := range []Op{Acquire, Release} {
			e := Event{Process: client, Type: Invoke, Op: op, Resource: "stock", Lease: lease}
			add(e)
			e.Type = Ok
			if op == Acquire {
				e.Fence, e.Until = int64(turn+1), events[len(events)-1].Time+10*time.Second
			}
			add(e)
		}
	}
	return events
}

func written(tb testing.TB, events []Event) []byte {
	tb.Helper()
	var file bytes.Buffer
	w := NewWriter(&file)
	for _, e := range events {
		if err := w.Write(e); err != nil {
			tb.Fatal(err)
		}
	}
	return file.Bytes()
}

// BenchmarkLine reads one line by hand and with encoding/json.
func BenchmarkLine(b *testing.B) {
	file := written(b, contended(1000))
	lines := bytes.Split(bytes.TrimSpace(file), []byte("\n"))
	var s scanner
	for _, reading := range []struct {
		name string
		read func(line []byte) bool
	}{
		{"scanner", func(line []byte) bool { var e Event; return s.scan(line, &e) }},
		{"encoding-json", func(line []byte) bool { _, err := decode(line); return err == nil }},
	} {
		b.Run(reading.name, func(b *testing.B) {
			b.SetBytes(int64(len(file) / len(lines)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if !reading.read(lines[i%len(lines)]) {
					b.Fatalf("%s", lines[i%len(lines)])
				}
				i++
			}
		})
	}
}

// BenchmarkReadAll reads a million operations from a file: our lines, the same lines with their fields in another order
// (which the scanner leaves to encoding/json), gzip, and EDN.
func BenchmarkReadAll(b *testing.B) {
	const operations = 1_000_000
	events := contended(operations)
	ours := written(b, events)
	foreign := bytes.ReplaceAll(ours, []byte(`{"index"`), []byte(`{ "index"`))
	var edn bytes.Buffer
	if err := WriteEDN(&edn, events); err != nil {
		b.Fatal(err)
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{"scanner", ours}, {"encoding-json", foreign}, {"gzip", zipped(string(ours))}, {"edn", edn.Bytes()}} {
		b.Run(file.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "history")
			if err := os.WriteFile(path, file.text, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(file.text)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				got, warnings, err := ReadAll(f, path)
				f.Close()
				if len(got) != len(events) || warnings != nil || err != nil {
					b.Fatal(len(got), warnings, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
		})
	}
}
