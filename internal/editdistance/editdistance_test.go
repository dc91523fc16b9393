package editdistance

import (
	"slices"
	"strings"
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
	words := []string{"noindex", "nofollow", "none", "nose", "Crawl-delay", strings.Repeat("a", 81)}
	for word, want := range map[string]string{
		"noindx":                "noindex",
		"noe":                   "none", // as near as nose, and the first
		"xyz":                   "",
		"nofololw_":             "nofollow",
		"crawl_delay":           "Crawl-delay",
		"CRAWLDELAY":            "Crawl-delay",
		"crwldely":              "Crawl-delay", // 2 edits
		"crldly":                "",            // 4 edits
		"":                      "",
		strings.Repeat("a", 40): "", // the known word is too long
		strings.Repeat("a", 81): "",
	} {
		if got := Nearest(word, slices.Values(words)); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
