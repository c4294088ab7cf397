package locks

import "fmt"

// forLibrary checks that the environment has what the lock of a library needs. None of them mints fences.
func (e Env) forLibrary(name string) (Env, error) {
	if e.Fencing {
		return e, fmt.Errorf("%s: fences: %w", name, ErrUnsupported)
	}
	return e.forRedis()
}
