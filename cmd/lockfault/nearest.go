package main

import (
	"cmp"
	"slices"
	"strings"
)

// didYouMean ends a message about a name that does not exist: "; did you mean single?", or nothing if no name is near.
func didYouMean(typed string, names []string) string {
	if name := nearest(typed, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// nearest is the name that was probably meant: the one with the fewest letters to change, if that is at most one in three,
// else the only one that begins with what was typed; "" if there is none.
func nearest(typed string, names []string) string {
	typed = strings.ToLower(typed)
	if typed == "" || len(names) == 0 {
		return ""
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(distance(typed, a), distance(typed, b)) })
	if distance(typed, best) <= max(1, len(best)/3) {
		return best
	}
	begin := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, typed) })
	if len(begin) == 1 {
		return begin[0]
	}
	return ""
}

// distance is Levenshtein's: how many bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
