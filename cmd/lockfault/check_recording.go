package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/certain"
	"github.com/lockfault/lockfault/checker/recording"
	"github.com/lockfault/lockfault/results"
)

// clockFlags say how far clocks may be off, for a recording from recording.
type clockFlags struct {
	errors []string
}

func (f *clockFlags) add(c *call) {
	c.flags.StringArrayVar(&f.errors, "clock-error", nil, "for a recording of several hosts: `TIME` by which a host's clock may be off "+
		"from true time, either way, or HOST=TIME for one; may be repeated")
}

// bounds are what the flags say of hosts.
func (f *clockFlags) bounds(hosts []string) (func(string) time.Duration, error) {
	all, known := time.Duration(0), len(hosts) < 2 // on one host, its own order counts
	of := map[string]time.Duration{}
	for _, text := range f.errors {
		host, value, named := strings.Cut(text, "=")
		if !named {
			value = text
		}
		bound, err := time.ParseDuration(value)
		switch {
		case err != nil || bound < 0:
			return nil, usagef("--clock-error %s: want a duration such as 20ms, or HOST=20ms", text)
		case !named:
			all, known = bound, true
		case !slices.Contains(hosts, host):
			return nil, usagef("--clock-error %s: there is no host %q; there are %s%s", text, host, strings.Join(hosts, ", "), didYouMean(host, hosts))
		default:
			of[host] = bound
		}
	}
	for _, h := range hosts {
		if _, told := of[h]; !told && !known {
			return nil, usagef("--clock-error: say how far the clock of %s may be off, such as --clock-error 20ms for all hosts: "+
				"`chronyc tracking` shows root dispersion and half the root delay, whose sum is a bound", h)
		}
	}
	return func(host string) time.Duration {
		if bound, told := of[host]; told {
			return bound
		}
		return all
	}, nil
}

// checkRecording judges a recording from production, if that is what the files are; done tells whether they are, or that
// the call is wrong.
func (c *call) checkRecording(f *checkFlags) (code int, done bool, err error) {
	recorded, other := 0, ""
	for _, name := range c.args {
		if is, err := c.files.areRecording(name); err != nil {
			return 0, true, err
		} else if is {
			recorded++
		} else {
			other = shown(name)
		}
	}
	switch {
	case recorded == 0 && len(c.args) > 1:
		return 0, true, usagef("do not know what to do with %q: only recordings (see package checker/recording) come in several files", c.args[1])
	case recorded == 0 && c.flags.Changed("clock-error"):
		if _, err := c.readHistory(c.args[0], ""); err != nil {
			return 0, true, err
		}
		return 0, true, usagef("--clock-error is for recordings (see package checker/recording); a history has one clock")
	case recorded == 0:
		return 0, false, nil
	case recorded < len(c.args):
		return 0, true, usagef("%s is no recording (see package checker/recording), and others are", other)
	}
	code, err = c.judgeRecording(f)
	return code, true, err
}

// recordedProperties are those of which a recording tells.
var recordedProperties = []string{checker.Exclusion, checker.Effects, checker.FenceOrder, checker.FenceEnforcement}

func (c *call) judgeRecording(f *checkFlags) (int, error) {
	for _, flag := range []string{"model", "ttl", "to", "metrics", "porcupine-html"} {
		if c.flags.Changed(flag) {
			return 0, usagef("--%s is not for recordings", flag)
		}
	}
	chosen := recordedProperties
	for _, p := range f.properties {
		if !slices.Contains(recordedProperties, p) {
			return 0, usagef("--property %s: a recording does not tell; it tells of %s", p, strings.Join(recordedProperties, ", "))
		}
		chosen = f.properties
	}
	lines, err := c.readRecordings(f.resource)
	if err != nil {
		return 0, err
	}
	hosts, locks := map[string]bool{}, map[string]bool{}
	for i := range lines {
		hosts[lines[i].Host] = true
		if lines[i].Lock != "" {
			locks[lines[i].Lock] = true
		}
	}
	bound, err := f.clocks.bounds(slices.Sorted(maps.Keys(hosts)))
	if err != nil {
		return 0, err
	}
	j, err := certain.Judge(lines, bound)
	if err != nil {
		return 0, err
	}
	for _, w := range j.Warnings {
		fmt.Fprintf(c.stderr, "warning: %s\n", w)
	}
	run := results.Run{
		Lock: strings.Join(slices.Sorted(maps.Keys(locks)), "+"), Scenario: "recorded", Testbed: "production", Title: describeRecording(j, bound),
		Fencing: fencedRecording(lines), Events: j.Lines, Verdicts: map[string]checker.Verdict{},
	}
	if len(locks) != 1 {
		run.Lock = fmt.Sprintf("%d-locks", len(locks))
	}
	for _, p := range chosen {
		run.Verdicts[p] = j.Verdicts[p]
	}
	expectAsked(&run, f.properties)
	if f.format == "table" {
		err = results.WriteRun(c.stdout, run, c.layout())
	} else {
		err = c.show(results.Report{Runs: []results.Run{run}}, f.format)
	}
	return verdictStatus(run.Verdicts, f.properties), err
}

// fencedRecording tells whether every grant has a fence, and there is one.
func fencedRecording(lines []recording.Line) bool {
	fenced := false
	for i := range lines {
		if l := &lines[i]; l.Op == recording.Acquire && l.Outcome == recording.Ok {
			if l.Fence == 0 {
				return false
			}
			fenced = true
		}
	}
	return fenced
}

// describeRecording says whose clocks were trusted how far, and for what time.
func describeRecording(j *certain.Judgement, bound func(string) time.Duration) string {
	var hosts []string
	for _, h := range j.Hosts {
		hosts = append(hosts, fmt.Sprintf("%s ±%v", h, bound(h)))
	}
	return fmt.Sprintf("Recorded by %s, from %s to %s", strings.Join(hosts, ", "), j.From.UTC().Format(time.RFC3339), j.To.UTC().Format(time.RFC3339))
}

// readLines reads a recording, gzip or not.
func readLines(in *input, name string) ([]recording.Line, []string, error) {
	var from io.Reader = in
	if in.zipped() {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		from = zip
	}
	lines, warnings, err := recording.Read(from, name)
	if len(lines) == 0 && err == nil {
		err = fmt.Errorf("%s: no whole line", name)
	}
	return lines, warnings, err
}

// readRecordings reads all files. A name that is not empty chooses a lock, or the locks of some data.
func (c *call) readRecordings(name string) ([]recording.Line, error) {
	var all []recording.Line
	for _, file := range c.args {
		in, err := c.files.open(file)
		if err != nil {
			return nil, err
		}
		name := shown(file)
		if file != "-" {
			name = filepath.Base(file)
		}
		lines, warnings, err := readLines(in, name)
		err = errors.Join(err, in.Close())
		for _, w := range warnings {
			fmt.Fprintf(c.stderr, "warning: %s\n", w)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	if name == "" {
		return all, nil
	}
	locks, known := map[string]bool{}, map[string]bool{}
	for i := range all {
		l := &all[i]
		known[l.Lock], known[l.Resource] = true, true
		if l.Lock == name || l.Resource == name {
			locks[l.Lock] = true
		}
	}
	if len(locks) == 0 {
		delete(known, "")
		return nil, usagef("--resource %q: the recording has no lock and no data of this name; there is: %s", name,
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return slices.DeleteFunc(all, func(l recording.Line) bool { return l.Lock != "" && !locks[l.Lock] }), nil
}
