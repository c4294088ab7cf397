// Package notes is what the tests on containers have to say also when they pass. `go test` shows nothing of such, so make
// shows it: what was skipped must not look as if it had been tested.
package notes

import (
	"fmt"
	"os"
)

// Required is the environment variable that makes a failure of what would be skipped for want of an engine or an image.
const Required = "LOCKFAULT_REQUIRE_DOCKER"

// Add says a line on standard error, and in the file that LOCKFAULT_NOTES names, if it does.
func Add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintln(os.Stderr, line)
	file, err := os.OpenFile(os.Getenv("LOCKFAULT_NOTES"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return // nobody asked for them
	}
	defer file.Close()
	fmt.Fprintln(file, line)
}

// Skipped is what to say when there is no testbed to test.
const Skipped = "SKIPPED, THE CONTAINER TESTBED IS NOT TESTED: %v"
