package locks

import "fmt"

// newToken returns a name for one attempt to acquire: the client's name and 128 random bits. Attempts never share a
// token, so that a delayed delete of an earlier attempt cannot hit a later one. The bits come from Env.Rand, so that a
// run can be repeated; in production they would come from crypto/rand. Call it from the caller's goroutine only.
func (e Env) newToken() string {
	return fmt.Sprintf("%s-%016x%016x", e.Client, e.Rand.Uint64(), e.Rand.Uint64())
}
