package checker

import (
	"fmt"
	"slices"
)

// Status is the outcome of judging one property. The zero value never passes.
type Status uint8

const (
	Undecided Status = iota
	Held
	Violated
)

var statusNames = [...]string{"undecided", "held", "violated"}

func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", uint8(s))
	}
	return statusNames[s]
}

// MarshalText writes the lower-case name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the lower-case name.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("status %q is none of held, violated, undecided", text)
}

// Verdict is what a history says of one property.
type Verdict struct {
	Status  Status   `json:"status"`
	Reason  string   `json:"reason,omitempty"`  // why undecided; what was seen if held
	Witness *Witness `json:"witness,omitempty"` // of a violation
}

// Witness is the evidence of a violation.
type Witness struct {
	Sentence string `json:"sentence"` // for a person, with times and fences
	Events   []int  `json:"events"`   // indexes into the history, ascending: the few that show it
}

func held(format string, args ...any) Verdict {
	return Verdict{Status: Held, Reason: say(format, args...).String()}
}

func undecided(format string, args ...any) Verdict {
	return Verdict{Status: Undecided, Reason: say(format, args...).String()}
}

// violated is a verdict whose witness says the sentence and shows the events, where -1 stands for no event.
func violated(sentence saying, events ...int) Verdict {
	events = slices.DeleteFunc(events, func(i int) bool { return i < 0 })
	slices.Sort(events)
	return Verdict{Status: Violated, Witness: &Witness{Sentence: sentence.String(), Events: slices.Compact(events)}}
}
