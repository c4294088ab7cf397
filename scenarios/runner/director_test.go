package runner

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/nemesis"
)

// slow is a fault whose injection takes a second, as on containers.
type slow struct {
	meanwhile func()
	healed    int
}

func (f *slow) Kind() string    { return "slow" }
func (f *slow) Subject() string { return "A" }

func (f *slow) Inject(nemesis.Target) (nemesis.Heal, error) {
	go f.meanwhile()
	time.Sleep(time.Second)
	return func() (nemesis.Evidence, error) {
		f.healed++
		return nemesis.Evidence{Effective: true}, nil
	}, nil
}

// TestAFaultHealsOnceItIsThere though the moment of its healing comes while it is still being injected, and only then.
func TestAFaultHealsOnceItIsThere(t *testing.T) {
	acquired := nemesis.Moment{Edge: nemesis.After, Client: "B", Op: "acquire", Nth: 1}
	for _, c := range []struct {
		name      string
		meanwhile history.Op
		healed    int
	}{{"its moment comes", history.Acquire, 1}, {"another moment comes", history.Release, 0}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			fault := &slow{}
			d := newDirector(nemesis.Schedule{{Fault: fault, Until: nemesis.Trigger{Moment: acquired}}}, 1)
			fault.meanwhile = func() { d.after("B", c.meanwhile, history.Ok) }
			var told []history.Type
			d.record = func(e history.Event) { told = append(told, e.Type) }
			d.now, d.align = func() time.Duration { return time.Since(start) }, func() {}
			d.begin()
			if fault.healed != c.healed || len(told) != 1+c.healed {
				t.Errorf("%s: healed %d times, told %v", c.name, fault.healed, told)
			}
			d.finish()
			if fault.healed != 1 {
				t.Errorf("%s: healed %d times in the end", c.name, fault.healed)
			}
		})
	}
}

// broken is a fault that the harness cannot inject, or cannot heal.
type broken struct{ injecting, healing error }

func (f broken) Kind() string    { return "broken" }
func (f broken) Subject() string { return "redis" }

func (f broken) Inject(nemesis.Target) (nemesis.Heal, error) {
	return func() (nemesis.Evidence, error) { return nemesis.Evidence{}, f.healing }, f.injecting
}

// TestNoLockIsBlamedForWhatTheHarnessCouldNotDo: the fault stays open, and the run says so. What this testbed cannot have
// never struck.
func TestNoLockIsBlamedForWhatTheHarnessCouldNotDo(t *testing.T) {
	wrong := errors.New("the shell ended")
	for _, c := range []struct {
		name    string
		fault   broken
		told    string
		trouble string
	}{
		{"injection", broken{injecting: wrong}, "invoke broken, info trouble", "fault-1, a broken, could not be injected: the shell ended"},
		{"healing", broken{healing: wrong}, "invoke broken, info trouble", "fault-1, a broken, could not be healed: the shell ended"},
		{"unsupported", broken{injecting: nemesis.ErrUnsupported}, "invoke broken, fail broken", ""},
		{"no effect", broken{}, "invoke broken, fail broken", ""},
	} {
		d := newDirector(nemesis.Schedule{{Fault: c.fault}}, 1)
		var told []string
		d.record = func(e history.Event) { told = append(told, e.Type.String()+" "+string(e.Op)) }
		d.now, d.align = func() time.Duration { return 0 }, func() {}
		d.begin()
		d.finish()
		if got := strings.Join(told, ", "); got != c.told {
			t.Errorf("%s: told %s, want %s", c.name, got, c.told)
		}
		if err := d.trouble(); (err == nil) != (c.trouble == "") || err != nil && err.Error() != c.trouble {
			t.Errorf("%s: trouble %v, want %q", c.name, err, c.trouble)
		}
	}
}
