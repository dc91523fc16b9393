package visible

import "testing"

func TestRune(t *testing.T) {
	for _, test := range []struct {
		s, text string
		size    int
		escaped bool
	}{
		{"abc", "a", 1, false},
		{"ä", "ä", 2, false},
		{"\tx", " ", 1, false},
		{"\x00", `\x00`, 1, true},
		{"\x1b[31m", `\x1b`, 1, true},
		{"\u202egnp", `\u202e`, 3, true}, // right-to-left override
		{"\u200b", `\u200b`, 3, true},    // zero width
		{"\u0085", `\u0085`, 2, true},
		{"\xff\xfe", `\xff`, 1, true},
		{"\xe2\x80", `\xe2`, 1, true}, // cut short
		{"\U000e0041", `\U000e0041`, 4, true},
		{"🤖", "🤖", 4, false},
	} {
		if text, size, escaped := Rune(test.s); text != test.text || size != test.size || escaped != test.escaped {
			t.Errorf("Rune(%q) = %q, %d, %v; want %q, %d, %v", test.s, text, size, escaped, test.text, test.size, test.escaped)
		}
	}
}
