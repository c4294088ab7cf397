package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// snapshot is what a Redis node holds at one moment. Expiries are absolute, on the node's wall clock, as a real Redis
// stores them.
type snapshot map[string]record

type record struct {
	kind    string
	parts   []string  // the value: one part for a string, pairs for a hash or sorted set, members for a list or set
	expires time.Time // zero: never
}

func (r record) sameValue(o record) bool { return r.kind == o.kind && slices.Equal(r.parts, o.parts) }

// value is what a person is shown.
func (r record) value() string {
	if len(r.parts) == 1 {
		return r.parts[0]
	}
	return fmt.Sprint(r.parts)
}

// takeSnapshot copies what a server holds; now is its wall clock.
func takeSnapshot(m *miniredis.Miniredis, now time.Time) snapshot {
	s := snapshot{}
	for _, key := range m.Keys() {
		r := record{kind: m.Type(key)}
		switch r.kind {
		case "string":
			v, _ := m.Get(key)
			r.parts = []string{v}
		case "hash":
			fields, _ := m.HKeys(key)
			slices.Sort(fields)
			for _, f := range fields {
				r.parts = append(r.parts, f, m.HGet(key, f))
			}
		case "list":
			r.parts, _ = m.List(key)
		case "set":
			r.parts, _ = m.Members(key)
		case "zset":
			scores, _ := m.SortedSet(key)
			for _, member := range slices.Sorted(maps.Keys(scores)) {
				r.parts = append(r.parts, member, strconv.FormatFloat(scores[member], 'g', -1, 64))
			}
		default:
			panic(fmt.Sprintf("key %q: values of type %s are not supported here", key, r.kind))
		}
		if ttl := m.TTL(key); ttl > 0 {
			r.expires = now.Add(ttl)
		}
		s[key] = r
	}
	return s
}

// restore makes a server hold the snapshot and nothing else; now is its wall clock.
func (s snapshot) restore(m *miniredis.Miniredis, now time.Time) {
	m.FlushAll()
	for key, r := range s {
		if !r.expires.IsZero() && !r.expires.After(now) {
			continue
		}
		switch r.kind {
		case "string":
			_ = m.Set(key, r.parts[0])
		case "hash":
			m.HSet(key, r.parts...)
		case "list":
			_, _ = m.Push(key, r.parts...)
		case "set":
			_, _ = m.SetAdd(key, r.parts...)
		case "zset":
			for i := 0; i < len(r.parts); i += 2 {
				score, _ := strconv.ParseFloat(r.parts[i+1], 64)
				_, _ = m.ZAdd(key, score, r.parts[i])
			}
		}
		if !r.expires.IsZero() {
			m.SetTTL(key, r.expires.Sub(now))
		}
	}
}
