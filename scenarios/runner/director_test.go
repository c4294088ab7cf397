package runner

import (
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
