// Package words puts numbers and lists into words for people, and finds words in lists.
// For text that strangers wrote, see package visible.
package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Count returns a number with commas between groups of three digits.
func Count[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// Plural returns a number with the singular or plural of a noun.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Octets returns a number of octets with a unit, such as 1.9 kB.
func Octets(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// List returns the first n elements of a list on one line, and how many more there are.
func List(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// ContainsFold reports whether a list contains a word, in upper or lower case. No list
// contains the empty word.
func ContainsFold(list []string, word string) bool {
	return word != "" && slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}

// Strings returns a list of words of another type. It is never nil, so that
// JSON has an empty list.
func Strings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
