// Package editdistance finds the known word that a misspelt word probably
// means.
package editdistance

import (
	"iter"
	"strings"
)

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

// longest is the length, in octets, of the longest word that Nearest suggests
// something for. No known word is longer, and the time is quadratic.
const longest = 40

// Nearest returns the known word that a misspelt word probably means: the one
// with the smallest distance, the first one if there are several. It returns ""
// if no distance is at most 3 and at most a third of the word, or 1 for shorter
// words. The comparison ignores case, hyphens, underscores and blanks.
func Nearest(word string, known iter.Seq[string]) string {
	if word == "" || len(word) > longest {
		return ""
	}
	word = fold(word)
	best, fewest := "", max(1, min(3, len(word)/3))+1
	for k := range known {
		if len(k) > 2*longest {
			continue
		}
		if d := Between(word, fold(k)); d < fewest {
			best, fewest = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

func fold(word string) string { return separators.Replace(strings.ToLower(word)) }
