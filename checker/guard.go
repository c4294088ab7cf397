package checker

import (
	"fmt"

	"github.com/lockfault/lockfault/checker/history"
)

// rule is a doubt about a whole history: the reason for which it proves nothing, or "".
type rule func(*Case) string

// guard makes a judge that never says more than its history can prove. A violation stands, whatever else happened. But
// nothing held if a fault left no evidence (the run may have been as good as undisturbed) or if the history was cut off
// (the violation may have been in the rest). A judge that panics decides nothing, as in Jepsen.
func guard(judge func(*Case) Verdict, rules ...rule) func(*Case) Verdict {
	return func(c *Case) (v Verdict) {
		defer func() {
			if p := recover(); p != nil {
				v = undecided("lockfault's checker panicked: %v: please report this history", p)
			}
		}()
		v = judge(c)
		if v.Status == Violated {
			return v
		}
		for _, doubt := range rules {
			if reason := doubt(c); reason != "" {
				return undecided("%s", reason)
			}
		}
		if v.Status != Held {
			return v
		}
		for _, doubt := range []rule{faultWithoutEvidence, cutOff} {
			if reason := doubt(c); reason != "" {
				return undecided("%s", reason)
			}
		}
		return v
	}
}

func nothingGranted(c *Case) string {
	if len(c.Grants)+c.past.grants == 0 {
		return "no acquire succeeded"
	}
	return ""
}

func faultWithoutEvidence(c *Case) string {
	for _, f := range c.Faults {
		switch f.Outcome {
		case history.Ok:
		case history.Fail:
			if f.Optional {
				continue
			}
			if !f.Injected {
				return fmt.Sprintf("%v never struck", f)
			}
			return fmt.Sprintf("%v had no effect", f)
		default:
			return fmt.Sprintf("%v left no evidence of an effect", f)
		}
	}
	return ""
}

func cutOff(c *Case) string {
	if !c.Complete {
		return "the history has no end event: it was cut off"
	}
	return ""
}
