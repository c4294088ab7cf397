package history

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// sameInBlocks holds the parallel reading of JSON lines to the one line by line: the same events, warnings, line and
// error, whatever the size of the blocks.
func sameInBlocks(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte, size, workers int) {
	t.Helper()
	one, many := NewReader(bytes.NewReader(text), "f"), NewReader(iotest.HalfReader(bytes.NewReader(text)), "f")
	want, wantErr := one.readAll(size, 0)
	got, gotErr := many.readAll(size, workers)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
		t.Fatalf("blocks of %d bytes: %d events, %v; line by line: %d events, %v\n%s", size, len(got), gotErr, len(want), wantErr, text)
	}
	if one.Line() != many.Line() || !reflect.DeepEqual(one.Warnings(), many.Warnings()) || one.Format() != many.Format() {
		t.Fatalf("blocks of %d bytes: line %d, %v; line by line: line %d, %v\n%s", size, many.Line(), many.Warnings(), one.Line(), one.Warnings(), text)
	}
}

func TestBlocksReadTheSameAsLineByLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		heard := rapid.Bool().Draw(t, "as heard")
		if heard {
			text = append(appendJSON(text, MarkHeard(Event{Process: "harness", Role: Harness, Type: Info, Op: Begin})), '\n')
		}
		n := rapid.IntRange(0, 40).Draw(t, "events")
		for i := bytes.Count(text, []byte("\n")); i < n; i++ {
			at := time.Duration(5)
			if heard {
				at = time.Duration(rapid.IntRange(0, 9).Draw(t, "time"))
			}
			text = append(appendJSON(text, Event{Index: i, Time: at, Process: "A", Type: Ok, Op: Acquire, Lease: fmt.Sprint(i), Fence: int64(i)}), '\n')
		}
		for range rapid.IntRange(0, 2).Draw(t, "damages") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			insertion := rapid.SampledFrom([]string{"\n", "\r\n", `"`, " ", "5", "{:", "\x00", strings.Repeat("x", 500)}).Draw(t, "insertion")
			text = append(text[:at:at], append([]byte(insertion), text[at:]...)...)
		}
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "length")]
		if rapid.Bool().Draw(t, "gzip") {
			text = zipped(string(text))
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "zipped length")]
		}
		sameInBlocks(t, text, rapid.IntRange(1, 1000).Draw(t, "size"), rapid.IntRange(1, 3).Draw(t, "workers"))
	})
}

func TestBlocksLeaveWhatIsOutOfOrderToTheReaderOfLines(t *testing.T) {
	line := func(index, time int) string {
		return fmt.Sprintf(`{"index":%d,"time_ns":%d,"process":"A","type":"ok","op":"acquire"}`+"\n", index, time)
	}
	for name, l := range map[string]struct{ text, want string }{
		"index goes back":         {line(0, 1) + line(1, 2) + line(2, 3) + line(1, 4), "f:4: index 1 does not follow: expected 3, as events are numbered from 0"},
		"time goes back":          {line(0, 1) + line(1, 9) + line(2, 8) + line(3, 9), "f:3: time runs backwards: 8 ns after 9 ns"},
		"time begins before zero": {line(0, -1) + line(1, 0), "f:1: time runs backwards: -1 ns after 0 ns"},
	} {
		for size := 70; size < 300; size += 10 { // so that the mistake is first in a block, and within one
			r := NewReader(strings.NewReader(l.text), "f")
			if _, err := r.readAll(size, 2); fmt.Sprint(err) != l.want {
				t.Errorf("%s, blocks of %d: %v, want %s", name, size, err, l.want)
			}
			sameInBlocks(t, []byte(l.text), size, 2)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte(two), uint16(100))
	f.Add([]byte(two+two), uint16(300))
	f.Add(zipped(two), uint16(7))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) { sameInBlocks(t, text, int(size)%4096+1, 2) })
}
