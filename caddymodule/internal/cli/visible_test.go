package cli

import "testing"

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"text stays", "/my files/é/日本", "/my files/é/日本"},
		{"terminal escapes", "a\x1b]0;title\x07b", `a\x1b]0;title\ab`},
		{"C1 escapes", "a\u009b31m", `a\u009b31m`},
		{"carriage returns", "a\rb", `a\rb`},
		{"line feeds", "a\nb", `a\nb`},
		{"text that runs the other way", "a\u202eb", `a\u202eb`},
		{"what is not seen", "a\u200bb\u00adc", `a\u200bb\u00adc`},
		{"octets that are not UTF-8", "a\xffb", `a\xffb`},
		{"a replacement character", "a\ufffdb", "a\ufffdb"},
		{"tabs", "a\tb", "a b"},
	} {
		if got := Visible(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
