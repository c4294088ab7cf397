package checker

import "hash/maphash"

// name is a string of a history as a number, so that millions of operations can be kept and compared. The empty string
// is 0.
type name int32

// unnamed is a string that the history does not contain.
const unnamed name = -1

// names numbers strings in the order in which they come. It is a hash table with open addressing, which takes a fifth of
// the memory of a map: a lock history has a lease for every few operations.
type names struct {
	texts []string
	slots []nameSlot
	seed  maphash.Seed
}

// nameSlot has, besides the number, the rest of the hash: a string that is not the one looked for is seldom fetched, which
// would cost more than all else.
type nameSlot struct {
	name name // 0 is an empty one
	rest uint32
}

// newNames has room for so many strings.
func newNames(room int) names {
	size := 16
	for size < 2*room {
		size *= 2
	}
	return names{append(make([]string, 0, room+1), ""), make([]nameSlot, size), maphash.MakeSeed()}
}

// intern gives a string its number.
func (n *names) intern(text string) name {
	if text == "" {
		return 0
	}
	slot, rest := n.slot(text)
	if n.slots[slot].name == 0 {
		if 4*len(n.texts) > 3*len(n.slots) {
			n.grow()
			slot, rest = n.slot(text)
		}
		n.slots[slot] = nameSlot{name(len(n.texts)), rest}
		n.texts = append(n.texts, text)
	}
	return n.slots[slot].name
}

// find returns the number of a string, or unnamed.
func (n *names) find(text string) name {
	if text == "" {
		return 0
	}
	if slot, _ := n.slot(text); n.slots[slot].name != 0 {
		return n.slots[slot].name
	}
	return unnamed
}

// text is the string of a number.
func (n *names) text(known name) string { return n.texts[known] }

// slot is where a string is, or where it belongs, with the rest of its hash.
func (n *names) slot(text string) (slot int, rest uint32) {
	hash := maphash.String(n.seed, text)
	mask := len(n.slots) - 1
	slot, rest = int(hash)&mask, uint32(hash>>32)
	for n.slots[slot].name != 0 && (n.slots[slot].rest != rest || n.texts[n.slots[slot].name] != text) {
		slot = (slot + 1) & mask
	}
	return slot, rest
}

func (n *names) grow() {
	n.slots = make([]nameSlot, 2*len(n.slots))
	for known := 1; known < len(n.texts); known++ {
		slot, rest := n.slot(n.texts[known])
		n.slots[slot] = nameSlot{name(known), rest}
	}
}
