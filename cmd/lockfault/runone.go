package main

import (
	"fmt"
	"strings"

	"github.com/lockfault/lockfault/nemesis"
	"github.com/lockfault/lockfault/results"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// runOne runs one scenario on one lock, and tells the whole story.
func runOne(c *call) (int, error) {
	var plan planFlags
	var output outputFlags
	plan.add(c)
	output.add(c)
	plans, err := c.prepare(&plan, &output)
	if err != nil {
		return 0, err
	}
	for _, p := range plans {
		if p.Lock.Name != plans[0].Lock.Name || p.Scenario.Name != plans[0].Scenario.Name {
			return 0, usagef("want one --lock and one --scenario, as in\n\n" +
				"  lockfault run --lock redlock --scenario pause-after-acquire\n\n" +
				"`lockfault list` names what there is; compare takes several")
		}
	}
	f, err := c.carryOut(plans, plan.budget, &plan.baseline, output, plans[0].Lock.Name+"-"+plans[0].Scenario.Name)
	if err != nil {
		return 0, err
	}
	if err := c.tell(f, output, plans[0]); err != nil {
		return 0, err
	}
	return c.conclude(f, output, &plan.baseline)
}

// tell shows runs of one plan, or of its two forms with and without fencing, in full.
func (c *call) tell(f findings, output outputFlags, plan runner.Plan) error {
	if output.format != "table" {
		return c.present(f, output)
	}
	runs := f.report.Runs
	if strange := f.report.Odd().Runs; output.quiet && (len(strange) > 0 || c.allWell(f)) {
		runs = strange // where none is, and yet not all is well, every run says why
	}
	for i, r := range runs {
		if i == 0 {
			fmt.Fprint(c.stdout, story(plan))
		}
		r.Code, r.Title = "", "" // told above
		fmt.Fprintln(c.stdout)
		if err := results.WriteRun(c.stdout, r, c.layout()); err != nil {
			return err
		}
		if err := c.sketch(c.stdout, r); err != nil {
			return err
		}
	}
	return nil
}

// story says what happens to the lock in a plan.
func story(plan runner.Plan) string {
	s := plan.Scenario
	var b strings.Builder
	fmt.Fprintln(&b, strings.TrimSpace(s.Code+"  "+s.Title))
	if s.Source != "" {
		fmt.Fprintf(&b, "  source: %s\n", s.Source)
	}
	if plan.Speed != 0 && plan.Speed != 1 {
		s = s.Scaled(plan.Speed)
	}
	fmt.Fprintf(&b, "  lease: %v\n", s.TTL)
	for _, step := range s.Faults {
		fmt.Fprintf(&b, "  fault: %s\n", faultSentence(step))
	}
	if s.Random != nil {
		fmt.Fprintf(&b, "  clients and faults are drawn from seed %d\n", plan.Seed)
	}
	return b.String()
}

// faultSentence reads like "pause of A at 100ms, for 14.9s".
func faultSentence(step nemesis.Step) string {
	text := fmt.Sprintf("%s of %s %v", step.Fault.Kind(), step.Fault.Subject(), step.When)
	if step.For > 0 {
		text += fmt.Sprintf(", for %v", step.For)
	}
	if !step.Until.IsZero() {
		until := step.Until.String()
		text += ", until " + strings.TrimPrefix(until, "at ")
	}
	return text
}
