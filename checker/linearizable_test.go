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
		{"a release without a lease name is of the lock that it names", `
			0..1     A acquire ok on=l1
			2..3     A acquire ok on=l2
			4..5     A release ok on=l1
			6..7     B acquire ok on=l1
			8..9     A release ok on=l2`, Held, "5 operations", nil},
		{"who was told of the loss is refused a release", `
			0..1   A acquire ok lease=a
			2      A lost info lease=a
			3..4   A release fail lease=a
			5..6   B acquire ok lease=b`, Held, "", nil},
		{"and so is who names no lease", `
			0..1   A acquire ok
			2      A lost info
			3..4   A release fail
			5..6   B acquire ok`, Held, "", nil},
		{"a release that names its lease alone is of the lock that this is of", `
			0..1   A acquire ok lease=a on=l
			2..3   A release ok lease=a
			4..5   B acquire ok lease=b on=l`, Held, "3 operations", nil},
		{"and so is one that names nothing", `
			0..1   A acquire ok on=l
			2..3   A release ok
			4..5   B acquire ok on=l`, Held, "3 operations", nil},
		{"though nobody knows whether that was granted", `
			0..1   A acquire info on=l
			2..3   A release ok
			4..5   B acquire ok on=l
			6..7   A release ok`, Violated, "who did not hold released: A release from 6.000 s", nil},
		{"a release tried again is by who acquired", `
			0..1   A acquire ok on=l
			2..3   A release info on=l
			4..5   A release ok on=l
			6..7   B acquire ok on=l`, Held, "4 operations", nil},
		{"after a lost reply, whichever acquire was not refused is given back", `
			0..1   A acquire info on=l
			2..3   A acquire fail on=l
			4..5   A release ok on=l
			6..7   B acquire ok on=l`, Held, "4 operations", nil},
		{"but not what was refused", `
			0..1   A acquire fail on=l
			2..3   A release ok on=l
			4..5   B acquire ok on=l`, Violated, "who did not hold released", nil},
		{"what is still held is given back before what nobody knows of", `
			0..1   A acquire ok on=l
			2..3   A acquire info on=l
			4..5   A release ok on=l
			6..7   B acquire ok on=l`, Held, "4 operations", nil},
		{"a release is not of what was acquired of another lock", `
			0..1   A acquire info on=l1
			2..3   A acquire info on=l2
			4..5   A release ok on=l1
			6..7   B acquire ok on=l1`, Held, "4 operations", nil},
		{"late, by the clock", `
			3000000000..3000000001   A acquire ok lease=a
			3000000002..3000000003   B acquire ok lease=b`, Violated, "two holds overlap", nil},
		{"longer than anybody waits", `
			0..1                     A acquire ok lease=a
			3000000002..3000000003   A release ok lease=a`, Undecided, "it lasts more than 73 years", nil},
		{"nothing granted", "0..1 A acquire fail", Undecided, "no acquire succeeded", nil},
	})
	checkObject(t, "mutex", linear.Options{Refusal: lockmodel.Strict}, []law{
		{"refused while free", innocent + "5..6 B acquire fail lease=b", Violated, "refused while the lock was free", nil},
		{"refused while free, after a release that was tried again", `
			0..1   A acquire ok
			2..3   A release info
			4..5   A release fail
			6..7   B acquire fail`, Violated, "refused while the lock was free", nil},
		{"refused while held", innocent + "1..2 B acquire fail lease=b", Held, "", nil},
	})
}

// What one client does comes one after the other, also at one instant of its clock.
func TestClientsActInOrder(t *testing.T) {
	checkObject(t, "mutex", linear.Options{Refusal: lockmodel.Strict}, []law{
		{"refused because of what it got next", `
			5..5   A acquire fail
			5..6   A acquire ok`, Violated, "refused while the lock was free: A acquire from 5.000 s to 5.000 s fail", nil},
		{"refused because of what it gave back", `
			0..1   A acquire ok
			2..5   A release ok
			5..6   A acquire fail`, Violated, "refused while the lock was free", nil},
		{"refused because of what another got", `
			5..5   A acquire fail
			5..6   B acquire ok`, Held, "", nil},
	})
	checkObject(t, "fenced", linear.Options{}, []law{{"a fence that went back", `
			5..5   A acquire ok lease=a fence=2
			5..5   A release ok lease=a
			5..5   A acquire ok lease=b fence=1
			5..5   A release ok lease=b`, Violated, "no greater fence", nil}})
	checkObject(t, "register", linear.Options{}, []law{
		{"who does not read what it wrote", `
			5..5   A write ok on=n value=1
			5..5   A read ok on=n value=0`, Violated, "", nil},
		{"another that does not", `
			5..5   A write ok on=n value=1
			5..5   B read ok on=n value=0`, Held, "", nil},
		{"what no register does", `
			1..2   A write ok on=n value=1
			3..4   A cas ok on=n
			5..6   A read ok on=n value=2`, Undecided, "the cas at 3.000 s may have changed it", nil},
		{"and did not do", `
			1..2   A write ok on=n value=1
			3..4   A cas fail on=n
			5..6   A read ok on=n value=1`, Held, "", nil},
	})
	checkObject(t, "counter", linear.Options{}, []law{
		{"a section that did not count", `
			5..5   A read ok lease=a on=n value=0
			5..5   A write ok lease=a on=n value=1
			5..5   A read ok lease=b on=n value=0`, Violated, "", nil},
		{"a section elsewhere as well", `
			5..5   A read ok lease=a on=n value=0
			5..5   A write ok lease=a on=n value=1
			5..5   A read ok lease=b on=n value=0
			5..5   A read ok lease=b on=m value=0
			5..5   A read ok lease=b on=n value=0`, Violated, "", nil},
		{"two at once", `
			5..5   A read ok lease=a on=n value=0
			5..5   A read ok lease=b on=n value=0
			5..5   A write ok lease=a on=n value=1`, Held, "", nil},
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

// In a counter or a stock, a section is one step.
func TestSectionsAreSteps(t *testing.T) {
	const turns = `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=%A
			4..5   A write ok lease=a on=n value=1
			6..7   A release ok lease=a
			6..8   B acquire ok lease=b
			9..10  B read ok lease=b on=n value=%B
			11..12 B write ok lease=b on=n value=%C
			`
	with := func(a, b, c string) string { return strings.NewReplacer("%A", a, "%B", b, "%C", c).Replace(turns) }
	const torn = `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			2..3   B acquire ok lease=b
			4..5   B read ok lease=b on=n value=0
			6..7   B write ok lease=b on=n value=1
			8..9   A write %OUTCOME lease=a on=n value=1`
	checkObject(t, "counter", linear.Options{}, []law{
		{"in turn", with("0", "1", "2"), Held, "2 operations in a legal order", nil},
		{"a lost update", strings.Replace(torn, "%OUTCOME", "ok", 1), Violated,
			"no order of these is legal: A write from 8.000 s to 9.000 s ok, B write from 6.000 s to 7.000 s ok", nil},
		{"a stale write that was refused", strings.Replace(torn, "%OUTCOME", "fail", 1), Held, "", nil},
		{"a stale write that nobody knows of", strings.Replace(torn, "%OUTCOME", "info", 1), Held, "", nil},
		{"and that did happen", strings.Replace(torn, "%OUTCOME", "info", 1) + "\n10..11 C read ok on=n value=1", Held, "", nil},
		{"a write that nobody knows of, beyond what it had found",
			strings.Replace(torn, "%OUTCOME", "info", 1) + "\n10..11 C read ok on=n value=2", Violated, "", nil},
		{"what no counter does, within a section", `
			0..1   A read ok lease=a on=n value=0
			2..3   A write ok lease=a on=n value=1
			4..5   A cas ok lease=a on=n
			6..7   A read ok lease=a on=n value=2`, Undecided, "the cas at 4.000 s may have changed it", nil},
		{"a section whose last read has no end", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=5
			4..5   A write ok lease=a on=n value=6
			6      A read invoke lease=a on=n`, Violated, "no order of these is legal", nil},
		{"what was seen before its section came to an unknown end", `
			2..3   A read ok lease=a on=n value=1
			3..4   A read info lease=a on=n
			5..6   B read ok lease=b on=n value=0
			7..8   B write ok lease=b on=n value=1`, Violated, "", nil},
		{"a blind write", `
			0..1   A acquire ok lease=a
			2..3   A write ok lease=a on=n value=1`, Undecided, "A wrote at 2.000 s without having read", nil},
		{"half a section", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A write ok lease=a on=n value=1
			6..7   A write info lease=a on=n value=2`, Undecided, "may not have happened", nil},
		{"two reads in one section that differ", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A read ok lease=a on=n value=999
			6..7   A write ok lease=a on=n value=1`, Violated,
			"A read 999 at 5.000 s, where its own section had left 0 at 3.000 s, so that it was no single step", []int{3, 4, 5, 6}},
		{"and may, if it was refused its write", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A read ok lease=a on=n value=1
			6..7   A write fail lease=a on=n value=1
			0..1   B acquire ok lease=b
			1..2   B read ok lease=b on=n value=0
			3..4   B write ok lease=b on=n value=1`, Held, "", nil},
		{"a section that reads what it wrote", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A write ok lease=a on=n value=1
			6..7   A read ok lease=a on=n value=1
			8..9   A write ok lease=a on=n value=3`, Held, "", nil},
		{"or does not", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A write ok lease=a on=n value=1
			6..7   A read ok lease=a on=n value=2
			8..9   A write ok lease=a on=n value=3`, Violated,
			"A read 2 at 7.000 s, where its own section had left 1 at 5.000 s, so that it was no single step", []int{5, 6, 7, 8}},
		{"or cannot know", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=0
			4..5   A write info lease=a on=n value=1
			6..7   A read ok lease=a on=n value=0
			8..9   A read ok lease=a on=n value=1`, Held, "", nil},
		{"who reads under no lease", with("0", "1", "2") + "\n5..5.5 C read ok on=n value=1\n13..14 C read ok on=n value=2", Held, "", nil},
		{"and sees the counter go back", with("0", "1", "2") + "\n13..14 C read ok on=n value=2\n15..16 C read ok on=n value=1",
			Violated, "no order of these is legal", nil},
		{"who writes under no lease", with("0", "1", "2") + "\n13..14 C read ok on=n value=2\n15..16 C write ok on=n value=3",
			Undecided, "C wrote at 15.000 s without having read", nil},
		{"a counter that was never there", with("3", "4", "5"), Violated, "no order of these is legal", nil},
	})
	checkObject(t, "inventory", linear.Options{Stock: 3}, []law{
		{"sold", with("3", "2", "2"), Held, "2 operations in a legal order", nil},
		{"oversold", with("3", "2", "3"), Violated, "no order of these is legal", nil},
		{"a stock that is no number of things", with("-1", "2", "2"), Violated, "no order of these is legal", nil},
		{"a section that sees what it took", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=3
			4..5   A write ok lease=a on=n value=2
			6..7   A read ok lease=a on=n value=1
			8..9   A write ok lease=a on=n value=1`, Held, "", nil},
		{"or does not", `
			0..1   A acquire ok lease=a
			2..3   A read ok lease=a on=n value=3
			4..5   A write ok lease=a on=n value=2
			6..7   A read ok lease=a on=n value=2`, Violated,
			"A read 2 at 7.000 s, where its own section had left 1 at 5.000 s, so that it was no single step", nil},
		{"sold by two at once", strings.NewReplacer("value=0", "value=3", "%OUTCOME", "ok").Replace(torn), Violated, "", nil},
	})
}
