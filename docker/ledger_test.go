package docker

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/history"
)

// stream is what a server's watch says while two clients use locks, as Redis 7 says it: a change comes before its
// command, but a script before its changes.
const stream = `+1.1 [0 10.0.0.9:1] "client" "setname" "lockfault-client-A"
+1.1 [0 10.0.0.9:2] "client" "setname" "lockfault-client-B"
>set lock:stock
>expire lock:stock
+1.2 [0 10.0.0.9:1] "set" "lock:stock" "A-tok" "px" "800" "nx"
+1.3 [0 10.0.0.9:2] "set" "lock:stock" "B-tok" "px" "800" "nx"
+1.4 [0 10.0.0.9:1] "eval" "script" "1" "lock:stock" "A-tok"
+1.4 [0 lua] "get" "lock:stock"
>del lock:stock
+1.4 [0 lua] "del" "lock:stock"
+1.5 [0 10.0.0.9:2] "eval" "script" "2" "lock:stock" "fence:stock" "B-tok" "800"
>set lock:stock
>expire lock:stock
+1.5 [0 lua] "set" "lock:stock" "B-tok" "NX" "PX" "800"
>incrby fence:stock
+1.5 [0 lua] "incr" "fence:stock"
+1.6 [0 10.0.0.7:5] "echo" "barrier"
>expired lock:stock
>del fence:stock
+1.7 [0 10.0.0.8:5] "del" "fence:stock"`

// hearStream feeds lines to a ledger, and returns what it tells.
func hearStream(t *testing.T, lines string) (told []string) {
	t.Helper()
	l := newLedger("n1", 0)
	l.event = func(e history.Event) {
		told = append(told, fmt.Sprintf("%s %s by %q, %v", e.Op, e.Resource, e.By, e.Detail))
	}
	l.answered = func(client, node string, wrote bool) {
		told = append(told, fmt.Sprintf("answered %s, wrote %v", client, wrote))
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		var h heard
		if change, ok := strings.CutPrefix(line, ">"); ok {
			h.change, h.key, _ = strings.Cut(change, " ")
		} else if h.from, h.args, ok = parseMonitor(strings.TrimPrefix(line, "+")); !ok {
			t.Fatalf("cannot read %q", line)
		}
		l.hear(h)
	}
	return told
}

func TestEachChangeIsLaidToWhoMadeIt(t *testing.T) {
	told := hearStream(t, stream)
	want := []string{
		`key-set lock:stock by "A", map[owner:A ttl:800ms value:A-tok]`,
		`answered A, wrote true`,
		`answered B, wrote false`,
		`key-deleted lock:stock by "A", map[owner:A value:A-tok]`,
		`answered A, wrote false`, // a script is over when the next command comes
		`key-set lock:stock by "B", map[owner:B ttl:800ms value:B-tok]`,
		`key-set fence:stock by "B", map[owner:B]`,
		`answered B, wrote true`,
		`key-expired lock:stock by "", map[owner:B value:B-tok]`,
		`key-deleted fence:stock by "", map[owner:B]`, // by a connection without a name
	}
	if !slices.Equal(told, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnUnknownScriptBlamesNobody(t *testing.T) {
	told := hearStream(t, ">del lock:stock\n+1.4 [0 lua] \"del\" \"lock:stock\"\n>set k\n+1.5 [0 1.2.3.4:5] \"set\" \"k\" \"v\"")
	if want := []string{`key-set k by "", map[value:v]`}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestAReplicaKnowsWhoseTheKeysAre(t *testing.T) {
	primary, replica := newLedger("primary", 0), newLedger("replica", 0)
	var told []string
	for _, l := range []*ledger{primary, replica} {
		l.answered = func(string, string, bool) {}
		l.event = func(e history.Event) { told = append(told, e.Process+" "+e.Detail["owner"]) }
	}
	replica.source = primary
	set := heard{from: "10.0.0.9:1", args: []string{"set", "lock:stock", "A-tok"}}
	primary.names["10.0.0.9:1"] = "A"
	primary.hear(heard{change: "set", key: "lock:stock"})
	primary.hear(set)
	set.from = "10.0.0.2:6379" // the replication link
	replica.hear(heard{change: "set", key: "lock:stock"})
	replica.hear(set)
	replica.promote()
	replica.hear(heard{change: "expired", key: "lock:stock"})
	if want := []string{"primary A", "replica A"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestMonitorLines(t *testing.T) {
	from, args, ok := parseMonitor(`1796065487.234713 [0 127.0.0.1:58122] "SET" "a \"b\"" "\x00\xff\n\\"`)
	if !ok || from != "127.0.0.1:58122" || !slices.Equal(args, []string{"SET", `a "b"`, "\x00\xff\n\\"}) {
		t.Errorf("read %q %q %v", from, args, ok)
	}
	for _, line := range []string{"", "1.2", `1.2 [0`, `1.2 [0 x] SET`, `1.2 [0 x] "SET`, `1.2 [x] "SET"`} {
		if _, _, ok := parseMonitor(line); ok {
			t.Errorf("read %q", line)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$3\r\nset\r\n$1\r\nk\r\n")
	f.Add("+1.2 [0 1.2.3.4:5] \"set\" \"k\" \"v\"\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := bufio.NewReader(strings.NewReader(text))
		for {
			a, err := readReply(r)
			if err != nil {
				return
			}
			parseMonitor(a.text)
		}
	})
}
