package results

import (
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker"
)

// TestAnnotationsAreOneLineEach, whatever stands in a name or a sentence.
func TestAnnotationsAreOneLineEach(t *testing.T) {
	violated := func(sentence string) map[string]checker.Verdict {
		return map[string]checker.Verdict{checker.Exclusion: {Status: checker.Violated, Witness: &checker.Witness{Sentence: sentence}}}
	}
	runs := []Run{
		{Lock: "a", Scenario: "s", Seed: 1, Verdicts: violated("A, 50%\r\nand ::error::B"), Unexpected: []string{"exclusion: violated"},
			Expected: map[string]checker.Status{checker.Exclusion: checker.Held}, Place: "my,locks/a%b.py"},
		{Lock: "b", Scenario: "s", Seed: 1, Fencing: true, Verdicts: violated(""), AsExpected: true,
			Expected: map[string]checker.Status{checker.Exclusion: checker.Violated}},
		{Lock: "c", Scenario: "s", Seed: 1, Expected: map[string]checker.Status{checker.Effects: checker.Held}, Place: "lockfault.yaml:7"},
		{Lock: "d", Scenario: "s", Seed: 1, Unsupported: "no"},
		{Lock: "e:f", Scenario: "s", Seed: 1, Error: "it died"},
	}
	want := `::error file=my%2Clocks/a%25b.py,title=a/s/unfenced#1::exclusion: violated%0A  A, 50%25  and ::error::B
::warning file=lockfault.yaml,line=7,title=c/s/unfenced#1::effects: expected held, got undecided
::error title=e%3Af/s/unfenced#1::error: it died
`
	var got strings.Builder
	if err := WriteAnnotations(&got, Report{Runs: runs}); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
}
