package checker

import (
	"strings"
	"testing"

	"github.com/lockfault/lockfault/checker/linear"
	"github.com/lockfault/lockfault/checker/lockmodel"
)

// checkObject judges scripts by a model of that name.
func checkObject(t *testing.T, name string, o linear.Options, laws []law) {
	t.Helper()
	object, ok := linear.Find(name, o)
	if !ok {
		t.Fatalf("no object %q", name)
	}
	property := Linearizable(object, linear.DefaultBudget)
	for _, l := range laws {
		t.Run(name+"/"+l.name, func(t *testing.T) {
			c, err := NewCase(script(t, l.history))
			if err != nil {
				t.Fatal(err)
			}
			v := property.Judge(c)
			says := v.Reason
			if v.Witness != nil {
				says = v.Witness.Sentence
			}
			if v.Status != l.want || !strings.Contains(says, l.says) {
				t.Errorf("%v (%s), want %v (%s)", v.Status, says, l.want, l.says)
			}
		})
	}
}

func TestHistoriesAreLinearizable(t *testing.T) {
	checkObject(t, "mutex", linear.Options{}, []law{
		{"hand-over", `
			0..1   A acquire ok lease=a
			2..3   A release ok lease=a
			2..4   B acquire ok lease=b`, Held, "3 operations in a legal order", nil},
		{"overlap", guilty, Violated, "two holds overlap: A acquire from 0.000 s to 1.000 s ok, B acquire from 2.000 s to 3.000 s ok", nil},
		{"overlap, without leases", `
			0..1   A acquire ok
			2..3   B acquire ok`, Violated, "two holds overlap", nil},
		{"the dead do not hold for ever", `
			0..1   A acquire ok lease=a
			2      A died info
			3..4   B acquire ok lease=b`, Held, "", nil},
		{"but they did hold", `
			0..1   A acquire ok lease=a
			2..3   B acquire ok lease=b
			4      A died info`, Violated, "two holds overlap", nil},
		{"a lease ends at the time that its holder knew", `
			0..1     A acquire ok lease=a until=10
			10..11   B acquire ok lease=b until=20`, Held, "", nil},
		{"and not before", `
			0..1   A acquire ok lease=a until=10
			8..9   B acquire ok lease=b until=20`, Violated, "two holds overlap", nil},
		{"an extension moves the end", `
			0..1     A acquire ok lease=a until=10
			2..3     A extend ok lease=a until=30
			11..12   B acquire ok lease=b until=21`, Violated, "two holds overlap", nil},
		{"who asks again after an unknown outcome is another", `
			0..1   A acquire info
			2..3   A acquire ok
			4..5   A release ok`, Held, "", nil},
		{"what a lost reply granted is given back", `
			0..1   A acquire info
			2..3   B acquire ok
			4..5   A release ok
			6..7   B release ok`, Violated, "fits nowhere", nil},
		{"nothing granted", "0..1 A acquire fail", Undecided, "no acquire succeeded", nil},
	})
	checkObject(t, "mutex", linear.Options{Refusal: lockmodel.Strict}, []law{
		{"refused while free", innocent + "5..6 B acquire fail lease=b", Violated, "refused while the lock was free", nil},
		{"refused while held", innocent + "1..2 B acquire fail lease=b", Held, "", nil},
	})
}

func TestReentryAndPermits(t *testing.T) {
	reentry := `
			0..1   A acquire ok lease=a1 fence=5
			2..3   A acquire ok lease=a2 fence=5
			4..5   A release ok lease=a2
			6..7   A release ok lease=a1
			8..9   B acquire ok lease=b fence=6`
	checkObject(t, "mutex", linear.Options{}, []law{{"is not entered again", reentry, Violated, "two holds overlap", nil}})
	checkObject(t, "reentrant", linear.Options{Limit: 2}, []law{{"is entered again", reentry, Held, "", nil}, {"overlap", guilty, Violated, "", nil}})
	checkObject(t, "reentrant", linear.Options{Limit: 1}, []law{{"only so often", reentry, Violated, "", nil}})
	checkObject(t, "reentrant-fenced", linear.Options{}, []law{{"repeats its fence", reentry, Held, "", nil}})
	checkObject(t, "semaphore", linear.Options{Permits: 2}, []law{
		{"two permits", guilty, Held, "", nil},
		{"not three", guilty + "4..5 C acquire ok lease=c", Violated, "more hold at once than there are permits", nil},
	})
	checkObject(t, "fenced", linear.Options{}, []law{{"a fence that went back", `
			0..1   A acquire ok lease=a fence=33
			2..3   A release ok lease=a
			4..5   B acquire ok lease=b fence=32`, Violated, "no greater fence", nil}})
}
