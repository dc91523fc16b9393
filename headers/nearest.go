package headers

import (
	"iter"
	"strings"
)

// nearest is the candidate that found most probably was meant as: the one
// with the fewest typing errors between them, and "" where none is near. The
// comparison ignores case, hyphens and underscores.
func nearest(found string, candidates iter.Seq[string]) string {
	const longest = 40 // no known word is longer, and the cost is quadratic
	if found == "" || len(found) > longest {
		return ""
	}
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	word := fold.Replace(strings.ToLower(found))
	best, fewest := "", 1+max(1, min(3, len(word)/3))
	for c := range candidates {
		if d := typos(word, fold.Replace(c)); d < fewest {
			best, fewest = c, d
		}
	}
	return best
}

// typos counts the octets to insert, delete, replace or swap with their
// neighbour to make b of a (the optimal string alignment distance).
func typos(a, b string) int {
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
