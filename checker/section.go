package checker

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// visible is all that one section did to the protected data, in order.
type visible []step

// step is one access of a section: the version of the data that it found and the one that it left. They are equal for a
// read.
type step struct {
	data        int32 // place in the state
	found, left int64
}

// sectionModel models data with numbered writes, of which each piece starts with a version, on which each section acts as
// one atomic step.
func sectionModel(initial []int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(s, in, _ any) (bool, any) {
			versions := slices.Clone(s.([]int64))
			for _, step := range in.(visible) {
				if step.found != versions[step.data] {
					return false, s
				}
				versions[step.data] = step.left
			}
			return true, versions
		},
		Equal:             func(a, b any) bool { return slices.Equal(a.([]int64), b.([]int64)) },
		DescribeOperation: func(in, _ any) string { return fmt.Sprint(in) },
		DescribeState:     func(s any) string { return fmt.Sprintf("versions %d", s) },
	}
}
