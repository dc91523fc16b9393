package headers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// benchRules returns n rules. Their patterns are of the first kinds of these in
// turn: three kinds for names and one for paths. None matches
// /articles/2026/some-long-title.html.
func benchRules(b *testing.B, n, kinds int) *Table {
	b.Helper()
	lines := make([]string, n)
	for i := range lines {
		switch i % kinds {
		case 0:
			lines[i] = fmt.Sprintf("*.x%dml noindex", i)
		case 1:
			lines[i] = fmt.Sprintf("report-%d-*.docx noindex, nofollow", i)
		case 2:
			lines[i] = fmt.Sprintf("some-long-%d.html nofollow", i)
		case 3:
			lines[i] = fmt.Sprintf("/articles/%d/ noarchive", i)
		}
	}
	return compile(b, lines...)
}

var benchTargets = []struct{ name, target string }{
	{"none", "/articles/2026/some-long-title.html"},
	{"none-escaped", "/articles/2026/some%2Dlong-title.html"},
	{"one", "/articles/2026/a.x0ml"},
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 20, 500, 512} {
		rules := benchRules(b, n, 3)
		for _, target := range benchTargets {
			b.Run(fmt.Sprintf("names=%d/matches=%s", n, target.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := rules.Match(target.target)
					if m.Empty() != (target.name != "one") {
						b.Fatal("wrong match")
					}
				}
			})
		}
	}
}

// BenchmarkMatchRegexps measures regular expressions.
func BenchmarkMatchRegexps(b *testing.B) {
	for _, kind := range []struct{ name, pattern string }{
		{"suffixes", `~ \.(x%dml|y%[1]ddoc?)$ noindex`},
		{"run", `~ ^x%d[a-z]+\.html$ noindex`},
	} {
		for _, n := range []int{1, 20, 500} {
			lines := make([]string, n)
			for i := range lines {
				lines[i] = fmt.Sprintf(kind.pattern, i)
			}
			rules := compile(b, lines...)
			b.Run(fmt.Sprintf("%s/rules=%d", kind.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := rules.Match("/articles/2026/some-long-title.html")
					if !m.Empty() {
						b.Fatal("wrong match")
					}
				}
			})
		}
	}
}

// BenchmarkApply measures Match and Apply with a new header, as for each
// request. "header only" sets one value without this package, for comparison.
func BenchmarkApply(b *testing.B) {
	b.Run("header only", func(b *testing.B) {
		b.ReportAllocs()
		h := http.Header{"Content-Type": {"text/html"}}
		for b.Loop() {
			h["X-Robots-Tag"] = []string{"noindex"}
			delete(h, "X-Robots-Tag")
		}
	})
	for _, n := range []int{0, 1, 20, 500, 512} {
		rules := benchRules(b, n, 4)
		for _, target := range benchTargets {
			b.Run(fmt.Sprintf("rules=%d/matches=%s", n, target.name), func(b *testing.B) {
				b.ReportAllocs()
				h := http.Header{"Content-Type": {"text/html"}}
				for b.Loop() {
					rules.Match(target.target).Apply(h, 200, nil)
					delete(h, "X-Robots-Tag")
				}
			})
		}
	}
	for _, n := range []int{20, 500, 512} {
		for _, kind := range []struct{ name, line string }{
			{"same", ""},                                // one directive
			{"other", "*.html max-snippet:%d"},          // as many as rules
			{"crawlers", "*.html crawler-%d: nofollow"}, // as many crawlers
		} {
			lines := make([]string, n)
			for i := range lines {
				lines[i] = fmt.Sprintf(kind.line, i)
				if kind.name == "same" {
					lines[i] = fmt.Sprintf("*%s.html noindex", strings.Repeat("*", i%20))
				}
			}
			rules := compile(b, lines...)
			b.Run(fmt.Sprintf("rules=%d/matches=all/says=%s", n, kind.name), func(b *testing.B) {
				b.ReportAllocs()
				h := http.Header{"Content-Type": {"text/html"}}
				for b.Loop() {
					rules.Match("/articles/2026/some-long-title.html").Apply(h, 200, nil)
					delete(h, "X-Robots-Tag")
				}
			})
		}
	}
	rules := compile(b, "type application/pdf noindex", "status 4xx noindex", "not type text/html nofollow")
	b.Run("types and status/matches=none", func(b *testing.B) {
		b.ReportAllocs()
		h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		for b.Loop() {
			rules.Match("/a").Apply(h, 200, nil)
		}
	})
	merging := compile(b, "*.pdf noindex")
	b.Run("merging with upstream", func(b *testing.B) {
		b.ReportAllocs()
		upstream := []string{"noarchive, max-snippet:50"}
		h := http.Header{}
		for b.Loop() {
			h["X-Robots-Tag"] = upstream
			merging.Match("/a.pdf").Apply(h, 200, nil)
		}
	})
}

// BenchmarkAddTags measures tags that are added to the fields of the back end.
func BenchmarkAddTags(b *testing.B) {
	tags := []Tag{{"", ReadDirectives("noindex")}, {"googlebot", ReadDirectives("nofollow")}}
	for _, upstream := range [][]string{nil, {"noarchive"}, {"bingbot: none", "noarchive"}} {
		b.Run(fmt.Sprintf("upstream=%d", len(upstream)), func(b *testing.B) {
			b.ReportAllocs()
			h := http.Header{}
			for b.Loop() {
				h["X-Robots-Tag"] = upstream
				AddTags(h, tags)
			}
		})
	}
}
