package editdistance

import (
	"slices"
	"testing"
)

func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"noindex", "noindex", 0}, {"noindx", "noindex", 1},
		{"noidnex", "noindex", 1}, // neighbours swapped
		{"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3},
	} {
		if got := Between(tt.a, tt.b); got != tt.want {
			t.Errorf("Between(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Between(tt.b, tt.a); got != tt.want {
			t.Errorf("Between(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"noindex", "nofollow", "none", "nose"}
	for _, tt := range []struct {
		word string
		most int
		want string
	}{
		{"noindx", 2, "noindex"},
		{"noe", 1, "none"}, // as near as nose, and the first
		{"xyz", 2, ""},
		{"noindx", 0, ""},
	} {
		if got := Nearest(tt.word, slices.Values(words), tt.most); got != tt.want {
			t.Errorf("Nearest(%q, %d) = %q, want %q", tt.word, tt.most, got, tt.want)
		}
	}
}
