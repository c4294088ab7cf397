package linear

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// rival is a special-purpose checker and the model that porcupine judges by.
type rival struct {
	name    string
	model   lockmodel.Model
	judge   func([]lockmodel.Op) Verdict
	draw    func(dice) []lockmodel.Op
	excused func([]lockmodel.Op) bool // whether the checker may leave the history undecided
}

func rivals() []rival {
	var all []rival
	for _, refusal := range []lockmodel.Refusal{lockmodel.Lenient, lockmodel.Strict} {
		name := map[lockmodel.Refusal]string{lockmodel.Lenient: "lenient", lockmodel.Strict: "strict"}[refusal]
		excused := func(ops []lockmodel.Op) bool { return reusesIdentity(ops) || bool(refusal) && intricate(ops) }
		all = append(all,
			rival{name + " mutex", lockmodel.Mutex(refusal),
				func(ops []lockmodel.Op) Verdict { return Mutex(ops, refusal) }, drawLocking, excused},
			rival{name + " fenced", lockmodel.Fenced(refusal),
				func(ops []lockmodel.Op) Verdict { return Fenced(ops, refusal) }, drawLocking, excused})
	}
	all = append(all, countingRivals()...)
	return append(all, rival{"fenced register", lockmodel.FencedRegister(), FencedRegister, drawAccesses, unordered})
}

// reusesIdentity tells whether an owner acquires after an operation with unknown outcome that nothing resolved. It is
// written apart from the checker: an owner's operations are resolved if a release told how things stood.
func reusesIdentity(ops []lockmodel.Op) bool {
	type doubt struct{ acquires, releases int }
	doubts := map[int32]*doubt{}
	for i := range ops {
		op := &ops[i]
		d := doubts[op.Owner]
		if d == nil {
			d = &doubt{}
			doubts[op.Owner] = d
		}
		switch {
		case op.Kind == lockmodel.Acquire && op.Outcome == fail:
		case op.Kind == lockmodel.Acquire:
			// A single unknown release before a grant must have happened; otherwise nothing is sure.
			if d.acquires > 0 || d.releases > 1 || d.releases == 1 && op.Outcome == info {
				return true
			}
			if op.Outcome == info && heldBefore(ops[:i], op.Owner) { // it asks again while it holds
				return true
			}
			if d.releases == 1 && !heldBefore(ops[:i], op.Owner) {
				return true
			}
			d.releases = 0
			if op.Outcome == info {
				d.acquires = 1
			}
		case op.Outcome == info:
			d.releases++
		case op.Outcome == ok:
			d.acquires = 0
		case d.acquires == 0 && d.releases > 0 && heldBefore(ops[:i], op.Owner):
			d.releases--
		}
	}
	return false
}

// heldBefore tells whether an owner's last answer about holding was a grant.
func heldBefore(ops []lockmodel.Op, owner int32) bool {
	for _, op := range slices.Backward(ops) {
		if op.Owner == owner && op.Outcome != info && (op.Kind == lockmodel.Release || op.Outcome == ok) {
			return op.Kind == lockmodel.Acquire
		}
	}
	return false
}

// intricate tells whether an owner was refused a release after two unknown operations, or too many holds are of those that
// only their releases prove.
func intricate(ops []lockmodel.Op) bool {
	touches := 0
	for i := range ops {
		if ops[i].Kind == lockmodel.Release && ops[i].Outcome == ok && !heldBefore(ops[:i], ops[i].Owner) {
			touches++
		}
	}
	if touches > 7 {
		return true
	}
	for i := range ops {
		if ops[i].Kind == lockmodel.Release && ops[i].Outcome == fail {
			unknown := 0
			for j := range i {
				if ops[j].Owner == ops[i].Owner && ops[j].Outcome == info {
					unknown++
				}
			}
			if unknown > 1 {
				return true
			}
		}
	}
	return false
}

// unordered tells whether writes of one fence overlap.
func unordered(ops []lockmodel.Op) bool {
	for i := range ops {
		for j := range i {
			a, b := &ops[j], &ops[i]
			if a.Kind == lockmodel.Write && b.Kind == lockmodel.Write && a.Arg == b.Arg && a.Return >= b.Call {
				return true
			}
		}
	}
	return false
}

// compare says how the two disagree, "" if they do not.
func (r *rival) compare(ops []lockmodel.Op) (fast Verdict, complaint string) {
	fast = r.judge(ops)
	legal := porcupine.CheckOperations(r.model.Porcupine(), lockmodel.Operations(ops))
	switch {
	case fast.Status == Undecided && !r.excused(ops):
		return fast, "left undecided"
	case fast.Status == Legal && !legal, fast.Status == Illegal && legal:
		return fast, fmt.Sprintf("%v (reason %d), but porcupine says legal %v", fast.Status, fast.Reason, legal)
	case fast.Status == Illegal && len(fast.Witness) == 0:
		return fast, "no witness"
	case fast.Status == Illegal:
		if alone := choose(ops, fast.Witness); porcupine.CheckOperations(r.model.Porcupine(), lockmodel.Operations(alone)) {
			return fast, fmt.Sprintf("the witness %v (reason %d) does not show it", fast.Witness, fast.Reason)
		}
	}
	return fast, ""
}

// shrink drops operations as long as the two disagree.
func (r *rival) shrink(ops []lockmodel.Op) []lockmodel.Op {
	for i := 0; i < len(ops); i++ {
		fewer := slices.Delete(slices.Clone(ops), i, i+1)
		if _, complaint := r.compare(fewer); complaint != "" {
			return r.shrink(fewer)
		}
	}
	return ops
}

func literal(ops []lockmodel.Op) string {
	var b strings.Builder
	for _, op := range ops {
		fmt.Fprintf(&b, "\t%+v\n", op)
	}
	return b.String()
}

func TestSpecialCheckersAgreeWithPorcupine(t *testing.T) {
	for _, r := range rivals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			seen := map[Status]int{}
			for range 5 { // of 100 histories each
				rapid.Check(t, func(t *rapid.T) {
					ops := r.draw(rapidDice{t})
					fast, complaint := r.compare(ops)
					if complaint != "" {
						t.Fatalf("%s\n%s", complaint, literal(ops))
					}
					seen[fast.Status]++
				})
			}
			if seen[Legal] == 0 || seen[Illegal] == 0 {
				t.Errorf("nothing was compared: %v", seen)
			}
		})
	}
}

// histories is how many random histories a test judges: a few, or as many as the environment asks for (make check-slow).
func histories(t *testing.T, few int) int {
	asked := os.Getenv("LOCKFAULT_HISTORIES")
	if asked == "" {
		return few
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestManyHistoriesAgree(t *testing.T) {
	n := histories(t, 2000)
	for k, r := range rivals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			seen, start := map[string]int{}, time.Now()
			for range n {
				ops := r.draw(rng)
				fast, complaint := r.compare(ops)
				if complaint != "" {
					ops = r.shrink(ops)
					_, complaint = r.compare(ops)
					t.Fatalf("%s\n%s", complaint, literal(ops))
				}
				seen[fmt.Sprintf("%v/%d", fast.Status, fast.Reason)]++
			}
			var counts []string
			for _, key := range slices.Sorted(maps.Keys(seen)) {
				counts = append(counts, fmt.Sprint(key, " ", seen[key]))
			}
			t.Logf("%d histories agree in %v: %s", n, time.Since(start).Round(time.Second), strings.Join(counts, ", "))
		})
	}
}

func TestPruningChangesNoVerdict(t *testing.T) {
	models := []lockmodel.Model{
		lockmodel.Mutex(lockmodel.Lenient), lockmodel.Mutex(lockmodel.Strict),
		lockmodel.Reentrant(2, lockmodel.Lenient), lockmodel.Reentrant(2, lockmodel.Strict),
		lockmodel.Fenced(lockmodel.Lenient), lockmodel.Fenced(lockmodel.Strict),
		lockmodel.ReentrantFenced(2, lockmodel.Lenient), lockmodel.ReentrantFenced(2, lockmodel.Strict),
		lockmodel.Semaphore(2, lockmodel.Lenient), lockmodel.Semaphore(2, lockmodel.Strict),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range histories(t, 2000) / 10 {
		ops := drawLocking(rng)
		for i, m := range models {
			plain := porcupine.CheckOperations(m.Unpruned(), lockmodel.UnprunedOperations(ops))
			if legal := porcupine.CheckOperations(m.Porcupine(), lockmodel.Operations(ops)); legal != plain {
				t.Fatalf("%s: legal %v, unpruned %v\n%s", m.Name(), legal, plain, literal(ops))
			}
			if i%2 == 1 { // strict
				continue
			}
			rest := lockmodel.Prune(ops)
			if legal := porcupine.CheckOperations(m.Porcupine(), lockmodel.Operations(rest)); legal != plain {
				t.Fatalf("%s: legal %v, but of all %v\n%s", m.Name(), legal, plain, literal(ops))
			}
		}
	}
}

func FuzzMutex(f *testing.F) {
	fuzz(f, "lenient mutex", "strict mutex", "lenient fenced", "strict fenced")
}
func FuzzFencedRegister(f *testing.F) { fuzz(f, "fenced register") }

func fuzz(f *testing.F, names ...string) {
	f.Add([]byte("a history is drawn from these bytes"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range rivals() {
			if !slices.Contains(names, r.name) {
				continue
			}
			ops := r.draw(&fuzzDice{data})
			if _, complaint := r.compare(ops); complaint != "" {
				t.Errorf("%s: %s\n%s", r.name, complaint, literal(ops))
			}
		}
	})
}
