// Locks that draw from math/rand's global source can be seeded only with this setting; see seedGlobal.
//go:debug randseednop=0

// Command lockfault tries to break distributed locks, and proves what broke.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal is obeyed in good order, the second ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
