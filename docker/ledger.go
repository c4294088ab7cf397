package docker

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// ledger makes events of a run out of what a watch heard: whose command changed which key. What it cannot be sure of, it
// leaves out.
type ledger struct {
	node     string        // as the plan calls it
	origin   time.Duration // start of the run on the monotonic clock
	event    func(history.Event)
	answered func(client, node string, wrote bool)
	source   *ledger // of the primary, on a replica that only follows it; see owner

	mu       sync.Mutex
	names    map[string]string // connection -> client
	changes  []heard           // whose command is still to come
	script   *script           // that may still be running
	keys     map[string]*keyState
	writers  map[string]string // value of a key -> the client that ever wrote it; "" if there were several
	executed map[string]int    // by client: commands carried out
	wrote    []heard           // commands of clients that changed a key
}

// keyState is what a key holds, as far as the commands tell.
type keyState struct {
	value string
	owner string // the client that wrote it
}

// script is an EVAL: it comes before its commands, and its end shows in that the next command is not its own.
type script struct {
	client string
	sha    bool // called by digest: the server may not have it
	ran    bool // it did something
	wrote  bool
}

func newLedger(node string, origin time.Duration) *ledger {
	return &ledger{
		node: node, origin: origin, names: map[string]string{}, keys: map[string]*keyState{}, writers: map[string]string{},
		executed: map[string]int{},
	}
}

// hear takes the next item of the stream. What it finds out it tells before it returns.
func (l *ledger) hear(h heard) {
	for _, tell := range l.understand(h) {
		tell()
	}
}

// understand follows the stream and returns what there is to tell.
func (l *ledger) understand(h heard) (telling []func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case h.change == "expired" || h.change == "evicted":
		telling = append(telling, l.changed(h.at, history.KeyExpired, h.key, "", nil))
		delete(l.keys, h.key)
		return telling
	case h.change != "":
		l.changes = append(l.changes, h)
		return nil
	case h.from == "lua":
		if l.script == nil {
			l.changes = nil // of a script that nobody here saw begin
			return nil
		}
		l.script.ran = true
		told, wrote := l.apply(h, l.script.client)
		l.script.wrote = l.script.wrote || wrote
		return told
	}
	if s := l.script; s != nil {
		l.script = nil
		if s.client != "" && (s.ran || !s.sha) {
			telling = append(telling, l.done(s.client, s.wrote))
		}
	}
	verb := strings.ToLower(h.args[0])
	client := l.names[h.from]
	switch {
	case verb == "client" && len(h.args) == 3 && strings.EqualFold(h.args[1], "setname"):
		l.names[h.from], _ = strings.CutPrefix(h.args[2], clientPrefix)
		return telling
	case strings.HasPrefix(verb, "eval") || strings.HasPrefix(verb, "fcall"):
		l.script = &script{client: client, sha: strings.HasPrefix(verb, "evalsha")}
		return telling
	}
	told, wrote := l.apply(h, client)
	telling = append(telling, told...)
	if client != "" && client != harnessName && !slices.Contains(greetings, verb) {
		telling = append(telling, l.done(client, wrote))
	}
	return telling
}

// clientPrefix stands before the names of clients' connections on the servers.
const clientPrefix = "lockfault-client-"

// greetings are the commands with which client libraries prepare a server for what they want of it.
var greetings = []string{"hello", "client", "auth", "select", "ping", "info", "script"}

func (l *ledger) done(client string, wrote bool) func() {
	l.executed[client]++
	return func() { l.answered(client, l.node, wrote) }
}

// apply makes events of the changes that a command has made.
func (l *ledger) apply(h heard, client string) (telling []func(), wrote bool) {
	changes := l.changes
	l.changes = nil
	follower := l.source != nil && client == ""
	if len(changes) > 0 && client != "" && client != harnessName {
		h.from = client
		l.wrote = append(l.wrote, h)
	}
	var keys []string
	kinds := map[string][]string{}
	for _, c := range changes {
		if !slices.Contains(keys, c.key) {
			keys = append(keys, c.key)
		}
		kinds[c.key] = append(kinds[c.key], c.change)
	}
	for _, key := range keys {
		op := l.write(h, key, kinds[key], client)
		wrote = wrote || op == history.KeySet
		if tell := l.changed(h.at, op, key, client, h.args); !follower {
			telling = append(telling, tell)
		}
		if op == history.KeyDeleted {
			delete(l.keys, key)
		}
	}
	return telling, wrote
}

// write keeps what a command did to a key, and says what that is in a history.
func (l *ledger) write(h heard, key string, kinds []string, client string) history.Op {
	switch last := kinds[len(kinds)-1]; {
	case last == "del" || last == "rename_from" || last == "move_from":
		return history.KeyDeleted
	case !slices.ContainsFunc(kinds, func(k string) bool { return k != "expire" && k != "persist" }):
		return history.KeyTTL
	}
	value, known := valueSet(h.args, key)
	old := l.keys[key]
	if known && old != nil && old.value == value && value != "" && (client == "" || client == old.owner) {
		return history.KeyTTL
	}
	state := &keyState{value: value, owner: client}
	if client == "" && l.source != nil {
		state.owner = l.source.writer(key, value)
	}
	l.keys[key] = state
	if value != "" {
		id := key + "\x00" + value
		if before, seen := l.writers[id]; seen && before != state.owner {
			l.writers[id] = ""
		} else if !seen {
			l.writers[id] = state.owner
		}
	}
	return history.KeySet
}

// writer is the only client that ever gave the key this value; "" if that is not certain.
func (l *ledger) writer(key, value string) string {
	if value == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writers[key+"\x00"+value]
}

// changed is the telling of an event about a key, in the state that it has now.
func (l *ledger) changed(at time.Duration, op history.Op, key, client string, args []string) func() {
	e := history.Event{
		Time: at - l.origin, Process: l.node, Role: history.Node, Type: history.Ok, Op: op, Resource: key, By: client,
	}
	if client == harnessName {
		e.By = ""
	}
	if state := l.keys[key]; state != nil {
		e.Detail = map[string]string{}
		if state.value != "" {
			e.Detail["value"] = state.value
		}
		if state.owner != "" {
			e.Detail["owner"] = state.owner
		}
		if ttl := lifetime(args); ttl > 0 && op != history.KeyDeleted {
			e.Detail["ttl"] = ttl.String()
		}
	}
	return func() { l.event(e) }
}

// valueSet is the value that a command gave to a key, if it is one of those that name it.
func valueSet(args []string, key string) (string, bool) {
	if len(args) < 3 || args[1] != key {
		return "", false
	}
	switch strings.ToLower(args[0]) {
	case "set", "setnx", "getset":
		return args[2], true
	case "setex", "psetex":
		if len(args) > 3 {
			return args[3], true
		}
	}
	return "", false
}

// lifetime is the expiry that a command names; 0 if it names none.
func lifetime(args []string) time.Duration {
	number := func(i int) time.Duration {
		if i >= len(args) {
			return 0
		}
		n, _ := strconv.ParseInt(args[i], 10, 64)
		return time.Duration(n)
	}
	if len(args) == 0 {
		return 0
	}
	switch strings.ToLower(args[0]) {
	case "pexpire", "psetex":
		return number(2) * time.Millisecond
	case "expire", "setex":
		return number(2) * time.Second
	case "set":
		for i, a := range args {
			switch strings.ToLower(a) {
			case "px":
				return number(i+1) * time.Millisecond
			case "ex":
				return number(i+1) * time.Second
			}
		}
	}
	return 0
}

// told lists the commands of clients that changed a key; from is the client.
func (l *ledger) told() []heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.wrote)
}

// commands counts what the server has carried out for a client.
func (l *ledger) commands(client string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executed[client]
}

// lose forgets keys that the server lost, and connections that ended. It returns how many keys there were.
func (l *ledger) lose(keep nemesis.Survival) (keys int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys = len(l.keys)
	l.names, l.changes, l.script = map[string]string{}, nil, nil
	if keep != nemesis.KeepAll { // of what is still there, nobody is sure
		l.keys = map[string]*keyState{}
	}
	return keys
}

// promote makes the ledger of a replica one of a primary.
func (l *ledger) promote() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source = nil
}
