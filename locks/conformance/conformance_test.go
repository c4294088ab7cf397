package conformance

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// mode is the environment variable that makes the test binary an adapter, with a sin.
const mode = "LOCKFAULT_TEST_ADAPTER"

func TestMain(m *testing.M) {
	if sin := os.Getenv(mode); sin != "" {
		serveAdapter(sin)
		return
	}
	os.Exit(m.Run())
}

// checkAll makes every check on an adapter with a sin, and returns what those that failed say.
func checkAll(t *testing.T, sin string) map[string]string {
	t.Helper()
	failed := map[string]string{}
	_, err := Run(t.Context(), command(t, sin), func(r Result) {
		if r.Err != nil {
			failed[r.Name] = r.Err.Error()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return failed
}

func command(t *testing.T, sin string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env GORACE=atexit_sleep_ms=0 " + strconv.Quote(mode+"="+sin) + " " + strconv.Quote(self)
}

func TestInnocentAdaptersPass(t *testing.T) {
	for _, virtue := range []string{"none", "cannot extend", "waits", "undoes its attempts"} {
		t.Run(virtue, func(t *testing.T) {
			t.Parallel()
			if failed := checkAll(t, virtue); len(failed) > 0 {
				t.Errorf("failed: %v", failed)
			}
		})
	}
}

// guilty names, for each sin, the check that must find it, and what it must say.
var guilty = []struct{ sin, check, says string }{
	{"answers twice", "answers", "a second time"},
	{"answers with a wrong id", "answers", "but was asked"},
	{"chatters", "answers", `"got it!\n"`},
	{"answers nobody", "answers", "but was not asked anything"},
	{"answers late", "answers", "no answer in time, 1s"},
	{"never asks the servers", "proxies", "nothing was sent to the addresses in hello"},
	{"names its connections", "proxies", "it named a connection"},
	{"grants twice", "excludes", "want fail, got ok"},
	{"ignores the resource", "resources", "B's acquire of two, while A held one: want ok, got fail"},
	{"claims too much", "validity", "longer than the TTL of 1s"},
	{"claims in seconds", "validity", "over when it was granted"},
	{"claims no end", "validity", "without validity_ms for two TTLs: want fail, got ok"},
	{"ignores the TTL", "expires", "the TTL had been over for 500ms: want ok, got fail"},
	{"takes seconds for milliseconds", "expires", "the TTL was not over: want fail, got ok"},
	{"lies about releasing", "releases", "B's acquire, after A's release: want ok, got fail"},
	{"releases anyone's", "releases-own", "while B held the lock and A had released a lease that was over: want fail, got ok"},
	{"says released of what it did not hold", "releases-own", "A's release of a lease that was over: want fail, got ok"},
	{"lies about extending", "extends", "the TTL was not over: want fail, got ok"},
	{"extends for ever", "extends", "the TTL had been over for 500ms: want ok, got fail"},
	{"extends anyone's", "extends-own", "want fail, got ok"},
	{"is always valid", "valid", "after the lease had run out: want fail, got ok"},
	{"repeats its fences", "fences", "was granted fence 7, after 7"},
	{"grants without a server", "unreachable", "it was granted"},
	{"hangs on silent servers", "silence", "no answer in time, 5s"},
	{"takes a time-out for a no", "silence", "want unknown, got fail"},
	{"takes a time-out for a yes", "silence", "it was granted"},
	{"takes a time-out of acquire for a no", "silence", "the key was set: say unknown"},
	{"waits for ever", "waits", "with wait_ms 200, while A held the lock: want fail, got ok"},
	{"waits without waited_ms", "waits", "validity_ms and waited_ms do not say when"},
	{"leaves its group", "group", "while the program's process group stood still: it was answered"},
	{"stays on quit", "ends", "within a second of quit"},
	{"stays at the end of input", "ends", "of the end of its standard input"},
}

// TestEachSinIsFoundByItsCheck, and each check finds one.
func TestEachSinIsFoundByItsCheck(t *testing.T) {
	var mu sync.Mutex
	found := map[string]bool{}
	t.Run("sins", func(t *testing.T) {
		for _, g := range guilty {
			t.Run(g.sin, func(t *testing.T) {
				t.Parallel()
				err := one(t, g.check, g.sin)
				if err == nil || !strings.Contains(err.Error(), g.says) {
					t.Errorf("%s says %v; want %q", g.check, err, g.says)
				}
				mu.Lock()
				defer mu.Unlock()
				found[g.check] = err != nil
			})
		}
	})
	for _, check := range All {
		if !found[check.Name] {
			t.Errorf("nobody is guilty of what %s looks for", check.Name)
		}
	}
}

// one makes one check on an adapter with a sin.
func one(t *testing.T, name, sin string) error {
	i := slices.IndexFunc(All, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check %s", name)
	}
	all := command(t, sin)
	d, err := Run(canceled(), all, nil)
	if err == nil || d.Name == "" {
		t.Fatalf("description %+v, error %v", d, err)
	}
	if check := All[i]; check.skip != nil && check.skip(d) != "" {
		t.Fatal(check.skip(d))
	}
	return onBench(t.Context(), all, d, All[i].run)
}

// canceled is a context with which Run asks for the description and makes no check.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
