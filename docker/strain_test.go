package docker

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestStrainSaysWhatToDo about a machine that did not keep up, and nothing about one that did.
func TestStrainSaysWhatToDo(t *testing.T) {
	for took, want := range map[time.Duration]string{
		40 * time.Millisecond: "",
		41 * time.Millisecond: "the machine was too busy for this run: the harness stood still for 41ms, where 40ms, a 50th of the lease, " +
			"is the most; run it on an idle machine, or slower, as with --speed 2",
	} {
		s := &strain{limit: 40 * time.Millisecond, fraction: strainFractionOfOne, stop: func() {}}
		s.note("the harness stood still", took)
		s.note("n1 did not answer", time.Millisecond)
		err := s.end()
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrStrained) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v: got %v, want %q", took, err, want)
		}
	}
}
