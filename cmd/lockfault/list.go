package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
)

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
