package history

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// jepsenSamples are histories as Jepsen, Knossos and people write them.
var jepsenSamples = map[string]string{
	"lines": `{:process 0, :type :invoke, :f :acquire, :value nil, :index 0, :time 5}
{:process 0, :type :ok, :f :acquire, :value {:client "n1", :fence 7}, :index 1, :time 9}
`,
	"vector": `[{:process 0, :type :invoke, :f :lock, :index 0, :time 5}
 {:process 0, :type :ok, :f :lock, :index 1, :time 9}]`,
	"records": `; a comment
#jepsen.history.Op{:index 0, :time 5, :type :invoke, :process 0, :f :acquire, :value nil}
#jepsen.history.Op {:index 1, :time 9, :type :ok, :process 0, :f :acquire, :value nil, :node #inst "2020-01-01"}`,
	"nemesis": `{:process :nemesis :type :info :f :start-partition :value :majority :time 1}
{:process 0 :type :invoke :f :acquire :time 2}
{:process :nemesis :type :info :f :start-partition :value [:isolated {"n1" #{"n2"}}] :time 3}
{:process 0 :type :info :f :acquire :error [:timeout "x"] :time 4}
{:process 5 :type :invoke :f :acquire :time 5}
{:process 5 :type :fail :f :acquire :error :refused :time 6}`,
	"register": `{:process 0 :type :invoke :f :cas :value [1 2]}
{:process 0 :type :ok :f :cas :value [1 2]}`,
	"own":   "{:index 0, :time 0, :lockfault/format 1, :process 0, :type :invoke, :f :acquire, :value {:client \"A\"}, :lockfault/process \"A\"}\n",
	"nasty": "[#_ #_ a b {:process \\a \"x\\u0041\\n\" ##Inf, #{1 2.5M 3/4} ()} #:x{:y _/z}]",
}

func zipped(text string) []byte {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return file.Bytes()
}

// told is a history in short, for comparison: one line per event, without index.
func told(events []Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %v %s", e.Time, e.Process, e.Type, e.Op)
		if e.Role != Client {
			fmt.Fprintf(&b, " (%s)", e.Role)
		}
		for _, f := range []struct{ name, text string }{{"on", e.Resource}, {"by", e.By}, {"error", e.Error}} {
			if f.text != "" {
				fmt.Fprintf(&b, " %s=%s", f.name, f.text)
			}
		}
		for _, f := range []struct {
			name   string
			number int64
		}{{"fence", e.Fence}, {"value", e.Value}} {
			if f.number != 0 {
				fmt.Fprintf(&b, " %s=%d", f.name, f.number)
			}
		}
		for _, key := range []string{"value", "f", refusedKey} {
			if text, ok := e.Detail[key]; ok {
				fmt.Fprintf(&b, " %s:%s", key, text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestJepsenHistoryIsRead(t *testing.T) {
	const end = " harness info end (harness)\n"
	for _, law := range []struct{ name, text, want, warning string }{
		{"lines", jepsenSamples["lines"], "5 0 invoke acquire\n9 0 ok acquire by=n1 fence=7\n9" + end, ""},
		{"vector, lock and no values", jepsenSamples["vector"], "5 0 invoke acquire\n9 0 ok acquire\n9" + end, ""},
		{"list in a list of commas", `({:process 3,:type :invoke,:f :unlock,:time 1},,{:process 3,:type :fail,:f :unlock,:time 2})`,
			"1 3 invoke release\n2 3 fail release refused:unknown\n2" + end, ""},
		{"records", jepsenSamples["records"], "5 0 invoke acquire\n9 0 ok acquire\n9" + end, ""},
		{"the nemesis is one fault to the end", jepsenSamples["nemesis"],
			"1 nemesis invoke failover (nemesis)\n" +
				"1 nemesis info nemesis (harness) value::majority f::start-partition\n" +
				"2 0 invoke acquire\n" +
				`3 nemesis info nemesis (harness) value:[:isolated {"n1" #{"n2"}}] f::start-partition` + "\n" +
				"4 0 info acquire error=[:timeout \"x\"]\n5 5 invoke acquire\n6 5 fail acquire error=:refused\n" +
				"6 nemesis ok failover (nemesis)\n6" + end, ""},
		{"open at the end", `{:process 0 :type :invoke :f :acquire :time 7}`,
			"7 0 invoke acquire\n7 0 info acquire error=the history has no completion of it\n7" + end, ""},
		{"a holder whose operation ended in doubt is gone", `{:process 0 :type :invoke :f :acquire :time 1}
			{:process 0 :type :ok :f :acquire :time 2} {:process 0 :type :invoke :f :write :value 3 :time 3}
			{:process 0 :type :info :f :write :value 3 :time 4}`,
			"1 0 invoke acquire\n2 0 ok acquire\n3 0 invoke write value=3\n4 0 info write value=3\n" +
				"4 0 info died error=in Jepsen, a process ends with an operation of unknown outcome\n4" + end, ""},
		{"independent keys", `{:process 0 :type :invoke :f :acquire :value [:a {:owner "x"}] :time 1}{:process 0 :type :ok :f :acquire :value [:a {:owner "x"}] :time 2}`,
			"1 0 invoke acquire on=:a by=x\n2 0 ok acquire on=:a by=x\n2" + end, ""},
		{"a number that comes back is a fence", `{:process 0 :type :invoke :f :acquire :time 1}{:process 0 :type :ok :f :acquire :value 4 :time 2}`,
			"1 0 invoke acquire\n2 0 ok acquire fence=4\n2" + end,
			"h:1: a number with which :acquire came back was taken as its fence; if it is none, as a delivery tag, leave fence-order out"},
		{"a number that is asked with is an owner", `{:process 0 :type :invoke :f :acquire :value 4 :time 1}{:process 0 :type :ok :f :acquire :value 4 :time 2}`,
			"1 0 invoke acquire by=4\n2 0 ok acquire by=4\n2" + end,
			"h:1: a number as :value of :acquire was taken as the owner; for several locks write [LOCK VALUE]"},
		{"other operations", `{:process 0 :type :invoke :f :acquire :time 1}{:process 0 :type :fail :f :acquire :time 2}` +
			`{:process 0 :type :invoke :f :cas :value [1 2] :time 3}{:process 0 :type :ok :f :cas :value [1 2] :time 4}` +
			`{:process 0 :type :invoke :f :lost :value "x" :time 5}`,
			"1 0 invoke acquire\n2 0 fail acquire\n3 0 invoke cas on=1 value=2\n4 0 ok cas on=1 value=2\n5 0 invoke :lost value:\"x\"\n" +
				"5 0 info :lost error=the history has no completion of it value:\"x\"\n5" + end, ""},
		{"no times", `{:process 0 :type :invoke :f :acquire}{:process 0 :type :ok :f :acquire}`,
			"0 0 invoke acquire\n1000000 0 ok acquire\n1000000" + end,
			"h:1: no :time; operations are taken to be 1 ms apart, in the order of the lines"},
		{"a time missing", `{:process 0 :type :invoke :f :acquire :time 4}{:process 0 :type :ok :f :acquire}`,
			"4 0 invoke acquire\n4 0 ok acquire\n4" + end, "h:1: 1 operations have no :time; they were given that of the line before"},
		{"a thread was late", "{:process 0 :type :invoke :f :acquire :time 4}\n{:process 1 :type :invoke :f :acquire :time 3}",
			"4 0 invoke acquire\n4 1 invoke acquire\n4 0 info acquire error=the history has no completion of it\n" +
				"4 1 info acquire error=the history has no completion of it\n4" + end,
			"h:2: time runs backwards here (1 times in all, by up to 1ns); the order of the lines was trusted, and such times taken as that of the line before"},
		{"negative times are shifted", `{:process 0 :type :invoke :f :acquire :time -9}{:process 0 :type :ok :f :acquire :time -4}`,
			"0 0 invoke acquire\n5 0 ok acquire\n5" + end, ""},
		{"CRLF and a byte order mark", "\xef\xbb\xbf" + strings.ReplaceAll(jepsenSamples["lines"], "\n", "\r\n"),
			"5 0 invoke acquire\n9 0 ok acquire by=n1 fence=7\n9" + end, ""},
		{"cut off within an operation", "{:process 0 :type :invoke :f :acquire :time 4}\n{:process 0 :type :o",
			"4 0 invoke acquire\n", "h:2: the history is cut off in what starts here, which was left out"},
		{"a vector cut off between operations", "[{:process 0 :type :invoke :f :acquire :time 4}\n",
			"4 0 invoke acquire\n", "h:2: the history is cut off in what starts here, which was left out"},
		{"nothing in it", "[]", "", ""},
	} {
		t.Run(law.name, func(t *testing.T) {
			events, warnings, err := ReadAll(strings.NewReader(law.text), "h")
			if err != nil {
				t.Fatal(err)
			}
			if got := told(events); got != law.want {
				t.Errorf("got\n%swant\n%s", got, law.want)
			}
			if got := strings.Join(warnings, "\n"); got != law.warning {
				t.Errorf("warns\n%s\nwant\n%s", got, law.warning)
			}
		})
	}
}

func TestBrokenJepsenHistoryIsAnErrorThatNamesItsLine(t *testing.T) {
	const first = "{:process 0, :type :invoke, :f :acquire, :index 3, :time 5000000000}\n"
	for _, law := range []struct{ name, line, want string }{
		{"index goes back", "{:process 1, :type :invoke, :f :acquire, :index 2, :time 5000000000}", "h:2: index 2 follows 3: it must grow"},
		{"time goes far back", "{:process 1, :type :invoke, :f :acquire, :time 5}", "h:2: time runs backwards: 5 ns after 5000000000 ns"},
		{"time is text", `{:process 1, :type :invoke, :f :acquire, :time "5"}`, `h:2: :time "5" is no integer: want nanoseconds`},
		{"completion without invocation", "{:process 1, :type :ok, :f :acquire, :time 5000000000}", "h:2: process 1 completes :acquire, which it had not invoked"},
		{"completion of something else", "{:process 0, :type :ok, :f :release, :time 5000000000}", "h:2: process 0 completes :release, but had invoked :acquire in line 1"},
		{"two open", "{:process 0, :type :invoke, :f :release, :time 5000000000}", "h:2: process 0 invokes :release while its :acquire of line 1 is open"},
		{"no process", "{:type :ok, :f :acquire}", "h:2: no :process"},
		{"keys that are text", `{"process" 0}`, `h:2: "process" is a key: the keys of an operation are keywords such as :process`},
		{"no type", "{:process 0, :f :acquire}", "h:2: no :type"},
		{"no f", "{:process 0, :type :ok}", "h:2: no :f that names an operation"},
		{"odd type", "{:process 0, :type :okay, :f :acquire, :time 5000000000}", "h:2: :type :okay is none of :invoke, :ok, :fail, :info"},
		{"twice", "{:process 0, :process 1, :type :ok, :f :acquire}", "h:2: :process twice in one operation"},
		{"a line of ours", `{"index":1,"time_ns":5,"process":"A","type":"ok","op":"acquire"}`, "h:2:34: a keyword without a name; is this JSON among EDN?"},
		{"no map", "17", "h:2: an operation is a map, not a integer"},
		{"wrong bracket", "{:process 0]", "h:2:12: ']' closes the '{' of line 2"},
		{"key without value", "{:process}", "h:2:11: the map of line 2 has a key without a value"},
		{"deep", strings.Repeat("[", 100_000), "h:2:65: brackets and tags nested more than 64 deep"},
		{"deep tags", strings.Repeat("#a ", 100_000), "h:2:193: brackets and tags nested more than 64 deep"},
		{"long", "{:f \"" + strings.Repeat("x", 3*MaxLine), "h:2:1048578: a value longer than 1048576 bytes"},
		{"long word", ":" + strings.Repeat("x", 3*MaxLine), ""},
		{"long space within", "{:f " + strings.Repeat(" ", 3*MaxLine), "h:2:1048578: a value longer than 1048576 bytes"},
		{"object", `{:f #<Foo 1>}`, "h:2:6: #< starts an object that Clojure could not write down"},
	} {
		t.Run(law.name, func(t *testing.T) {
			events, _, err := ReadAll(strings.NewReader(first+law.line), "h")
			if err == nil || law.want != "" && err.Error() != law.want || !strings.HasPrefix(err.Error(), "h:2:") {
				t.Errorf("got  %v\nwant %s", err, law.want)
			}
			if len(events) != 1 {
				t.Errorf("%d events before the broken line, want 1", len(events))
			}
		})
	}
	for _, law := range []struct{ name, text, want string }{
		{"register", jepsenSamples["register"], "h: no :acquire (or :lock) and no :release (or :unlock) in it, but :cas 1 times; lockfault judges histories of locks: for those of registers, see Knossos, Elle or porcupine"},
		{"more behind the vector", "[]{}", "h:1:3: '{' after the end of the history"},
		{"goes on after its end", `{:process 0 :type :invoke :f :acquire}{:process 0 :type :ok :f :acquire}{:process 0 :type :invoke :f :read}
			{:process 0 :type :info :f :read}{:process 0 :type :invoke :f :release}`,
			"h:2: process 0 goes on, though its operation of line 2 ended :info while it held a lock: a client whose operation ended so is gone, and its successor has another number"},
		{"UTF-16", "\xff\xfe{\x00", "h:1: it is UTF-16; convert it, as in: iconv -f UTF-16 -t UTF-8 FILE | lockfault check -"},
		{"JSON array", "[\n {\"index\":0}]", "h:1: it is a JSON array; give one event per line, as in: jq -c '.[]' FILE | lockfault check -"},
		{"zstd", "\x28\xb5\x2f\xfdxxxx", "h:1: it is compressed with zstd; give it decompressed, as in: zstdcat FILE | lockfault check -"},
		{"a Jepsen store", "JEPSEN\x00\x00", "h:1: it is a Jepsen store; give the history.edn beside it"},
		{"binary", "\x7fELF\x00\x01", "h:1: it is binary (a zero byte at offset 4), not a history"},
		{"gzip of gzip", string(zipped(string(zipped("x")))), "h:1: it is binary"},
	} {
		t.Run(law.name, func(t *testing.T) {
			_, _, err := ReadAll(strings.NewReader(law.text), "h")
			if err == nil || !strings.HasPrefix(err.Error(), law.want) {
				t.Errorf("got  %v\nwant %s", err, law.want)
			}
		})
	}
}

func TestGzipIsReadWhateverItsName(t *testing.T) {
	plain, _, err := ReadAll(strings.NewReader(two), "h")
	if err != nil {
		t.Fatal(err)
	}
	file := zipped(two)
	events, warnings, err := ReadAll(bytes.NewReader(file), "h")
	if err != nil || warnings != nil || !reflect.DeepEqual(events, plain) {
		t.Errorf("%v, %q, %v", events, warnings, err)
	}
	for cut := 3; cut < len(file); cut++ {
		events, warnings, err := ReadAll(bytes.NewReader(file[:cut]), "h")
		if err != nil || len(warnings) != 1 || len(events) > 0 && !reflect.DeepEqual(events, plain[:len(events)]) {
			t.Errorf("cut at %d: %d events, %q, %v", cut, len(events), warnings, err)
		}
	}
	damaged := slices.Clone(file)
	damaged[len(damaged)-6] ^= 1 // of the checksum
	if _, _, err := ReadAll(bytes.NewReader(damaged), "h"); err == nil || !strings.HasPrefix(err.Error(), "h:3: the gzip data is damaged") {
		t.Errorf("damaged: %v", err)
	}
}

func TestHistorySurvivesBeingWrittenAsEDN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Event
		now := time.Duration(0)
		for i := range rapid.IntRange(0, 12).Draw(t, "length") {
			e := asRead(t, anEvent(i, now).Draw(t, "event"))
			if rapid.Bool().Draw(t, "lock") {
				e.Role = Client
				e.Op = rapid.SampledFrom([]Op{Acquire, Release}).Draw(t, "lock op")
				e.Process = rapid.SampledFrom([]string{"A", "B", "0", "1", "17"}).Draw(t, "client")
			}
			now = e.Time
			want = append(want, e)
		}
		var file bytes.Buffer
		if err := WriteEDN(&file, want); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		got, warnings, err := ReadAll(&file, "h")
		if err != nil || warnings != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v, %q, %v\nwant %+v\nfrom %s", got, warnings, err, want, text)
		}
	})
}

func TestWrittenEDNIsWhatJepsenAndKnossosRead(t *testing.T) {
	var events []Event
	for line := range strings.Lines(`harness ok begin
A invoke acquire
B invoke acquire
A ok acquire
B info acquire
A invoke release
B invoke acquire
A fail release
n1 ok key-set
B ok acquire
A info lost
fault-1 invoke pause`) {
		f := strings.Fields(line)
		e := Event{Index: len(events), Time: time.Duration(len(events)), Process: f[0], Op: Op(f[2])}
		_ = e.Type.UnmarshalText([]byte(f[1]))
		switch f[0] {
		case "harness":
			e.Role, e.Detail = Harness, map[string]string{"ttl": "10s"}
		case "n1":
			e.Role = Node
		case "fault-1":
			e.Role = Nemesis
		default:
			e.Resource, e.Lease = "stock", f[0]+"#1"
		}
		if e.Op == Acquire && e.Type == Ok {
			e.Fence = int64(e.Index)
		}
		events = append(events, e)
	}
	var file bytes.Buffer
	if err := WriteEDN(&file, events); err != nil {
		t.Fatal(err)
	}
	const want = `{:index 0, :time 0, :lockfault/format 1, :process :lockfault, :type :info, :f :begin, :value nil, :lockfault/process "harness", :lockfault/type :ok, :lockfault/op "begin", :lockfault/role "harness", :lockfault/detail {"ttl" "10s"}}
{:index 1, :time 1, :process 0, :type :invoke, :f :acquire, :value {:client "A"}, :lockfault/process "A", :lockfault/resource "stock", :lockfault/lease "A#1"}
{:index 2, :time 2, :process 1, :type :invoke, :f :acquire, :value {:client "B"}, :lockfault/process "B", :lockfault/resource "stock", :lockfault/lease "B#1"}
{:index 3, :time 3, :process 0, :type :ok, :f :acquire, :value {:client "A", :fence 3}, :lockfault/process "A", :lockfault/resource "stock", :lockfault/lease "A#1"}
{:index 4, :time 4, :process 1, :type :info, :f :acquire, :value {:client "B"}, :lockfault/process "B", :lockfault/resource "stock", :lockfault/lease "B#1"}
{:index 5, :time 5, :process 0, :type :invoke, :f :release, :value {:client "A"}, :lockfault/process "A", :lockfault/resource "stock", :lockfault/lease "A#1"}
{:index 6, :time 6, :process 3, :type :invoke, :f :acquire, :value {:client "B"}, :lockfault/process "B", :lockfault/resource "stock", :lockfault/lease "B#1"}
{:index 7, :time 7, :process 0, :type :fail, :f :release, :value {:client "A"}, :lockfault/process "A", :lockfault/resource "stock", :lockfault/lease "A#1"}
{:index 8, :time 8, :process :lockfault, :type :info, :f :key-set, :value nil, :lockfault/process "n1", :lockfault/type :ok, :lockfault/op "key-set", :lockfault/role "node"}
{:index 9, :time 9, :process 3, :type :ok, :f :acquire, :value {:client "B", :fence 9}, :lockfault/process "B", :lockfault/resource "stock", :lockfault/lease "B#1"}
{:index 10, :time 10, :process :lockfault, :type :info, :f :lost, :value nil, :lockfault/process "A", :lockfault/type :info, :lockfault/op "lost", :lockfault/resource "stock", :lockfault/lease "A#1"}
{:index 11, :time 11, :process :nemesis, :type :info, :f :pause, :value nil, :lockfault/process "fault-1", :lockfault/type :invoke, :lockfault/op "pause", :lockfault/role "nemesis"}
`
	if got := file.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMemoryOfAReaderDoesNotGrowWithTheHistory(t *testing.T) {
	const events = 40_000
	padding := strings.Repeat("n1 ", 100)
	for format, line := range map[Format]func(n int) string{
		JSONLines: func(n int) string {
			return fmt.Sprintf(`{"index":%d,"time_ns":%d,"process":"%d","type":"info","op":"lost","error":"%s"}`+"\n", n, n, n, padding)
		},
		EDN: func(n int) string {
			return fmt.Sprintf("{:process %d :type %s :f :acquire :value [%q] :index %d}\n",
				n/2, []string{":invoke", ":info"}[n%2], padding, n)
		},
	} {
		n, seen := 0, 0
		source := readerFunc(func(p []byte) (int, error) {
			if n == events {
				return 0, io.EOF
			}
			n++
			return copy(p, line(n-1)), nil
		})
		var early, late uint64
		for _, err := range NewReader(source, "h").Events() {
			if err != nil {
				t.Fatal(err)
			}
			switch seen++; seen {
			case events / 10:
				early = heap()
			case events * 9 / 10:
				late = heap()
			}
		}
		if late > early+2<<20 { // a fifth of what it read meanwhile
			t.Errorf("%s: %d bytes after a tenth of the history, %d later", format, early, late)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzReadEDN(f *testing.F) {
	for _, text := range jepsenSamples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events, _, err := ReadAll(bytes.NewReader(append([]byte(";\n"), data...)), "h") // the comment makes it EDN
		if err != nil {
			if !strings.HasPrefix(err.Error(), "h:") {
				t.Errorf("error without its place: %v", err)
			}
			return
		}
		var file bytes.Buffer
		if err := WriteEDN(&file, events); err != nil {
			t.Fatal(err)
		}
		again, warnings, err := ReadAll(&file, "again")
		if err != nil || warnings != nil || !reflect.DeepEqual(tidy(again), tidy(events)) {
			t.Errorf("second reading differs: %q, %v\n%+v\n%+v", warnings, err, events, again)
		}
	})
}
