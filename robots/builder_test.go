package robots

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBuilder(t *testing.T) {
	text, err := new(Builder).
		Comment("Made by a program.").
		Group("ExampleBot", "OtherBot").
		Disallow("/private/").Allow("/private/press/").
		CrawlDelay(CrawlDelay{Delay: 1500 * time.Millisecond}).
		RequestRate(RequestRate{Requests: 1, Per: time.Minute, Window: WholeDay}).
		VisitTime(Window{From: 60, To: 120}).
		Field("Content-Signal", "ai-train=no").
		Group("Nobody").
		Group("*").Disallow("").
		Sitemap("https://example.com/s.xml").
		Text()
	// Without an empty rule, a group that has only limits would be merged with
	// the next group.
	if text, _ := new(Builder).Group("a").CrawlDelay(CrawlDelay{}).Group("b").Disallow("/").Text(); !Parse([]byte(text)).Allowed("a", "/") {
		t.Errorf("a rule of group b applies to a:\n%s", text)
	}
	const want = `# Made by a program.

User-agent: ExampleBot
User-agent: OtherBot
Disallow: /private/
Allow: /private/press/
Crawl-delay: 1.5
Request-rate: 1/1m
Visit-time: 0100-0200
Content-Signal: ai-train=no

User-agent: Nobody
Disallow:

User-agent: *
Disallow:

Sitemap: https://example.com/s.xml
`
	if err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestBuilderErrors(t *testing.T) {
	for name, b := range map[string]*Builder{
		"a line break in a pattern":                new(Builder).Group("*").Disallow("/a\nDisallow: /"),
		"a # in a pattern":                         new(Builder).Group("*").Disallow("/a#b"),
		"a pattern without a slash":                new(Builder).Group("*").Disallow("a"),
		"an empty Allow":                           new(Builder).Group("*").Allow(""),
		"a rule before any group":                  new(Builder).Disallow("/"),
		"a rule after a sitemap":                   new(Builder).Group("*").Disallow("/a").Sitemap("https://x.test/").Disallow("/"),
		"a group without a token":                  new(Builder).Group(),
		"a token with a version":                   new(Builder).Group("ExampleBot/1.0"),
		"a line break in a token":                  new(Builder).Group("a\nDisallow: /"),
		"a User-agent line as a field":             new(Builder).Group("a").Field("User-agent", "*"),
		"a rule as a field":                        new(Builder).Group("a").Field("Disallow", "x"),
		"a field that only Google reads as a rule": new(Builder).Group("a").Field("Disallow-all", "/"),
		"a key with a colon":                       new(Builder).Group("a").Field("Noindex: /", "x"),
		"a line break in a value":                  new(Builder).Group("a").Field("Content-Signal", "a=b\r\nDisallow: /"),
		"a CR in a comment":                        new(Builder).Comment("a\rDisallow: /"),
		"a line break in a sitemap":                new(Builder).Sitemap("https://x.test/\nDisallow: /"),
		"a negative delay":                         new(Builder).Group("a").CrawlDelay(CrawlDelay{Delay: -time.Second}),
		"a rate without requests and time":         new(Builder).Group("a").RequestRate(RequestRate{}),
		"a time after the end of the day":          new(Builder).Group("a").VisitTime(Window{From: 0, To: 1440}),
		"a rate with a negative time":              new(Builder).Group("a").RequestRate(RequestRate{Requests: 1, Per: time.Second, Window: Window{From: -5, To: 3}}),
		"a file that is too large":                 new(Builder).Comment(strings.Repeat("a", MaxSize)),
	} {
		if text, err := b.Text(); err == nil {
			t.Errorf("%s: no error\n%s", name, text)
		}
	}
}

// build writes a parsed file with a Builder. ok is false if the file has a line
// that the Builder does not accept.
func build(f *File) (text string, ok bool) {
	var b Builder
	for _, g := range f.Groups() {
		b.Group(g.Tokens()...)
		for _, r := range g.Rules() {
			if r.Allow {
				b.Allow(r.Pattern)
			} else {
				b.Disallow(r.Pattern)
			}
		}
		if d, ok := g.CrawlDelay(); ok {
			b.CrawlDelay(d)
		}
		for _, r := range g.RequestRates() {
			b.RequestRate(r)
		}
		for _, v := range g.VisitTimes() {
			b.VisitTime(v.Window)
		}
	}
	for _, s := range f.Sitemaps() {
		b.Sitemap(s.URL)
	}
	text, err := b.Text()
	return text, err == nil
}

// FuzzBuilder checks that a file that a Builder wrote from a parsed file has
// the same groups, rules and delays as that file.
func FuzzBuilder(f *testing.F) {
	for _, s := range append(googleTexts, seeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Parse(data)
		if len(file.Words()) > 0 || len(data) > 10_000 {
			return // a Builder can't write groups for the first word of a token
		}
		text, ok := build(file)
		if !ok {
			return
		}
		again := Parse([]byte(text))
		if text2, ok := build(again); !ok || text2 != text {
			t.Fatalf("the second file that was built differs from the first:\n%s\n%s", text, text2)
		}
		for _, token := range append(file.Tokens(), "*") {
			a, b := file.Group(token), again.Group(token)
			if !slices.EqualFunc(a.Rules(), b.Rules(), func(x, y Rule) bool { return x.Allow == y.Allow && x.Pattern == y.Pattern }) {
				t.Fatalf("%q: rules %v, want %v\n%s", token, b.Rules(), a.Rules(), text)
			}
			x, okX := a.CrawlDelay()
			y, okY := b.CrawlDelay()
			if okX != okY || x.Delay != y.Delay {
				t.Fatalf("%q: Crawl-delay %v, want %v\n%s", token, y, x, text)
			}
		}
	})
}
