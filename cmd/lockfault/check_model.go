package main

import (
	"slices"
	"strings"
	"time"

	"github.com/lockfault/lockfault/checker"
	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// modelFlags choose models that a history must be linearizable to.
type modelFlags struct {
	names   []string
	strict  bool
	options linear.Options
	time    time.Duration
	memory  uint64 // MB
}

func (f *modelFlags) add(c *call) {
	c.flags.StringSliceVar(&f.names, "model", nil, "judge whether the history is linearizable to each model of this `LIST`: "+strings.Join(modelNames(), ", ")+
		"; a lease may end there at its until_ns: a holder that writes on after it is judged by exclusion")
	c.flags.BoolVar(&f.strict, "strict", false, "for --model: a lock may refuse an acquire only if somebody holds it")
	c.flags.IntVar(&f.options.Permits, "permits", 1, "for --model semaphore: `N` holders at once")
	c.flags.Int32Var(&f.options.Limit, "reentry", 0, "for reentrant models: at most `N` holds of one client (default: no limit)")
	c.flags.Int64Var(&f.options.Stock, "stock", 0, "for --model inventory: `N` to begin with")
	c.flags.DurationVar(&f.time, "model-time", linear.DefaultBudget.Time, "`TIME` for each search that a model may need; then it is undecided")
	c.flags.Uint64Var(&f.memory, "model-memory", linear.DefaultBudget.Memory>>20, "`MB` of memory for the same")
}

func modelNames() []string {
	var names []string
	for _, object := range linear.Objects(linear.Options{Permits: 1}) {
		names = append(names, object.Name)
	}
	return names
}

func (f *modelFlags) check(c *call) error {
	for _, name := range f.names {
		if !slices.Contains(modelNames(), name) {
			return usagef("--model %q: want one of %s%s", name, strings.Join(modelNames(), ", "), didYouMean(name, modelNames()))
		}
	}
	for _, flag := range []string{"strict", "permits", "reentry", "stock", "model-time", "model-memory"} {
		if len(f.names) == 0 && c.flags.Changed(flag) {
			return usagef("--%s is for --model", flag)
		}
	}
	switch {
	case f.options.Permits < 1:
		return usagef("--permits %d: want 1 or more", f.options.Permits)
	case f.options.Limit < 0:
		return usagef("--reentry %d: want 0 or more", f.options.Limit)
	case f.time <= 0:
		return usagef("--model-time %v: want a duration such as 30s", f.time)
	case f.memory == 0 || f.memory > 1<<40:
		return usagef("--model-memory %d: want a number of megabytes", f.memory)
	}
	if f.strict {
		f.options.Refusal = lockmodel.Strict
	}
	return nil
}

// properties are the models as properties, by the names of the models.
func (f *modelFlags) properties() []checker.Property {
	var all []checker.Property
	for _, name := range f.names {
		object, _ := linear.Find(name, f.options)
		p := checker.Linearizable(object, linear.Budget{Time: f.time, Memory: f.memory << 20})
		p.Name = name
		all = append(all, p)
	}
	return all
}
