package adapters_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
)

// Locks without servers, as one writes them beside a copy of the adapter. They grant everything: the first lease with all that
// a grant may have, the second without an end, as one that is renewed.
const (
	fencedPython = `
from adapter import serve

class Fenced:
    def __init__(self, hello):
        self.fence = 40

    def acquire(self, resource, wait_ms):
        self.fence += 1
        lease = {"resource": resource, "token": "t", "fence": self.fence}
        if self.fence == 41:
            lease.update(validity_ms=500, waited_ms=60000 if wait_ms > 0 else 0)
        return lease

    def extend(self, lease):
        return {"validity_ms": 120000} if lease["fence"] == 41 else {}

    def release(self, lease):
        pass

    def valid(self, lease):
        pass

serve(Fenced, name="fenced", servers="one-node", fences=True, waits=True)
`
	fencedPHP = `<?php
require __DIR__ . '/adapter.php';

final class Fenced
{
    private int $fence = 40;

    public function acquire(string $resource, int $wait): array
    {
        $lease = ['resource' => $resource, 'token' => 't', 'fence' => ++$this->fence];
        return $this->fence == 41 ? $lease + ['validity_ms' => 500, 'waited_ms' => $wait > 0 ? 60000 : 0] : $lease;
    }

    public function extend(array $lease): array
    {
        return $lease['fence'] == 41 ? ['validity_ms' => 120000] : [];
    }

    public function release(array $lease): void
    {
    }

    public function valid(array $lease): void
    {
    }
}

serve(fn (array $hello) => new Fenced(), ['name' => 'fenced', 'servers' => 'one-node', 'fences' => true, 'waits' => true]);
`
)

// TestCopiesPassOnWhatALockSays: the fence and the time waited too, and no end where the lock gives none.
func TestCopiesPassOnWhatALockSays(t *testing.T) {
	for _, c := range []struct{ interpreter, adapter, text string }{
		{"python3", "python/adapter.py", fencedPython},
		{"php", "php/adapter.php", fencedPHP},
	} {
		t.Run(c.interpreter, func(t *testing.T) {
			l := copied(t, c.interpreter, c.adapter, c.text)
			first := acquired(t, l, 41)
			if left := time.Until(first.Until()); left < 30*time.Second || left > 61*time.Second {
				t.Errorf("the first lease, of waited_ms 60000 and validity_ms 500, ends in %v", left)
			}
			if err := l.Extend(t.Context(), first); err != nil {
				t.Error(err)
			}
			if left := time.Until(first.Until()); left < 90*time.Second || left > 120*time.Second {
				t.Errorf("extended with validity_ms 120000, it ends in %v", left)
			}
			second := acquired(t, l, 42)
			if err := l.Extend(t.Context(), second); err != nil {
				t.Error(err)
			}
			if !second.Until().IsZero() {
				t.Errorf("a lease without validity_ms ends at %v", second.Until())
			}
			if err := l.Release(t.Context(), second); err != nil {
				t.Error(err)
			}
		})
	}
}

// acquired is a lease with a fence and the token that the locks here give.
func acquired(t *testing.T, l locks.Lock, fence int64) *locks.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	lease, err := l.Acquire(ctx, "stock")
	if err != nil {
		t.Fatal(err)
	}
	if lease.Fence != fence || lease.Token != "t" {
		t.Errorf("granted fence %d, token %q; want %d, \"t\"", lease.Fence, lease.Token, fence)
	}
	return lease
}

// copied is a lock that was written beside a copy of an adapter. Without its interpreter the test is skipped.
func copied(t *testing.T, interpreter, adapter, text string) locks.Lock {
	t.Helper()
	if _, err := exec.LookPath(interpreter); err != nil {
		if os.Getenv(requireDocker) != "" && os.Getenv(testDocker) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	half, err := os.ReadFile(adapter)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "fenced"+filepath.Ext(adapter))
	for name, text := range map[string]string{file: text, filepath.Join(dir, filepath.Base(adapter)): string(half)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entry, err := program.Entry(interpreter + " " + file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := entry.New(locks.Env{Client: "A", Nodes: []string{"127.0.0.1:1"}, TTL: time.Second, Fencing: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
