package results

import (
	"fmt"
	"strings"

	"github.com/lockfault/lockfault/checker"
)

// surprise is one thing about a run that was not as expected, with what the history shows of it.
type surprise struct {
	what     string // "exclusion: expected held, got violated"
	evidence string // the witness's sentence, or the reason; may be empty
}

// explain returns what there is to say about a run that is not as expected, in the run's own sentences where it has any.
func explain(r Run) []surprise {
	switch {
	case r.Error != "":
		return []surprise{{what: "error: " + r.Error}}
	case r.Unsupported != "":
		return nil
	}
	var found []surprise
	for _, what := range r.Unexpected {
		property, _, _ := strings.Cut(what, ":")
		found = append(found, surprise{what, Evidence(r.Verdicts[property])})
	}
	if len(found) > 0 {
		return found
	}
	for _, property := range r.surprises() {
		verdict := r.Verdicts[property]
		what := fmt.Sprintf("%s: expected %v, got %v", property, r.Expected[property], verdict.Status)
		found = append(found, surprise{what, Evidence(verdict)})
	}
	if len(found) == 0 && r.Outcome() == Undecided {
		found = append(found, surprise{what: "no property was decided"})
	}
	return found
}

// Evidence is the sentence behind a verdict.
func Evidence(v checker.Verdict) string {
	if v.Witness != nil {
		return v.Witness.Sentence
	}
	return v.Reason
}
