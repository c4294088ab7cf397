package checker

import (
	"testing"
	"time"
)

// Times are told apart over a whole sentence, its parts included.
func TestASentenceTellsItsTimesApart(t *testing.T) {
	for _, law := range []struct {
		says saying
		want string
	}{
		{say("B at %s", at(10021*time.Millisecond)), "B at 10.021 s"},
		{say("B at %s, %s", at(6000), say("%s at %s", "A", at(2000))), "B at 0.000006 s, A at 0.000002 s"},
		{say("%s and %s", listed([]saying{say("%d", 1), say("%d", 2)}), say("")), "1, 2 and "},
	} {
		if got := law.says.String(); got != law.want {
			t.Errorf("%q, want %q", got, law.want)
		}
	}
}
