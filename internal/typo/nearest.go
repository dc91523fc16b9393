// Package typo finds the known word that an unknown one was probably meant
// as, for error messages.
package typo

import (
	"iter"
	"strings"
)

// Nearest returns the candidate with the fewest typing errors between it and
// found, "" where none is near. The comparison ignores case, hyphens,
// underscores and blanks.
func Nearest(found string, candidates iter.Seq[string]) string {
	const longest = 40 // the cost is quadratic, and no known word is longer
	if found == "" || len(found) > longest {
		return ""
	}
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	word := fold.Replace(strings.ToLower(found))
	best, fewest := "", 1+max(1, min(3, len(word)/3))
	for c := range candidates {
		if len(c) > 2*longest {
			continue
		}
		if d := distance(word, fold.Replace(strings.ToLower(c))); d < fewest {
			best, fewest = c, d
		}
	}
	return best
}

// distance returns how many octets to insert, delete, replace or swap with
// their neighbour make b of a (the optimal string alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
