package scenarios

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/lockfault/lockfault/checker"
)

// Baseline is a file of failures that are known and accepted for now. With it a run is as expected if exactly these
// violations show, whatever the scenario expects.
type Baseline struct {
	File  string
	Known []KnownFailure
}

// KnownFailure is one entry of a baseline.
type KnownFailure struct {
	Lock     string
	Scenario string
	Fencing  *bool    // nil: with and without
	Violated []string // properties
	Reason   string   // why it is accepted
	Line     int      // in the file, from 1
}

// unwritten is the reason of an entry that nobody has thought about yet; see WriteBaseline.
const unwritten = "TODO"

// LoadBaseline reads a baseline. Locks and scenarios are those that its entries may name: a scenario by its name or code. A
// mistake in the file is a *FileError with line and column; other errors are the file system's.
func LoadBaseline(path string, locks []string, chosen []*Scenario) (*Baseline, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	r := &reader{file: path, what: "baseline", begin: "known: []"}
	b := &Baseline{File: path}
	root := r.document(data)
	for _, f := range r.fields(root, "baseline", "known: [...]", "known") {
		for _, item := range r.list(f.value, f.key, "- lock: my-lock") {
			b.add(r, item, r.known(item, locks, chosen))
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return b, nil
}

// known reads one entry.
func (r *reader) known(n ast.Node, locks []string, chosen []*Scenario) KnownFailure {
	if r.err != nil {
		return KnownFailure{}
	}
	k := KnownFailure{Line: start(n).Line}
	fields := r.fields(n, "known", "lock: my-lock", "lock", "scenario", "fencing", "violated", "reason")
	for _, f := range fields {
		switch f.key {
		case "lock":
			k.Lock = r.lock(f, locks)
		case "scenario":
			k.Scenario = r.scenario(f, chosen)
		case "fencing":
			on := r.flag(f)
			k.Fencing = &on
		case "violated":
			k.Violated = r.someOf(f, checker.Names())
		case "reason":
			if k.Reason = r.line(f); k.Reason == unwritten {
				r.fail(f.value, "reason: write down why this failure is accepted, and until when")
			}
		}
	}
	for _, missing := range []struct {
		is  bool
		key string
	}{{k.Lock == "", "lock"}, {k.Scenario == "", "scenario"}, {len(k.Violated) == 0, "violated"}, {k.Reason == "", "reason"}} {
		if missing.is {
			r.fail(n, "known: %s is missing; an entry has lock, scenario, violated and reason, and fencing if it is about one only", missing.key)
		}
	}
	return k
}

// lock is one of the names. Another may be a typing error, which would let a failure through, or a program's.
func (r *reader) lock(f field, names []string) string {
	text := r.text(f.value, f.key)
	if text != "" && !slices.Contains(names, text) {
		r.fail(f.value, "lock: %q is none of %s; only a call that runs a program knows its name: "+
			"keep its entries in a file of its own", text, strings.Join(names, ", "))
	}
	return text
}

// scenario is the name of one of the chosen.
func (r *reader) scenario(f field, chosen []*Scenario) string {
	text := r.text(f.value, f.key)
	for _, s := range chosen {
		if text != "" && (text == s.Name || text == s.Code) {
			return s.Name
		}
	}
	r.fail(f.value, "scenario: there is no %q; `lockfault list scenarios` names them, and one from a file must be among those that are run", text)
	return ""
}

// add refuses what is known already.
func (b *Baseline) add(r *reader, n ast.Node, k KnownFailure) {
	for _, old := range b.Known {
		same := old.Lock == k.Lock && old.Scenario == k.Scenario && (old.Fencing == nil || k.Fencing == nil || *old.Fencing == *k.Fencing)
		for _, p := range k.Violated {
			if same && slices.Contains(old.Violated, p) {
				r.fail(n, "known: %s of %s in %s is in line %d already", p, k.Lock, k.Scenario, old.Line)
			}
		}
	}
	b.Known = append(b.Known, k)
}

// Against judges verdicts, by property, by the baseline: what it demands of them; a sentence for each violation that is not
// known and each known one that is gone; and the line of the first entry that is to be taken out, 0 if none is. A known
// violation that could be neither shown nor refuted is neither.
func (b *Baseline) Against(lock, scenario string, fencing bool, verdicts map[string]checker.Verdict) (demands map[string]checker.Status, unexpected []string, line int) {
	lines := map[string]int{}
	for _, k := range b.Known {
		if k.Lock == lock && k.Scenario == scenario && (k.Fencing == nil || *k.Fencing == fencing) {
			for _, p := range k.Violated {
				lines[p] = k.Line
			}
		}
	}
	demands = map[string]checker.Status{}
	for _, p := range checker.All {
		got, at := verdicts[p.Name].Status, lines[p.Name]
		switch {
		case at > 0:
			demands[p.Name] = checker.Violated
			if got == checker.Held {
				line = cmp.Or(line, at)
				unexpected = append(unexpected, fmt.Sprintf("%s: known to be violated, but held: take it out of %s, line %d", p.Name, b.File, at))
			}
		case got == checker.Violated:
			demands[p.Name] = checker.Held
			unexpected = append(unexpected, fmt.Sprintf("%s: violated, which is not in %s", p.Name, b.File))
		}
	}
	return demands, unexpected, line
}

// WriteBaseline writes entries as a baseline that LoadBaseline refuses until every reason is written.
func WriteBaseline(w io.Writer, known []KnownFailure) error {
	var b strings.Builder
	b.WriteString("# Failures that are known and accepted for now, each with the reason why. Whatever else is violated fails the run,\n" +
		"# and so does an entry that is not violated any more.\nknown:")
	if len(known) == 0 {
		b.WriteString(" []\n")
	} else {
		b.WriteString("\n")
	}
	for _, k := range known {
		fmt.Fprintf(&b, "  - lock: %s\n    scenario: %s\n", k.Lock, k.Scenario)
		if k.Fencing != nil {
			fmt.Fprintf(&b, "    fencing: %s\n", map[bool]string{true: "on", false: "off"}[*k.Fencing])
		}
		fmt.Fprintf(&b, "    violated: [%s]\n    reason: %s\n", strings.Join(k.Violated, ", "), unwritten)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
