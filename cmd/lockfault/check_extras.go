package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/results"
)

// extraFlags ask for what goes beyond verdicts.
type extraFlags struct {
	metrics bool
	picture string // file
}

func (f *extraFlags) add(c *call) {
	c.flags.BoolVar(&f.metrics, "metrics", false, "after the verdicts, figures from the same history: overlaps and stale writes with their rates, what was lost and when its holder learned of it, waiting, fairness (table and json; what is not defined is left out)")
	c.flags.StringVar(&f.picture, "porcupine-html", "", "also write porcupine's picture of the lock as a mutex to `FILE`; a large history is cut to the neighbourhood of the violation")
}

func (f *extraFlags) check(c *call, all *checkFlags) error {
	for _, flag := range []string{"metrics", "porcupine-html"} {
		if all.to != "" && c.flags.Changed(flag) {
			return usagef("--to judges nothing; --%s is for judging", flag)
		}
	}
	if f.metrics && all.format != "table" && all.format != "json" {
		return usagef("--metrics --format %s: want table or json", all.format)
	}
	switch {
	case !c.flags.Changed("porcupine-html"):
	case f.picture == "":
		return usagef("--porcupine-html: an empty name")
	case len(c.args) > 0 && sameFile(f.picture, c.args[0]):
		return usagef("--porcupine-html %s: that is the history itself", f.picture)
	}
	return nil
}

// writeExtras follows the verdicts with what was asked for besides.
func (c *call) writeExtras(h *historyFile, f *checkFlags, report results.Report) error {
	if f.extras.metrics {
		m := checker.Measure(h.digest)
		if h.reader.Untimed() {
			m = m.WithoutTimes()
		}
		write := func() error { return results.WriteMetrics(c.stdout, m, c.layout()) }
		if f.format == "json" {
			write = func() error { return results.WriteMeasuredJSON(c.stdout, report, m) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	if f.extras.picture != "" {
		return writePicture(f.extras.picture, h.digest)
	}
	return nil
}

// writePicture leaves no half picture behind.
func writePicture(name string, c *checker.Case) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("--porcupine-html: %w", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(fmt.Errorf("--porcupine-html: %w", err), os.Remove(name))
		}
	}()
	out := bufio.NewWriter(file)
	if err := checker.WritePicture(out, c); err != nil {
		return err
	}
	return out.Flush()
}
