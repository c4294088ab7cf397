package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/nemesis"
)

// The forms of a moment. Each may end in "(2)" for the second time and in "+ 100ms" for so much later.
var (
	tail         = `(?: \((\d+)\))?(?: \+ (\S+))?$`
	didForm      = regexp.MustCompile(`^(\S+) (acquired|extended|checked|read|wrote|released)` + tail)
	refusedForm  = regexp.MustCompile(`^(\S+) was refused (acquire|extend|check|write|release)` + tail)
	answeredForm = regexp.MustCompile(`^(all nodes|\d+ nodes?|\S+) answered (\S+)'s (acquire|extend|release)` + tail)
	grantedForm  = regexp.MustCompile(`^(all nodes|\d+ nodes?|\S+) granted (\S+?)` + tail)
	doesForm     = regexp.MustCompile(`^(\S+) (acquires|extends|checks|reads|writes|releases)` + tail)
)

var operations = map[string]string{
	"acquired": "acquire", "extended": "extend", "checked": "check", "read": "read", "wrote": "write", "released": "release",
	"acquires": "acquire", "extends": "extend", "checks": "check", "reads": "read", "writes": "write", "releases": "release",
}

// trigger reads at, after, before or until.
func (r *reader) trigger(f field) nemesis.Trigger {
	if f.key == "at" {
		return nemesis.Trigger{At: r.duration(f, 0)}
	}
	text := r.text(f.value, f.key)
	if r.err != nil {
		return nemesis.Trigger{}
	}
	parse := parseAfter
	if f.key == "before" {
		parse = parseBefore
	}
	t, err := parse(text)
	if err != nil {
		r.fail(f.value, "%s: %v", f.key, err)
	}
	r.moments = append(r.moments, placedMoment{f.value, f.key, t.Moment})
	return t
}

// comes checks that a moment can come about: that there is its client, with such steps.
func (r *reader) comes(s *Scenario, p placedMoment) {
	r.knownClient(s, p.at, p.key, p.moment.Client)
	count := 0
	for _, c := range s.Clients {
		for _, step := range c.Steps {
			if c.Name == p.moment.Client && string(step.Op) == p.moment.Op {
				count++
			}
		}
	}
	if count < p.moment.Nth {
		r.fail(p.at, "%s: %q never comes: of %s's steps %d are %q", p.key, r.text(p.at, p.key), p.moment.Client, count, p.moment.Op)
	}
}

// parseAfter reads what stands behind `after:` or `until:`.
func parseAfter(text string) (nemesis.Trigger, error) {
	if m := didForm.FindStringSubmatch(text); m != nil {
		return moment(nemesis.Moment{Edge: nemesis.After, Client: m[1], Op: operations[m[2]]}, m[3], m[4])
	}
	if m := refusedForm.FindStringSubmatch(text); m != nil {
		return moment(nemesis.Moment{Edge: nemesis.After, Client: m[1], Op: m[2], Refused: true}, m[3], m[4])
	}
	if m := answeredForm.FindStringSubmatch(text); m != nil {
		return byServers(nemesis.Moment{Edge: nemesis.Answered, Client: m[2], Op: m[3]}, m[1], m[4], m[5])
	}
	if m := grantedForm.FindStringSubmatch(text); m != nil {
		return byServers(nemesis.Moment{Edge: nemesis.Granted, Client: m[2], Op: "acquire"}, m[1], m[3], m[4])
	}
	return nemesis.Trigger{}, fmt.Errorf("%q is no moment; write it like \"A acquired\", \"B wrote (2) + 100ms\", "+
		"\"A was refused acquire\", \"all nodes answered A's acquire\", \"n3 answered A's release\" or \"3 nodes granted A\"", text)
}

// parseBefore reads what stands behind `before:`.
func parseBefore(text string) (nemesis.Trigger, error) {
	m := doesForm.FindStringSubmatch(text)
	if m == nil {
		return nemesis.Trigger{}, fmt.Errorf("%q is no moment; write it like \"A writes\" or \"B acquires (2)\"", text)
	}
	if m[4] != "" {
		return nemesis.Trigger{}, fmt.Errorf("%q: nothing can come later than just before; leave \"+ %s\" out", text, m[4])
	}
	return moment(nemesis.Moment{Edge: nemesis.Before, Client: m[1], Op: operations[m[2]]}, m[3], "")
}

// byServers adds who answered: all nodes, so many nodes, or one by name.
func byServers(m nemesis.Moment, who, nth, later string) (nemesis.Trigger, error) {
	count, _, isCount := strings.Cut(who, " ")
	switch {
	case who == "all nodes":
		m.Nodes = nemesis.AllOfThem
	case isCount:
		most := len(locks.FiveNodes.Names())
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > most {
			return nemesis.Trigger{}, fmt.Errorf("%q: want 1 to %d nodes, or \"all nodes\"", who, most)
		}
		m.Nodes = n
	case !slices.Contains(serverNames, who):
		return nemesis.Trigger{}, fmt.Errorf("there is no server %q; servers are %s", who, strings.Join(serverNames, ", "))
	default:
		m.Node = who
	}
	return moment(m, nth, later)
}

// moment adds which time it is, the first if nth is empty, and how much later.
func moment(m nemesis.Moment, nth, later string) (nemesis.Trigger, error) {
	t := nemesis.Trigger{Moment: m}
	t.Moment.Nth = 1
	if nth != "" {
		n, err := strconv.Atoi(nth)
		if err != nil || n < 1 {
			return t, fmt.Errorf("(%s): want which time it is, from 1", nth)
		}
		t.Moment.Nth = n
	}
	if later != "" {
		d, err := time.ParseDuration(later)
		if err != nil || d < 0 || d > longest {
			return t, fmt.Errorf("+ %s: want a duration such as 100ms", later)
		}
		t.At = d
	}
	return t, nil
}
