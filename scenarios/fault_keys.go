package scenarios

import (
	"strings"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// direction reads which way of a link a fault concerns; without the key, both.
func (r *reader) direction(details map[string]field) nemesis.Direction {
	f, ok := details["direction"]
	if !ok {
		return nemesis.Both
	}
	switch r.oneOf(f.value, f.key, "both", "requests", "replies") {
	case "requests":
		return nemesis.Requests
	case "replies":
		return nemesis.Replies
	}
	return nemesis.Both
}

// promoter reads who promotes the replica; without the key, somebody's hand.
func (r *reader) promoter(details map[string]field) nemesis.Promoter {
	f, ok := details["by"]
	if ok && r.oneOf(f.value, f.key, "hand", "sentinel") == "sentinel" {
		return nemesis.BySentinel
	}
	return nemesis.ByHand
}

// Bounds of what a link carries.
const (
	mostBytes       = 1 << 30
	mostKBPerSecond = 1_000_000
)

// bytes reads after how many a connection is reset; without the key, at once.
func (r *reader) bytes(details map[string]field) int64 {
	f, ok := details["after-bytes"]
	if !ok {
		return 0
	}
	return r.number(f, 1, mostBytes)
}

// perKB turns thousands of bytes a second into the time of a thousand bytes.
func (r *reader) perKB(kind field, details map[string]field) time.Duration {
	f := r.needed(kind, details, "kb-per-second", "how slow, such as \"kb-per-second: 8\"")
	if r.err != nil {
		return 0
	}
	return time.Second / time.Duration(max(r.number(f, 1, mostKBPerSecond), 1))
}

// someClients reads names, with commas between them.
func (r *reader) someClients(s *Scenario, f field) []string {
	var names []string
	for name := range strings.SplitSeq(r.text(f.value, f.key), ",") {
		name = strings.TrimSpace(name)
		r.knownClient(s, f.value, f.key, name)
		names = append(names, name)
	}
	return names
}
