package certain

// best is the greatest value of some owner, and the greatest of any other owner. The zero value has none.
type best struct {
	n     int
	owner [2]string
	value [2]int64
	index [2]int
}

// with is best after one more value.
func (b best) with(owner string, value int64, index int) best {
	at := 0
	for at < b.n && b.value[at] >= value {
		if b.owner[at] == owner {
			return b // it has a greater one
		}
		at++
	}
	if at == 2 {
		return b
	}
	if at == 0 && b.n > 0 && b.owner[0] != owner {
		b.owner[1], b.value[1], b.index[1] = b.owner[0], b.value[0], b.index[0]
		b.n = 2
	}
	b.owner[at], b.value[at], b.index[at] = owner, value, index
	b.n = max(b.n, at+1)
	return b
}

// of is the greatest value of any owner but this one.
func (b best) of(owner string) (index int, value int64, ok bool) {
	for i := range b.n {
		if b.owner[i] != owner {
			return b.index[i], b.value[i], true
		}
	}
	return 0, always, false
}
