package lint

import "testing"

func TestIsTypo(t *testing.T) {
	for _, tt := range []struct {
		word, known string
		want        bool
	}{
		{"gptbott", "gptbot", true},
		{"googelbot", "googlebot", true},
		{"binbot", "bingbot", true},
		{"binggbot", "bingbot", true},
		{"google-bot", "googlebot", true},
		{"claudebit", "claudebot", true},
		{"googlebo", "googlebot", true},

		{"googlebot", "googlebot", false},
		{"gptbots", "gptbot", false},
		{"googlebot2", "googlebot", false},
		{"googlebot-image", "googlebot", false},
		{"spbot", "s2bot", false},
		{"mj11bot", "mj12bot", false},
		{"pingbot", "bingbot", false},
		{"snapbot", "shapbot", false},
		{"gptbot-user", "gptbot", false},
		{"yeta", "yeti", false},
		{"discobot", "discordbot", false},
		{"uptimebot", "uptimerobot", false},
		{"", "googlebot", false},
		{"g", "googlebot", false},
	} {
		if got := isTypo(tt.word, tt.known); got != tt.want {
			t.Errorf("%s for %s: %v, want %v", tt.word, tt.known, got, tt.want)
		}
	}
}
