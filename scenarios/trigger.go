package scenarios

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lockfault/lockfault/nemesis"
)

// The forms of a trigger. Each may end in "(2)" for the second time and in "+ 100ms" for so much later.
var (
	tail         = `(?: \((\d+)\))?(?: \+ (\S+))?$`
	didForm      = regexp.MustCompile(`^(\S+) (acquired|extended|checked|read|wrote|released)` + tail)
	refusedForm  = regexp.MustCompile(`^(\S+) was refused (acquire|extend|check|write|release)` + tail)
	answeredForm = regexp.MustCompile(`^(all nodes|\d+ nodes?|\S+) (answered) (\S+)'s (acquire|extend|release)` + tail)
	grantedForm  = regexp.MustCompile(`^(all nodes|\d+ nodes?|\S+) (granted) (\S+?)()` + tail)
	doesForm     = regexp.MustCompile(`^(\S+) (acquires|extends|checks|reads|writes|releases)` + tail)
)

var operations = map[string]string{
	"acquired": "acquire", "extended": "extend", "checked": "check", "read": "read", "wrote": "write", "released": "release",
	"acquires": "acquire", "extends": "extend", "checks": "check", "reads": "read", "writes": "write", "releases": "release",
}

// parseAfter reads what stands behind `after:` or `until:`.
func parseAfter(text string) (nemesis.Trigger, error) {
	var t nemesis.Trigger
	if m := didForm.FindStringSubmatch(text); m != nil {
		t.Moment = nemesis.Moment{Edge: nemesis.After, Client: m[1], Op: operations[m[2]]}
		return t, finish(&t, m[3], m[4])
	}
	if m := refusedForm.FindStringSubmatch(text); m != nil {
		t.Moment = nemesis.Moment{Edge: nemesis.After, Client: m[1], Op: m[2], Refused: true}
		return t, finish(&t, m[3], m[4])
	}
	for _, form := range []*regexp.Regexp{answeredForm, grantedForm} {
		if m := form.FindStringSubmatch(text); m != nil {
			t.Moment = nemesis.Moment{Edge: nemesis.Answered, Client: m[3], Op: m[4]}
			if m[2] == "granted" {
				t.Moment.Edge, t.Moment.Op = nemesis.Granted, "acquire"
			}
			if err := byNodes(&t.Moment, m[1]); err != nil {
				return t, err
			}
			return t, finish(&t, m[5], m[6])
		}
	}
	return t, fmt.Errorf("%q is no moment; write it like \"A acquired\", \"B wrote (2) + 100ms\", \"A was refused acquire\", "+
		"\"all nodes answered A's acquire\", \"n3 answered A's release\" or \"3 nodes granted A\"", text)
}

// byNodes reads who answered: all nodes, so many nodes, or one by name.
func byNodes(m *nemesis.Moment, who string) error {
	count, _, isCount := strings.Cut(who, " ")
	switch {
	case who == "all nodes":
		m.Nodes = nemesis.AllOfThem
	case isCount:
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("%q: want at least one node", who)
		}
		m.Nodes = n
	default:
		m.Node = who
	}
	return nil
}

// parseBefore reads what stands behind `before:`.
func parseBefore(text string) (nemesis.Trigger, error) {
	var t nemesis.Trigger
	m := doesForm.FindStringSubmatch(text)
	if m == nil {
		return t, fmt.Errorf("%q is no moment; write it like \"A writes\" or \"B acquires (2)\"", text)
	}
	if m[4] != "" {
		return t, fmt.Errorf("%q: nothing can come later than just before", text)
	}
	t.Moment = nemesis.Moment{Edge: nemesis.Before, Client: m[1], Op: operations[m[2]]}
	return t, finish(&t, m[3], "")
}

func finish(t *nemesis.Trigger, nth, later string) error {
	t.Moment.Nth = 1
	if nth != "" {
		n, err := strconv.Atoi(nth)
		if err != nil || n < 1 {
			return fmt.Errorf("(%s): want the number of the time, from 1", nth)
		}
		t.Moment.Nth = n
	}
	if later != "" {
		d, err := time.ParseDuration(later)
		if err != nil || d < 0 {
			return fmt.Errorf("+ %s: want a duration such as 100ms", later)
		}
		t.At = d
	}
	return nil
}
