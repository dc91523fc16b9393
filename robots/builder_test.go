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
	// A group that has limits alone would share its run with the next one.
	if text, _ := new(Builder).Group("a").CrawlDelay(CrawlDelay{}).Group("b").Disallow("/").Text(); !Parse([]byte(text)).Allowed("a", "/") {
		t.Errorf("a rule of b is for a:\n%s", text)
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
		"a line that ends early":    new(Builder).Group("*").Disallow("/a\nDisallow: /"),
		"a comment in a pattern":    new(Builder).Group("*").Disallow("/a#b"),
		"a pattern without slash":   new(Builder).Group("*").Disallow("a"),
		"an empty Allow":            new(Builder).Group("*").Allow(""),
		"a rule before any group":   new(Builder).Disallow("/"),
		"a rule after a sitemap":    new(Builder).Group("*").Disallow("/a").Sitemap("https://x.test/").Disallow("/"),
		"no crawler":                new(Builder).Group(),
		"a version":                 new(Builder).Group("ExampleBot/1.0"),
		"a token with a line end":   new(Builder).Group("a\nDisallow: /"),
		"another User-agent":        new(Builder).Group("a").Field("User-agent", "*"),
		"a rule without its checks": new(Builder).Group("a").Field("Disallow", "x"),
		"a rule for Google alone":   new(Builder).Group("a").Field("Disallow-all", "/"),
		"a key with a colon":        new(Builder).Group("a").Field("Noindex: /", "x"),
		"a value with a line end":   new(Builder).Group("a").Field("Content-Signal", "a=b\r\nDisallow: /"),
		"a comment with a CR":       new(Builder).Comment("a\rDisallow: /"),
		"a sitemap with a line end": new(Builder).Sitemap("https://x.test/\nDisallow: /"),
		"a negative delay":          new(Builder).Group("a").CrawlDelay(CrawlDelay{Delay: -time.Second}),
		"a rate of nothing":         new(Builder).Group("a").RequestRate(RequestRate{}),
		"a file too large":          new(Builder).Comment(strings.Repeat("a", MaxSize)),
	} {
		if text, err := b.Text(); err == nil {
			t.Errorf("%s: no error\n%s", name, text)
		}
	}
}

// build writes a file anew, group by group; it is not ok where one has a line
// that a Builder refuses.
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

// What is built of a file is read as the file, also by Google's parser.
func FuzzBuilder(f *testing.F) {
	for _, s := range append(googleTexts, seeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := Parse(data)
		if len(file.Words()) > 0 || len(data) > 10_000 {
			return // a Builder names crawlers by their tokens alone
		}
		text, ok := build(file)
		if !ok {
			return
		}
		again := Parse([]byte(text))
		if text2, ok := build(again); !ok || text2 != text {
			t.Fatalf("built again it is another file:\n%s\n%s", text, text2)
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
