// Package notes is what the tests on containers have to say also when they pass. `go test` shows nothing of such, so make
// shows it: what was skipped must not look as if it had been tested.
package notes

import (
	"fmt"
	"os"
)

// Environment variables.
const (
	// Wanted asks for the tests on containers. They run in real time, which is worth nothing while `go test ./...` keeps the
	// machine busy with other packages: so they have their own target.
	Wanted = "LOCKFAULT_TEST_DOCKER"

	// Required makes a failure of what would be skipped for want of an engine or an image.
	Required = "LOCKFAULT_REQUIRE_DOCKER"
)

// Alone is why a test on containers is skipped that was not asked for.
const Alone = "on containers, in real time, with nothing beside it: make test-docker"

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
