//go:build !unix

package docker

import "time"

// There is no testbed on such a system; see workersWorkHere.
func monotonic() time.Duration { return 0 }
func wall() time.Duration      { return 0 }
