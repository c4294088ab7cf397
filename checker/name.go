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
	slots []name // 0 is an empty one
	seed  maphash.Seed
}

// newNames has room for so many strings.
func newNames(room int) names {
	size := 16
	for size < 2*room {
		size *= 2
	}
	return names{append(make([]string, 0, room+1), ""), make([]name, size), maphash.MakeSeed()}
}

// intern gives a string its number.
func (n *names) intern(text string) name {
	if text == "" {
		return 0
	}
	slot := n.slot(text)
	if n.slots[slot] == 0 {
		if 4*len(n.texts) > 3*len(n.slots) {
			n.grow()
			slot = n.slot(text)
		}
		n.slots[slot] = name(len(n.texts))
		n.texts = append(n.texts, text)
	}
	return n.slots[slot]
}

// find returns the number of a string, or unnamed.
func (n *names) find(text string) name {
	if text == "" {
		return 0
	}
	if known := n.slots[n.slot(text)]; known != 0 {
		return known
	}
	return unnamed
}

// text is the string of a number.
func (n *names) text(known name) string { return n.texts[known] }

// slot is where a string is, or where it belongs.
func (n *names) slot(text string) int {
	mask := len(n.slots) - 1
	i := int(maphash.String(n.seed, text)) & mask
	for n.slots[i] != 0 && n.texts[n.slots[i]] != text {
		i = (i + 1) & mask
	}
	return i
}

func (n *names) grow() {
	n.slots = make([]name, 2*len(n.slots))
	for known := 1; known < len(n.texts); known++ {
		n.slots[n.slot(n.texts[known])] = name(known)
	}
}
