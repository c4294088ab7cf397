package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
)

// list says what there is.
func list(c *call) (int, error) {
	if err := c.parse(1); err != nil {
		return 0, err
	}
	kinds := []string{"locks", "scenarios", "faults", "properties"}
	chosen := kinds
	if len(c.args) == 1 {
		if !slices.Contains(kinds, c.args[0]) {
			return 0, usagef("%q: want one of %s", c.args[0], strings.Join(kinds, ", "))
		}
		chosen = c.args
	}
	for i, kind := range chosen {
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		if err := c.listKind(kind); err != nil {
			return 0, err
		}
	}
	return exitExpected, nil
}

func (c *call) listKind(kind string) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	switch kind {
	case "locks":
		for _, l := range locks.All {
			summary := l.Summary
			if l.Module != "" {
				summary += "; third-party: " + l.Module
			}
			fmt.Fprintf(w, "%s\t%s\n", l.Name, summary)
		}
	case "scenarios":
		all, err := scenarios.Catalogue()
		if err != nil {
			return err
		}
		for _, s := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Code, s.Name, s.Title)
		}
	case "faults":
		for _, f := range scenarios.FaultKinds {
			fmt.Fprintf(w, "%s\t%s\n", f.Name, f.Summary)
		}
	case "properties":
		for _, p := range checker.All {
			fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Claim)
		}
	}
	return nil
}
