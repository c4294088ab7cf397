package sim

import (
	"errors"
	"sync"
	"time"
)

var errKilled = errors.New("the client was killed")

// gate stops what passes through it while it is closed. A pause closes one for a whole client, a stall one for its
// traffic with the lock servers.
type gate struct {
	net *network

	mu     sync.Mutex
	shuts  int           // reasons why it is closed
	open   chan struct{} // closed on opening; nil while the gate is open
	killed bool
	passes int // that found the gate closed, ever
}

// pass waits until the gate is open. After a wait it goes on at an instant of slot, so that two that waited never go on at
// the same instant.
func (g *gate) pass(slot time.Duration) error {
	for {
		g.mu.Lock()
		wait, killed := g.open, g.killed
		if wait != nil && !killed {
			g.passes++
		}
		g.mu.Unlock()
		if killed {
			return errKilled
		}
		if wait == nil {
			return nil
		}
		<-wait
		if !g.isKilled() {
			g.net.align(slot)
		}
	}
}

// passAll passes each gate, and again until none made it wait.
func passAll(gates []*gate, slot time.Duration) error {
	for {
		for _, g := range gates {
			if err := g.pass(slot); err != nil {
				return err
			}
		}
		if len(gates) < 2 || !anyClosed(gates) {
			return nil
		}
	}
}

func anyClosed(gates []*gate) bool {
	for _, g := range gates {
		g.mu.Lock()
		closed := g.open != nil
		g.mu.Unlock()
		if closed {
			return true
		}
	}
	return false
}

// shut closes the gate, once more if it is closed.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shuts++; g.shuts == 1 {
		g.open = make(chan struct{})
	}
}

// reopen takes one shut back.
func (g *gate) reopen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shuts--; g.shuts == 0 && g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// held counts the passes that the gate has made wait so far.
func (g *gate) held() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passes
}

// kill lets nothing pass any more, and wakes what waits.
func (g *gate) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = true
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

func (g *gate) isKilled() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}
