package lockmodel

import (
	"encoding/binary"
	"slices"
)

// Holders is the state of a semaphore: the owners of the permits given out, ascending, one entry for each permit, four
// bytes an entry. It is a string so that states can be compared.
type Holders string

// Semaphore gives out a number of permits, one for each acquire; an owner may have several.
func Semaphore(permits int, r Refusal) Spec[Holders] {
	give := func(now Holders, op *Op) (Holders, bool) {
		owners := now.owners()
		at, has := slices.BinarySearch(owners, op.Owner)
		switch {
		case op.Kind == Acquire && len(owners) < permits:
			return holders(slices.Insert(owners, at, op.Owner)), true
		case op.Kind == Release && has:
			return holders(slices.Delete(owners, at, at+1)), true
		}
		return now, false
	}
	return Spec[Holders]{Title: "semaphore", Happen: give, Refuse: refuse(r, give)}
}

func (h Holders) owners() []int32 {
	owners := make([]int32, 0, len(h)/4+1)
	for ; h != ""; h = h[4:] {
		owners = append(owners, int32(binary.BigEndian.Uint32([]byte(h[:4]))))
	}
	return owners
}

func holders(owners []int32) Holders {
	var b []byte
	for _, o := range owners {
		b = binary.BigEndian.AppendUint32(b, uint32(o))
	}
	return Holders(b)
}
