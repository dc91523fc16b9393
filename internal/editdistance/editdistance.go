// Package editdistance finds the known word that a misspelt word probably
// means.
package editdistance

import "iter"

// Between returns the minimal number of edits that change a into b (the optimal
// string alignment distance). An edit inserts, deletes or replaces an octet, or
// swaps two adjacent octets. The time is proportional to the product of both
// lengths, so callers should limit these.
func Between(a, b string) int {
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

// Nearest returns the candidate with the smallest distance to word, the first
// one if there are several. It returns "" if all distances are greater than
// most.
func Nearest(word string, candidates iter.Seq[string], most int) string {
	best, fewest := "", most+1
	for c := range candidates {
		if d := Between(word, c); d < fewest {
			best, fewest = c, d
		}
	}
	return best
}
