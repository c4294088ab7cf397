package main

import (
	"strings"
	"testing"
)

func ran(code string, statuses string) cell {
	c := cell{Code: code, Scenario: "story", Lock: "single", Verdicts: map[string]verdict{}}
	for i, status := range strings.Fields(statuses) {
		c.Verdicts[properties[i]] = verdict{Status: status, Reason: "because"}
	}
	return c
}

func TestOneRunThatDiffersIsToldAndOneThatFailedIsNoAgreement(t *testing.T) {
	held, bad, broken := ran("A1", "held held"), ran("A1", "violated held"), ran("A1", "held held")
	broken.Error = "the machine was too busy"
	for name, c := range map[string]struct {
		docker []cell
		kind   kind
		says   []string
	}{
		"all the same": {[]cell{held, held, held}, same, []string{"| none | the same |", "1 the same each time, 0 different"}},
		"one differs": {[]cell{held, bad, held}, different,
			[]string{"2 of 3: the same; 1 of 3: **exclusion**", "exclusion is held in virtual time (because) and violated on containers", "not explained"}},
		"one failed": {[]cell{held, broken, held}, failed, []string{"1 of 3: failed: the machine was too busy", "0 the same each time"}},
	} {
		r := row{held, c.docker}
		if r.kind() != c.kind {
			t.Errorf("%s: kind %v, want %v", name, r.kind(), c.kind)
		}
		text := page([]row{r}, plan{times: 3, speed: "5"})
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
	}
}

func TestADifferenceOfARandomScheduleIsExplained(t *testing.T) {
	text := page([]row{{ran("R1", "held held"), []cell{ran("R1", "violated held")}}}, plan{times: 1})
	if !strings.Contains(text, "the machine's") || strings.Contains(text, "not explained") {
		t.Error(text)
	}
}

func TestRunsAreJoinedByNameAndNotByPlace(t *testing.T) {
	rows := []row{{sim: ran("A1", "held")}}
	other := ran("A1", "held")
	other.Lock = "redlock"
	if err := join(rows, []cell{other}); err == nil {
		t.Error("another lock's run was taken for it")
	}
	if err := join(rows, nil); err == nil {
		t.Error("a missing run was not noticed")
	}
}
