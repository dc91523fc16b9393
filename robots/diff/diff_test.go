package diff

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

func parse(text string) *robots.File { return robots.Parse([]byte(text)) }

func TestCompare(t *testing.T) {
	tests := []struct {
		name, before, after string
		want                []Change
	}{
		{
			name:   "the same file",
			before: "User-agent: *\nDisallow: /a\n",
			after:  "# moved\nUser-agent: *\nDisallow: /a\n",
		},
		{
			name:   "the same rules in another order",
			before: "User-agent: *\nDisallow: /a\nAllow: /a/b\n",
			after:  "User-agent: *\nAllow: /a/b\nDisallow: /a\n",
		},
		{
			name:   "a new rule",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\nDisallow: /b/*.pdf$\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", New: "Disallow: /b/*.pdf$", NewLine: 3,
				Paths: []string{"/b/x.pdf", "/b/.pdf"}}},
		},
		{
			name:   "an exception",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\nAllow: /a/b\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", Old: "Disallow: /a/", OldLine: 2,
				New: "Allow: /a/b", NewLine: 3, Allowed: true, Paths: []string{"/a/b", "/a/bx", "/a/b/x"}}},
		},
		{
			name:   "an exception for paths that match two rules",
			before: "User-agent: *\nDisallow: /a*\n",
			after:  "User-agent: *\nDisallow: /a*\nAllow: /*b\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", Old: "Disallow: /a*", OldLine: 2,
				New: "Allow: /*b", NewLine: 3, Allowed: true, Paths: []string{"/axbx"}}},
		},
		{
			name:   "a rule that never decides is removed",
			before: "User-agent: *\nDisallow: /a\nDisallow: /a*\n",
			after:  "User-agent: *\nDisallow: /a*\n",
		},
		{
			name:   "a new group for two crawlers",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\n\nUser-agent: ExampleBot\nUser-agent: OtherBot\nDisallow:\n",
			want: []Change{
				{Crawlers: []string{"ExampleBot", "OtherBot"}, What: "verdict", Old: "Disallow: /a/", OldLine: 2,
					Allowed: true, Paths: []string{"/a/", "/a/x"}},
				{Crawlers: []string{"ExampleBot", "OtherBot"}, What: "group", Old: "User-agent: *", OldLine: 1,
					New: "User-agent: ExampleBot", NewLine: 4},
			},
		},
		{
			name:   "limits",
			before: "User-agent: *\nCrawl-delay: 1.5\nRequest-rate: 1/60 0600-0845\n",
			after:  "User-agent: *\nCrawl-delay: 3\nVisit-time: 0600-0845\nSitemap: https://www.example.com/s.xml\n",
			want: []Change{
				{Crawlers: []string{"*"}, What: "request-rate", Old: "Request-rate: 1/1m 0600-0845", OldLine: 3},
				{Crawlers: []string{"*"}, What: "crawl-delay", Old: "Crawl-delay: 1.5", OldLine: 2, New: "Crawl-delay: 3", NewLine: 2},
				{Crawlers: []string{"*"}, What: "visit-time", New: "Visit-time: 0600-0845", NewLine: 3},
				{Crawlers: []string{"*"}, What: "sitemap", New: "Sitemap: https://www.example.com/s.xml", NewLine: 4},
			},
		},
		{
			name:   "exceptions for the first example paths of a new rule",
			before: "User-agent: *\nAllow: /a$\nAllow: /ax$\nAllow: /a/x$\n",
			after:  "User-agent: *\nAllow: /a$\nAllow: /ax$\nAllow: /a/x$\nDisallow: /a\n",
			want:   []Change{{Crawlers: []string{"*"}, What: "verdict", New: "Disallow: /a", NewLine: 5, Paths: []string{"/az"}}},
		},
		{
			name:   "preferences before the first group",
			before: "User-agent: *\nDisallow: /a\n",
			after:  "Content-Signal: ai-train=no\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /a\n",
			want: []Change{
				{Crawlers: []string{"*"}, What: "content-signal", New: "Content-Signal: ai-train=no", NewLine: 1},
				{Crawlers: []string{"*"}, What: "content-usage", New: "Content-Usage: train-ai=n", NewLine: 2},
			},
		},
		{
			name:   "another order of Host lines",
			before: "Host: a.test\nHost: b.test\n",
			after:  "Host: b.test\nHost: a.test\n",
			want:   []Change{{Crawlers: []string{"*"}, What: "host", Old: "Host: a.test", OldLine: 1, New: "Host: b.test", NewLine: 1}},
		},
		{
			name:   "the first word of a token",
			before: "User-agent: Sogou web spider\nDisallow: /a\nUser-agent: Sogou inst spider\nDisallow: /b\n",
			after:  "User-agent: Sogou web spider\nDisallow: /a\nUser-agent: Sogou inst spider\nDisallow: /c\n",
			want: []Change{
				{Crawlers: []string{"Sogou inst spider", "sogou"}, What: "verdict", Old: "Disallow: /b", OldLine: 4, Allowed: true, Paths: []string{"/b", "/bx", "/b/x"}},
				{Crawlers: []string{"Sogou inst spider", "sogou"}, What: "verdict", New: "Disallow: /c", NewLine: 4, Paths: []string{"/c", "/cx", "/c/x"}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Compare(parse(tt.before), parse(tt.after))
			got := r.Changes
			if !r.Complete {
				t.Error("Complete is false")
			}
			if len(got) != len(tt.want) {
				t.Fatalf("%d changes, want %d: %+v", len(got), len(tt.want), got)
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], tt.want[i]) {
					t.Errorf("change %d:\n%+v, want\n%+v", i, got[i], tt.want[i])
				}
			}
		})
	}
}

// The comparison of files with very many overlapping rules stops at a limit.
func TestCompareIsBounded(t *testing.T) {
	made := func(letter string) *robots.File {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := range 2000 {
			b.WriteString("Disallow: /*" + strings.Repeat(letter, 1+i%40) + "*" + string(rune('a'+i%26)) + "\n")
		}
		return parse(b.String())
	}
	if Compare(made("x"), made("y")).Complete {
		t.Error("Complete is true for files that exceed the limit")
	}
}

// A crawler obeys the groups that its operator documents, in their order.
func TestCompareWithCrawlers(t *testing.T) {
	known := []Crawler{
		{Tokens: []string{"Googlebot-Image", "Googlebot"}},
		{Tokens: []string{"Applebot", "Googlebot"}},
		{Tokens: []string{"AdsBot-Google"}, IgnoresStar: true},
		{},
	}
	for name, tt := range map[string]struct {
		before, after string
		want          []string // crawlers, old rule and new rule
	}{
		"a crawler that loses its group obeys that of its second token": {
			"User-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /s\n",
			[]string{"Googlebot-Image: Disallow: /i => ", "Googlebot-Image:  => Disallow: /g"},
		},
		"a crawler that is not named is left out if it has the same changes": {
			"User-agent: Googlebot\nDisallow: /a\n", "User-agent: Googlebot\nDisallow: /b\n",
			[]string{"Googlebot: Disallow: /a => ", "Googlebot:  => Disallow: /b"},
		},
		"a crawler that is not named is included if it has other changes": {
			"User-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: Googlebot\nUser-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: *\nDisallow: /s\n",
			[]string{"Googlebot:  => Disallow: /i", "Googlebot: Disallow: /s => "},
		},
		"a crawler that no group names is included in *": {
			"User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n",
			[]string{"*: Disallow: /a => ", "*:  => Disallow: /b"},
		},
		"the group for * does not apply to a crawler that ignores it": {
			"User-agent: AdsBot-Google\nDisallow: /a\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: *\nDisallow: /s\n",
			[]string{"AdsBot-Google: Disallow: /a => "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes := Compare(parse(tt.before), parse(tt.after), known...).Changes
			var got []string
			for _, c := range changes {
				if c.What == "verdict" {
					got = append(got, strings.Join(c.Crawlers, ", ")+": "+c.Old+" => "+c.New)
				}
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

// Where the first matching rule decides, another order of the same rules changes
// verdicts.
func TestCompareOrderOfRules(t *testing.T) {
	const one, two = "User-agent: *\nDisallow: /a\nAllow: /a/b\n", "User-agent: *\nAllow: /a/b\nDisallow: /a\n"
	for _, tt := range []struct {
		dialect robots.Dialect
		changed bool
	}{{robots.RFC9309, false}, {robots.Google, false}, {robots.Koster1994, true}, {robots.Kollar1996, true}} {
		parse := func(text string) *robots.File { return robots.Parse([]byte(text), robots.WithDialect(tt.dialect)) }
		r := Compare(parse(one), parse(two))
		if (r.Complete && len(r.Changes) == 0) == tt.changed || tt.changed && !slices.Contains(r.Changes[0].Paths, "/a/b") {
			t.Errorf("%v: %+v", tt.dialect, r)
		}
	}
}
