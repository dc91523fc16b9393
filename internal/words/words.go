// Package words puts numbers and lists into words for people, and finds words in lists.
// For text that strangers wrote, see package visible.
package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Seconds returns a duration in seconds with a suitable unit, such as 26 min.
func Seconds(s float64) string {
	switch {
	case math.IsNaN(s) || math.IsInf(s, 0):
		return "?"
	case s > 0 && s < 1:
		return strconv.FormatFloat(s*1000, 'f', 0, 64) + " ms"
	case s < 120:
		return Short(s) + " s"
	case s < 2*3600:
		return Short(s/60) + " min"
	case s < 2*86400:
		return Short(s/3600) + " h"
	}
	return Short(s/86400) + " days"
}

// Short returns a number with two significant digits, or without a fraction if it is 10
// or more.
func Short(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "?"
	case math.Abs(f) >= 10:
		return humanize.Commaf(math.Round(f))
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

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

// Map returns what f returns for each element of a list; nil for an empty list.
func Map[T, S any](list []T, f func(T) S) (out []S) {
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
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

// Time returns a time for messages, without the date if it is the date of now.
func Time(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04 UTC")
	}
	return t.Format("2 January 15:04 UTC")
}

// Ago returns an elapsed time, in one unit.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return Plural(int(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return Plural(int(d/time.Hour), "hour", "hours")
	}
	return Plural(int(d/(24*time.Hour)), "day", "days")
}
