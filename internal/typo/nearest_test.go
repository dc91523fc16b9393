package typo

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"ai-training", "ai-search", "archive", "GPTBot", "Googlebot", "seo"}
	for found, want := range map[string]string{
		"ai-trainnig": "ai-training", "AI_Training": "ai-training", "googelbot": "Googlebot", "GTPBot": "GPTBot",
		"seo": "seo", "monitor": "", "": "", "x": "",
	} {
		if got := Nearest(found, slices.Values(words)); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", found, got, want)
		}
	}
}
