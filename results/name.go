package results

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// fileName makes one element of a path from a name, which may be a command line with slashes in it. A name that is not
// kept as it is gets a hash, so that different names stay different.
func fileName(name string) string {
	const longest = 64
	kept := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '-'
	}, name)
	kept = strings.Trim(kept[:min(len(kept), longest)], ".-")
	if kept == name && name != "" {
		return name
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return strings.TrimPrefix(fmt.Sprintf("%s-%08x", kept, hash.Sum32()), "-")
}
