package judge

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCompileRules measures a usual file, and those of 490 KB with the most rules
// in all groups together.
func BenchmarkCompileRules(b *testing.B) {
	rules, err := Settings{}.Compile()
	if err != nil {
		b.Fatal(err)
	}
	lines := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, bb := range []struct{ name, text string }{
		{"usual", "User-agent: *\nDisallow: /private/\nAllow: /private/press/\nCrawl-delay: 5\n\nUser-agent: Googlebot\nDisallow: /no-google/\n"},
		{"many_names_together", lines(18_000, "User-agent: a%d\n") + lines(10_000, "Disallow: /%d\n")},
		{"many_names_twice", lines(9000, "User-agent: a%[1]d\nAllow: /%[1]d\n") + lines(9000, "User-agent: a%d\n") + lines(3000, "Disallow: /%d\n")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				rules.compile(Content{Body: fmt.Appendf(nil, "%s# %d\n", bb.text, i)}) // equal texts are compiled once
			}
		})
	}
}
