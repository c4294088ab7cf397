package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Section is all that one holder did to a register, as the version numbers that it met, in order.
type Section []Step

// Step is one access of a section: the version that it found and the one that it left. They are equal for a read.
type Step struct {
	Found, Left int64
}

// SectionRegister models a register, with its writes numbered after initial, on which each Section acts as one atomic
// step.
func SectionRegister(initial int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(s, in, _ any) (bool, any) {
			version := s.(int64)
			for _, step := range in.(Section) {
				if step.Found != version {
					return false, s
				}
				version = step.Left
			}
			return true, version
		},
		DescribeOperation: func(in, _ any) string { return fmt.Sprint(in) },
		DescribeState:     func(s any) string { return fmt.Sprintf("version %d", s) },
	}
}
