package linear

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/lockfault/lockfault/checker/lockmodel"
)

// share has operations called by a few clients, each of which awaits its answer before it calls again.
func share(d dice, ops []lockmodel.Op) {
	busy := make([]int64, 1+d.IntN(3))
	for i := range ops {
		op, client := &ops[i], d.IntN(len(busy))
		lapse := op.Kind == lockmodel.Release && op.Outcome == info
		if lapse || op.Call < busy[client] {
			continue
		}
		op.Client, busy[client] = int32(client+1), op.Call
		if op.Return != lockmodel.Never {
			busy[client] = op.Return
		}
	}
}

// What a client did at one instant comes in its order, and what others did in any.
func TestClientsDoOneThingAtATime(t *testing.T) {
	same := func(a, b *lockmodel.Op) bool { return a.Client == b.Client && a.Client != 0 }
	for k, r := range rivals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(k), 17))
			object, mattered := Object{Model: r.model, Judge: r.judge}, 0
			for range histories(t, 2000) {
				ops := drawClose(rng)
				if r.name == "fenced register" {
					ops = drawAccesses(rng)
				}
				share(rng, ops)
				if object.Judge(ops).Status == Illegal { // as its owners came one after the other
					continue
				}
				m := r.model.Porcupine()
				legal := porcupine.CheckOperations(oneByOne(m, ops, same), lockmodel.Operations(ops))
				if v := object.Check(ops, Budget{}); (v.Status == Legal) != legal || v.Status == Undecided {
					t.Fatalf("%v (reason %d), legal %v\n%s", v.Status, v.Reason, legal, literal(ops))
				}
				if legal != porcupine.CheckOperations(m, lockmodel.Operations(ops)) {
					mattered++
				}
			}
			if mattered == 0 && r.name != "lenient mutex" { // two holds of one client change places there
				t.Error("it never mattered")
			}
			t.Log(mattered)
		})
	}
}
