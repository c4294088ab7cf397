package sim

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

func TestTry(t *testing.T) {
	s, err := scenarios.Find(os.Getenv("SC"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := locks.Find(os.Getenv("LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []bool{false, true} {
		var b bytes.Buffer
		o, err := runner.Run(Testbed{}, runner.Plan{Lock: l, Scenario: s, Fencing: f, Seed: 1}, &b)
		fmt.Println(b.String())
		fmt.Println(err, o.Err, o.Unsupported, o.Elapsed)
		for k, v := range o.Verdicts {
			fmt.Println(k, v.Status, v.Reason)
			if v.Witness != nil {
				fmt.Println("    ", v.Witness.Sentence, v.Witness.Events)
			}
		}
		fmt.Println(o.Unexpected)
	}
}

func TestAll(t *testing.T) {
	all, err := scenarios.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	n := 0
	for _, s := range all {
		fmt.Println(s.Code, s.Name)
		for _, l := range locks.All {
			for _, f := range []bool{false, true} {
				o, err := runner.Run(Testbed{}, runner.Plan{Lock: l, Scenario: s, Fencing: f, Seed: 1}, nil)
				n++
				if o.Unsupported != "" && f && !l.Fences {
					continue
				}
				fmt.Printf("   %-18s %-5v %5dms %v %v %v", l.Name, f, o.Elapsed.Milliseconds(), err, o.Err, o.Unsupported)
				for _, p := range []string{"exclusion", "effects", "ownership", "expiry", "progress", "availability", "fence-order", "fence-enforcement"} {
					fmt.Print(" ", p[:3], ":", o.Verdicts[p].Status.String()[:1])
				}
				fmt.Println(" ", o.Unexpected)
				if len(o.Unexpected) > 0 {
					for k, v := range o.Verdicts {
						if v.Witness != nil {
							fmt.Println("           W", k, v.Witness.Sentence)
						} else if v.Status == 0 {
							fmt.Println("           U", k, v.Reason)
						}
					}
				}
			}
		}
	}
	fmt.Println(n, time.Since(start))
}
