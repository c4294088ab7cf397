package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/locks"
)

// Protocol is the version of what is written down in PROTOCOL.md.
const Protocol = 1

// request is one line to a program.
type request struct {
	ID int64  `json:"id"`
	Op string `json:"op"` // hello, acquire, extend, release, valid, quit

	// hello
	Protocol int      `json:"protocol,omitempty"`
	Client   string   `json:"client,omitempty"`
	Nodes    []string `json:"nodes,omitempty"` // none: only describe yourself
	TTL      int64    `json:"ttl_ms,omitempty"`
	Fencing  *bool    `json:"fencing,omitempty"`

	// acquire, extend, release, valid
	Resource string `json:"resource,omitempty"`
	Wait     *int64 `json:"wait_ms,omitempty"` // acquire
	// extend, release, valid
	Lease int64  `json:"lease,omitempty"` // id of the acquire that was granted
	Token string `json:"token,omitempty"` // as the program gave it
}

// Outcomes of an answer.
const (
	okOutcome      = "ok"      // it happened
	failOutcome    = "fail"    // it certainly did not
	unknownOutcome = "unknown" // nobody knows
)

// answer is one line from a program: to a request, or unasked that a lease is lost.
type answer struct {
	ID      int64  `json:"id"`
	Outcome string `json:"outcome"`
	Error   string `json:"error"`
	Description
	grant

	Lost int64 `json:"lost"` // unasked: id of the acquire whose lease is over
}

// grant is what an acquire or extend that succeeded says of the lease.
type grant struct {
	Token    string   `json:"token"`
	Fence    int64    `json:"fence"`
	Validity *float64 `json:"validity_ms"` // nil: no end that the program knows
	Waited   float64  `json:"waited_ms"`   // acquire: from the request to the attempt that was granted
}

// Description is what a program says of itself.
type Description struct {
	Name    string `json:"name"`    // in tables and file names
	Version string `json:"version"` // of the library that it is about; may be empty
	Servers string `json:"servers"` // what it runs on: one-node, primary-replica or five-nodes
	Fences  bool   `json:"fences"`  // it can mint fences
	Waits   bool   `json:"waits"`   // its acquire waits by itself; else it tries once
	Extends *bool  `json:"extends"` // false: it cannot extend a lease
	Like    string `json:"like"`    // the lock of locks.All that it should behave as; may be empty
}

// kinds are the servers that a program may ask for.
var kinds = []struct {
	name    string
	servers locks.Servers
}{{"one-node", locks.OneNode}, {"primary-replica", locks.PrimaryAndReplica}, {"five-nodes", locks.FiveNodes}}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// check says what is wrong with a description, and what to write instead.
func (d Description) check() error {
	var known []string
	for _, k := range kinds {
		known = append(known, k.name)
	}
	if !plainName.MatchString(d.Name) {
		return fmt.Errorf("hello: name %q: want at most 40 of a-z, 0-9, dot, dash and underscore, such as \"my-lock\"", d.Name)
	}
	if !slices.Contains(known, d.Servers) {
		return fmt.Errorf("hello: servers %q: want one of %s", d.Servers, strings.Join(known, ", "))
	}
	if _, err := locks.Find(d.Name); err == nil {
		return fmt.Errorf("hello: name %q is that of a lock which lockfault has; write it as like, and choose another name", d.Name)
	}
	if d.Like != "" {
		if _, err := locks.Find(d.Like); err != nil {
			return fmt.Errorf("hello: like: %w", err)
		}
	}
	return nil
}

// Kind is what the program runs on.
func (d Description) Kind() locks.Servers {
	for _, k := range kinds {
		if k.name == d.Servers {
			return k.servers
		}
	}
	return locks.NoServer
}

// lineLimit is how long a line from a program may be, in bytes.
const lineLimit = 64 << 10

// parse reads one line from a program. Errors say what is wrong with it.
func parse(line []byte) (answer, error) {
	var a answer
	words := json.NewDecoder(bytes.NewReader(line))
	words.DisallowUnknownFields()
	err := words.Decode(&a)
	if err == nil {
		if _, more := words.Token(); more != io.EOF {
			err = errors.New("more than one value on the line")
		}
	}
	if err != nil {
		return a, fmt.Errorf("it wrote a line that is no answer: %s (%w); standard output is for answers only, one JSON object on "+
			"each line: write anything else to standard error", excerpt(string(line)), err)
	}
	return a, a.check(line)
}

func (a answer) check(line []byte) error {
	switch {
	case a.Lost != 0 && a.ID == 0 && a.Outcome == "":
		return nil
	case a.Lost != 0 || a.ID == 0:
		return fmt.Errorf("it wrote %s, which is neither an answer, with an id, nor the news of a lost lease, with lost alone", excerpt(string(line)))
	case !slices.Contains([]string{okOutcome, failOutcome, unknownOutcome}, a.Outcome):
		return fmt.Errorf("it answered %s: outcome %q is none of ok, fail, unknown", excerpt(string(line)), a.Outcome)
	}
	for _, ms := range []*float64{a.Validity, &a.Waited} {
		if ms != nil && !(*ms >= 0 && *ms < 1e9) {
			return fmt.Errorf("it answered %s: validity_ms and waited_ms are milliseconds from 0 on", excerpt(string(line)))
		}
	}
	return nil
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(math.Floor(ms * float64(time.Millisecond)))
}

// excerpt is the beginning of a text, as one can print it.
func excerpt(text string) string {
	const most = 120
	if len(text) > most {
		return fmt.Sprintf("%q and %d bytes more", text[:most], len(text)-most)
	}
	return fmt.Sprintf("%q", text)
}
