package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/history"
)

// MutexStep is an operation on a Mutex.
type MutexStep struct {
	Op    history.Op // Acquire or Release
	Owner string
}

// Mutex models a lock that knows its owner, who may acquire it again. Operations are MutexSteps that succeeded; those
// that failed say nothing here, since a lock may refuse without need. After the OwnerAwareMutex and ReentrantMutex of
// Jepsen's Hazelcast tests (jepsen-io/jepsen, pull request 325).
func Mutex() porcupine.Model {
	type state struct {
		owner string
		depth int
	}
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, in, _ any) (bool, any) {
			now, step := s.(state), in.(MutexStep)
			mine := now.depth > 0 && now.owner == step.Owner
			switch {
			case step.Op == history.Acquire && (mine || now.depth == 0):
				return true, state{step.Owner, now.depth + 1}
			case step.Op == history.Release && mine && now.depth > 1:
				return true, state{step.Owner, now.depth - 1}
			case step.Op == history.Release && mine:
				return true, state{}
			}
			return false, now
		},
		DescribeOperation: func(in, _ any) string {
			step := in.(MutexStep)
			return fmt.Sprintf("%s %s", step.Owner, step.Op)
		},
		DescribeState: func(s any) string {
			now := s.(state)
			return fmt.Sprintf("%q ×%d", now.owner, now.depth)
		},
	}
}

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
