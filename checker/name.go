package checker

import "hash/maphash"

// name is a string of a history as a number, so that millions of operations can be kept and compared. The empty string
// is 0.
type name int32

// unnamed is a string that the history does not contain.
const unnamed name = -1

// names numbers strings in the order in which they come. It is a hash table with open addressing, which takes a sixth of
// the memory of a map: a lock history has a lease for every few operations.
type names struct {
	texts []string
	slots []name
	tags  []uint8 // of each slot a byte of the hash, 0 for an empty one, so that few strings are fetched to compare them
	seed  maphash.Seed
}

// newNames has room for so many strings.
func newNames(room int) names {
	size := 16
	for size < 2*room {
		size *= 2
	}
	return names{append(make([]string, 0, room+1), ""), make([]name, size), make([]uint8, size), maphash.MakeSeed()}
}

// intern gives a string its number.
func (n *names) intern(text string) name {
	if text == "" {
		return 0
	}
	slot, tag := n.slot(text)
	if n.tags[slot] == 0 {
		if 4*len(n.texts) > 3*len(n.slots) {
			n.grow()
			slot, tag = n.slot(text)
		}
		n.slots[slot], n.tags[slot] = name(len(n.texts)), tag
		n.texts = append(n.texts, text)
	}
	return n.slots[slot]
}

// find returns the number of a string, or unnamed.
func (n *names) find(text string) name {
	if text == "" {
		return 0
	}
	if slot, _ := n.slot(text); n.tags[slot] != 0 {
		return n.slots[slot]
	}
	return unnamed
}

// text is the string of a number.
func (n *names) text(known name) string { return n.texts[known] }

// slot is where a string is, or where it belongs, with its tag.
func (n *names) slot(text string) (slot int, tag uint8) {
	hash := maphash.String(n.seed, text)
	mask := len(n.slots) - 1
	slot, tag = int(hash)&mask, uint8(hash>>56)|1
	for n.tags[slot] != 0 && (n.tags[slot] != tag || n.texts[n.slots[slot]] != text) {
		slot = (slot + 1) & mask
	}
	return slot, tag
}

func (n *names) grow() {
	n.slots, n.tags = make([]name, 2*len(n.slots)), make([]uint8, 2*len(n.tags))
	for known := 1; known < len(n.texts); known++ {
		slot, tag := n.slot(n.texts[known])
		n.slots[slot], n.tags[slot] = name(known), tag
	}
}
