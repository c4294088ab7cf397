package checker

import (
	"cmp"
	"slices"

	"github.com/lockfault/lockfault/checker/history"
)

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

// The names of the properties.
const (
	Exclusion        = "exclusion"
	Effects          = "effects"
	Ownership        = "ownership"
	Expiry           = "expiry"
	Progress         = "progress"
	Availability     = "availability"
	FenceOrder       = "fence-order"
	FenceEnforcement = "fence-enforcement"
)

// All lists the properties in the order of reports. Each Judge is already guarded: see guard.
var All = []Property{exclusion, effects, ownership, expiry, progress, availability, fenceOrder, fenceEnforcement}

// Names lists the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, p := range All {
		names[i] = p.Name
	}
	return names
}

// CompareNames orders names of properties as All lists them, and others behind by themselves.
func CompareNames(a, b string) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

func rank(name string) int {
	i := slices.IndexFunc(All, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return len(All)
	}
	return i
}

// Find returns the property of a name.
func Find(name string) (Property, bool) {
	for _, p := range All {
		if p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}

// Judge gives the verdict of every property on a history, by name. It fails only on a malformed history, as NewCase does.
func Judge(events []history.Event) (map[string]Verdict, error) {
	c, err := NewCase(events)
	if err != nil {
		return nil, err
	}
	verdicts := make(map[string]Verdict, len(All))
	for _, p := range All {
		verdicts[p.Name] = p.Judge(c)
	}
	return verdicts, nil
}
