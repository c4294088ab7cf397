package scenarios

import (
	"errors"
	"strings"
	"testing"
)

// broken are files with one mistake each, and the error that says where it is and what to do.
var broken = []struct{ law, text, want string }{
	// The file as a whole.
	{"an empty file", "", `broken.yaml: there is no scenario in the file: begin with "title: ..." and "clients: ..."`},
	{"only comments", "# later\n", `broken.yaml: there is no scenario in the file: begin with "title: ..." and "clients: ..."`},
	{"two documents", "title: x\n---\ntitle: y\n", `broken.yaml:2:1: a second document begins here: write one scenario per file`},
	{"a list", "- title: x\n", `broken.yaml:1:1: scenario: want keys with values, such as "title: What happens"`},
	{"prose", "A stops, then B\n", `broken.yaml:1:1: scenario: want keys with values, such as "title: What happens"`},
	{"Latin-1", "title: x\nsource: caf\xe9\n", `broken.yaml:2:12: this is not UTF-8: save the file as UTF-8`},
	{"a control character", "title: x\x1b[2J\n", `broken.yaml:1:9: control character U+001B: leave it out`},
	{"an escaped control character", `title: "x\e[2J"`, `broken.yaml:1:8: title: control characters cannot stand here`},
	{"far too large", "title: x\n#" + strings.Repeat("x", maxBytes), `broken.yaml: larger than 1024 KiB: this is no scenario`},
	{"far too many keys", strings.Repeat("a:\n", maxItems+1), `broken.yaml:10001:2: more than 10000 keys and items: this is no scenario`},
	{"nested brackets", "title: " + strings.Repeat("[", maxNested+1), `broken.yaml:1:40: nested too deeply: this is no scenario`},
	{"nested dashes", strings.Repeat("- ", 70) + "x", `broken.yaml:1:129: nested too deeply: this is no scenario`},

	// YAML.
	{"an open quote", "title: \"x\n", `broken.yaml:1:8: could not find end character of double-quoted text`},
	{"an open brace", "title: x\nclients: {A: [acquire]\n", `broken.yaml:2:10: could not find flow mapping end token '}'`},
	{"a colon in the title", "title: x: y\n", `broken.yaml:1:8: mapping value is not allowed in this context`},
	{"a tab", "title: x\nclients:\n\tA: [acquire]\n", `broken.yaml:3:1: a tab cannot stand here: indent with spaces`},
	{"an anchor", "title: x\nclients:\n  A: &a [acquire]\n  B: *a\n",
		`broken.yaml:3:6: anchors, aliases and merge keys (& * <<) are not read: write the value out, or put it in quotes`},
	{"an alias", "title: *x\n",
		`broken.yaml:1:8: anchors, aliases and merge keys (& * <<) are not read: write the value out, or put it in quotes`},
	{"a merge key", "title: x\nclients: {A: [{acquire: {<<: {wait: 2s}}}]}\n",
		`broken.yaml:2:26: anchors, aliases and merge keys (& * <<) are not read: write the value out, or put it in quotes`},
	{"a tag", "title: !!str x\n",
		`broken.yaml:1:8: tags and directives (! %) are not read: leave them out, or put the value in quotes`},

	// Top keys.
	{"an unknown key", ok + "fault: []\n", `broken.yaml:3:1: scenario: unknown key "fault"; known are title, code, source, ttl, ` +
		`horizon, data, stock, clients, faults, random, expect`},
	{"a key twice", ok + "\"title\": y\n", `broken.yaml:3:1: scenario: key "title" occurs twice`},
	{"no title", "clients: {A: [acquire]}\n", `broken.yaml:1:1: title is missing: say in one sentence what happens`},
	{"a title without text", "title:\nclients: {A: [acquire]}\n", `broken.yaml:1:7: title: the value is missing`},
	{"a title of blanks", "title: '  '\nclients: {A: [acquire]}\n", `broken.yaml:1:1: title is missing: say in one sentence what happens`},
	{"a null", "title: null\n", `broken.yaml:1:8: title: the value is missing`},
	{"a list for a title", "title: [x]\n", `broken.yaml:1:8: title: want one value, not a list or keys`},
	{"a duration without unit", ok + "ttl: 10\n", `broken.yaml:3:6: ttl: "10" is no duration; write it like 250ms, 1.5s or 2m`},
	{"no time to live", ok + "ttl: 0s\n", `broken.yaml:3:6: ttl: 0s is too short, the least is 1ms`},
	{"an overflowing duration", ok + "ttl: 1000000h\n", `broken.yaml:3:6: ttl: 1000000h0m0s is too long, the most is 100000h0m0s`},
	{"a horizon below the TTL", ok + "horizon: 1s\n", `broken.yaml:3:10: horizon: 1s is too short, the least is 10s`},
	{"unknown data", ok + "data: ledger\n", `broken.yaml:3:7: data: "ledger" is none of register, inventory`},
	{"stock of a register", ok + "stock: 3\n",
		`broken.yaml:3:1: stock: only an inventory has one; write "data: inventory" too, or leave stock out`},
	{"negative stock", ok + "stock: -3\ndata: inventory\n", `broken.yaml:3:8: stock: want a whole number from 0 to 2147483647, not "-3"`},

	// Clients.
	{"no clients", "title: x\n", `broken.yaml:1:1: clients are missing: name them, each with a list of steps, such as "A: [acquire, write, release]"`},
	{"clients without names", "title: x\nclients: [A, B]\n",
		`broken.yaml:2:10: clients: want keys with values, such as "A: [acquire, write, release]"`},
	{"clients without value", "title: x\nclients:\n", `broken.yaml:2:10: clients: want keys with values, such as "A: [acquire, write, release]"`},
	{"a reserved name", "title: x\nclients: {redis: [acquire]}\n",
		`broken.yaml:2:11: "redis" cannot name a client: use a letter and up to 31 letters, digits, - or _, and no name of a server`},
	{"a name of a fault's process", "title: x\nclients: {fault-1: [acquire]}\n",
		`broken.yaml:2:11: "fault-1" cannot name a client: use a letter and up to 31 letters, digits, - or _, and no name of a server`},
	{"a client twice", "title: x\nclients:\n  A: [acquire]\n  A: [acquire]\n", `broken.yaml:4:3: clients: key "A" occurs twice`},
	{"a client without list", "title: x\nclients: {A: acquire}\n",
		`broken.yaml:2:14: client A: want a list, such as "[acquire, write, release]"`},
	{"a client without steps", "title: x\nclients: {A: []}\n",
		`broken.yaml:2:14: client A has no steps: write some, such as "A: [acquire, write, release]", or leave it out`},

	// Steps.
	{"a step misspelt", "title: x\nclients: {A: [aquire]}\n",
		`broken.yaml:2:15: step: "aquire" is none of acquire, extend, check, read, write, release, work`},
	{"a step misspelt, with keys", "title: x\nclients:\n  A:\n    - aquire: {at: 1s}\n",
		`broken.yaml:4:7: step: unknown key "aquire"; known are acquire, extend, check, read, write, release, work`},
	{"two operations in a step", "title: x\nclients:\n  A:\n    - acquire: {at: 1s}\n      write: {at: 2s}\n",
		`broken.yaml:4:7: step: want one operation, such as "acquire: {wait: 20s}"`},
	{"an empty step", "title: x\nclients:\n  A:\n    -\n", `broken.yaml:4:7: step: the value is missing`},
	{"a step's unknown key", step("acquire: {timeout: 1s}"), `broken.yaml:4:17: acquire: unknown key "timeout"; known are at, after, wait`},
	{"a check that waits", step("check: {timeout: 1s}"), `broken.yaml:4:15: check: unknown key "timeout"; known are at, after`},
	{"a step without keys", step("acquire: 20s"), `broken.yaml:4:16: acquire: want keys with values, such as "at: 5s"`},
	{"work without duration", step("work"), `broken.yaml:4:7: work: say for how long, such as "work: 12s"`},
	{"work with keys, without duration", step("work: {at: 1s}"), `broken.yaml:4:7: work: say for how long, such as "work: 12s"`},
	{"work of no time", step("work: 0s"), `broken.yaml:4:13: work: 0s is too short, the least is 1ms`},
	{"two triggers of a step", step("write: {at: 0s, after: B acquired}"), `broken.yaml:4:23: write: at and after exclude each other`},
	{"a wait for nobody", step("write: {after: C acquired}"), `broken.yaml:4:22: after: there is no client "C"; clients are A, B`},
	{"writing nothing", step("write: {value: 0}"), `broken.yaml:4:22: value: want a whole number from 1 to 2147483647, not "0"`},

	// Faults.
	{"faults without list", ok + "faults: {pause: A}\n", `broken.yaml:3:10: faults: want a list, such as "- pause: A"`},
	{"a fault without subject", fault("pause"), `broken.yaml:6:5: fault: want keys with values, such as "pause: A"`},
	{"a fault misspelt", fault("puase: A"), `broken.yaml:6:5: fault: the key that says what happens is missing; it is one of ` +
		`pause, kill, stall, cut, drop, delay, reset, bandwidth, crash, clock-step, clock-rate, failover, split-brain`},
	{"two faults in one", fault("pause: A", "kill: B"), `broken.yaml:7:5: fault: pause and kill in one; write two`},
	{"another kind's key", fault("pause: A", "keep: all"),
		`broken.yaml:7:5: pause: unknown key "keep"; known are pause, at, after, before, optional, for, until`},
	{"an end of what does not heal", fault("clock-step: pivot", "by: 1s", "for: 2s"), `broken.yaml:8:5: clock-step: it does not heal; leave "for" out`},
	{"a fault of no client", fault("pause: C"), `broken.yaml:6:12: pause: there is no client "C"; clients are A, B`},
	{"a fault of no server", fault("crash: n6"),
		`broken.yaml:6:12: crash: "n6" is none of pivot, redis, primary, n1, n2, n3, n4, n5`},
	{"a failover of what has no replica", fault("failover: n1"), `broken.yaml:6:15: failover: want "primary", not "n1"`},
	{"no link", fault("cut: A, n4"),
		`broken.yaml:6:10: cut: "A, n4" is no link; write it like "A - n4, n5", "A - all", "B - resource" or "primary - replica"`},
	{"a link of no client", fault("drop: C - n1"), `broken.yaml:6:11: drop: there is no client "C"; clients are A, B`},
	{"a link to no server", fault("cut: A - n1, replica"),
		`broken.yaml:6:10: cut: there is no server "replica"; servers are resource, all, pivot, redis, primary, n1, n2, n3, n4, n5`},
	{"a delay of no size", fault("delay: A - all"), `broken.yaml:6:5: delay: say by how much, such as "by: 50ms"`},
	{"a clock step of no size", fault("clock-step: n1"), `broken.yaml:6:5: clock-step: say by how much, such as "by: 10s" or "by: -5s"`},
	{"a clock rate of no size", fault("clock-rate: n1"), `broken.yaml:6:5: clock-rate: say how fast, such as "rate: 1.03"`},
	{"a clock rate that is no number", fault("clock-rate: n1", "rate: NaN"),
		`broken.yaml:7:11: rate: want a number from 0 (the clock stands still) to 1000, not "NaN"`},
	{"a direction of its own", fault("cut: A - all", "direction: in"), `broken.yaml:7:16: direction: "in" is none of both, requests, replies`},
	{"data that survive halfway", fault("crash: n1", "keep: some"), `broken.yaml:7:11: keep: "some" is none of all, all-but-last-second, nothing`},
	{"two triggers of a fault", fault("pause: A", "at: 0s", "before: A writes"), `broken.yaml:8:5: pause: at and before exclude each other`},
	{"two ends of a fault", fault("pause: A", "for: 1s", "until: B acquired"), `broken.yaml:8:5: pause: for and until exclude each other`},
	{"a fault of no time", fault("pause: A", "for: 0s"), `broken.yaml:7:10: for: 0s is too short, the least is 1ms`},
	{"optional of many minds", fault("pause: A", "optional: maybe"), `broken.yaml:7:15: optional: "maybe" is none of on, off, true, false`},

	// Moments.
	{"no moment", fault("pause: A", "after: A writes"), `broken.yaml:7:12: after: "A writes" is no moment; write it like "A acquired", ` +
		`"B wrote (2) + 100ms", "A was refused acquire", "all nodes answered A's acquire", "n3 answered A's release" or "3 nodes granted A"`},
	{"no moment before", fault("pause: A", "before: A wrote"),
		`broken.yaml:7:13: before: "A wrote" is no moment; write it like "A writes" or "B acquires (2)"`},
	{"later than before", fault("pause: A", "before: A writes + 1s"),
		`broken.yaml:7:13: before: "A writes + 1s": nothing can come later than just before; leave "+ 1s" out`},
	{"a moment of no client", fault("pause: A", "after: C acquired"), `broken.yaml:7:12: after: there is no client "C"; clients are A, B`},
	{"a moment of no server", fault("pause: A", "after: n7 granted A"),
		`broken.yaml:7:12: after: there is no server "n7"; servers are pivot, redis, primary, n1, n2, n3, n4, n5`},
	{"a moment of too many nodes", fault("pause: A", "after: 6 nodes granted A"),
		`broken.yaml:7:12: after: "6 nodes": want 1 to 5 nodes, or "all nodes"`},
	{"a zeroth time", fault("pause: A", "after: A acquired (0)"), `broken.yaml:7:12: after: (0): want which time it is, from 1`},
	{"later by no duration", fault("pause: A", "after: A acquired + 100"), `broken.yaml:7:12: after: + 100: want a duration such as 100ms`},
	{"a moment that never comes", fault("pause: A", "until: A extended"),
		`broken.yaml:7:12: until: "A extended" never comes: of A's steps 0 are "extend"`},
	{"a time that never comes", fault("pause: A", "after: A acquired (2)"),
		`broken.yaml:7:12: after: "A acquired (2)" never comes: of A's steps 1 are "acquire"`},

	// Random.
	{"random with clients", ok + "random: {clients: 2}\n", `broken.yaml:1:1: random draws clients and faults by itself: leave clients and faults out`},
	{"random without value", "title: x\nrandom:\n", `broken.yaml:2:9: random: want keys with values, such as "sections: 5"`},
	{"more clients than letters", "title: x\nrandom: {clients: 27}\n", `broken.yaml:2:19: clients: want a whole number from 1 to 26, not "27"`},
	{"random kinds of nothing", "title: x\nrandom: {kinds: []}\n", `broken.yaml:2:17: kinds: the list is empty; name at least one, or leave kinds out`},
	{"random failovers", "title: x\nrandom: {kinds: [failover]}\n",
		`broken.yaml:2:18: kinds: "failover" is none of pause, stall, cut, drop, delay, crash, clock-step`},
	{"random for years", "title: x\nttl: 1000h\nrandom: {clients: 20, sections: 10}\n",
		`broken.yaml:3:1: random: 10 sections of 20 clients take longer than 100000h0m0s; want fewer, or a shorter ttl`},

	// Expectations.
	{"expect without list", ok + "expect: {violated: []}\n", `broken.yaml:3:10: expect: want a list, such as "- violated: [exclusion]"`},
	{"an unknown property", ok + "expect:\n  - violated: [exlusion]\n", `broken.yaml:4:16: violated: "exlusion" is none of ` +
		`exclusion, effects, ownership, expiry, progress, availability, fence-order, fence-enforcement`},
	{"one property without list", ok + "expect:\n  - held: progress\n", `broken.yaml:4:11: held: want a list, such as "[exclusion]"`},
	{"a property twice", ok + "expect:\n  - may: [effects, effects]\n", `broken.yaml:4:20: may: effects occurs twice`},
	{"an unknown lock", ok + "expect:\n  - locks: [single, redlok]\n", `broken.yaml:4:21: locks: "redlok" is none of none, process-mutex, ` +
		`setnx-expire, single-del, single-getdel, single, single-watchdog, failover, redlock, redlock-watchdog, consensus, redsync, redsync-5, redislock, rueidislock`},
	{"a rule of no lock", ok + "expect:\n  - locks: []\n", `broken.yaml:4:12: locks: the list is empty; name at least one, or leave locks out`},
	{"fencing of many minds", ok + "expect:\n  - fencing: both\n", `broken.yaml:4:14: fencing: "both" is none of on, off, true, false`},
	{"also nothing", ok + "expect:\n  - also: []\n", `broken.yaml:4:11: also: the list is empty; name at least one, or leave also out`},
	{"also beside violated", ok + "expect:\n  - also: [effects]\n    violated: [exclusion]\n",
		`broken.yaml:4:5: expect: also adds to what an earlier rule says; write violated, held and may in a rule of their own`},
	{"violated and held", ok + "expect:\n  - violated: [effects]\n    held: [effects]\n",
		`broken.yaml:5:11: expect: effects is in violated and in held`},
}

const ok = "title: x\nclients: {A: [acquire, write], B: [acquire]}\n"

// step is a file in which A has the step, in line 4 from column 7 on.
func step(text string) string {
	return "title: x\nclients:\n  A:\n    - " + text + "\n  B: [acquire]\n"
}

// fault is a file with one fault, in line 6 from column 5 on.
func fault(lines ...string) string {
	return "title: x\nclients:\n  A: [acquire, write]\n  B: [acquire]\nfaults:\n  - " + strings.Join(lines, "\n    ") + "\n"
}

func TestAMistakeIsNamedWithItsPlaceAndItsRemedy(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.law, func(t *testing.T) {
			s, err := Parse("broken.yaml", []byte(tt.text))
			var mistake *FileError
			if s != nil || !errors.As(err, &mistake) {
				t.Fatalf("parsed as %+v, error %v; want a *FileError", s, err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// The frames of the table hold no mistake of their own.
func TestTheFramesOfBrokenFilesAreSound(t *testing.T) {
	for _, text := range []string{ok, step("acquire"), fault("pause: A")} {
		if _, err := Parse("ok.yaml", []byte(text)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}
