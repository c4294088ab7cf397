package main

import (
	"fmt"

	"github.com/lockfault/lockfault/docker"
)

// clean removes what a killed run left behind.
func clean(c *call) (int, error) {
	if err := c.parse(0); err != nil {
		return 0, err
	}
	removed, err := docker.Clean(c.ctx)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(c.stdout, "removed %d containers and %d networks\n", removed.Containers, removed.Networks)
	if removed.InUse > 0 {
		fmt.Fprintf(c.stdout, "left %d containers, whose processes still run\n", removed.InUse)
	}
	if removed.Stuck > 0 {
		fmt.Fprintf(c.stdout, "left %d networks that the engine takes for in use though no container is left: start the engine again\n", removed.Stuck)
	}
	return exitExpected, nil
}
