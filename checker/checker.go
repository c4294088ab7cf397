package checker

import "fmt"

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

// Property is one claim about a history. Judge never looks at what a scenario expects.
type Property struct {
	Name  string // "exclusion"
	Claim string // one sentence
	Judge func(*Case) Verdict

	// violation tells, if a Stream can judge the property, whether it is violated, and of which violations Judge reports one
	// rather than another: that of the lowest rank.
	violation func(*Case) (rank int, found bool)
}

// Streams tells whether a Stream can judge the property.
func (p Property) Streams() bool { return p.violation != nil }
