package robots

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

func TestDiff(t *testing.T) {
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
			name:   "a rule more",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\nDisallow: /b/*.pdf$\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", New: "Disallow: /b/*.pdf$", NewLine: 3,
				Paths: []string{"/b/.pdf", "/b/x.pdf", "/b//x.pdf"}}},
		},
		{
			name:   "an exception",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\nAllow: /a/b\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", Old: "Disallow: /a/", OldLine: 2,
				New: "Allow: /a/b", NewLine: 3, Allowed: true, Paths: []string{"/a/b", "/a/bx", "/a/b/x"}}},
		},
		{
			name:   "an exception that holds only where two rules meet",
			before: "User-agent: *\nDisallow: /a*\n",
			after:  "User-agent: *\nDisallow: /a*\nAllow: /*b\n",
			want: []Change{{Crawlers: []string{"*"}, What: "verdict", Old: "Disallow: /a*", OldLine: 2,
				New: "Allow: /*b", NewLine: 3, Allowed: true, Paths: []string{"/ab"}}},
		},
		{
			name:   "a rule that never decides goes",
			before: "User-agent: *\nDisallow: /a\nDisallow: /a*\n",
			after:  "User-agent: *\nDisallow: /a*\n",
		},
		{
			name:   "a group of its own",
			before: "User-agent: *\nDisallow: /a/\n",
			after:  "User-agent: *\nDisallow: /a/\n\nUser-agent: ExampleBot\nUser-agent: OtherBot\nDisallow:\n",
			want: []Change{
				{Crawlers: []string{"ExampleBot", "OtherBot"}, What: "verdict", Old: "Disallow: /a/", OldLine: 2,
					Allowed: true, Paths: []string{"/a/", "/a/x", "/a//x"}},
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, complete := Diff(Parse([]byte(tt.before)), Parse([]byte(tt.after)))
			if !complete {
				t.Error("not complete")
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

// Files that are made to be slow to compare are compared in part.
func TestDiffIsBounded(t *testing.T) {
	made := func(letter string) *File {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for i := range 2000 {
			b.WriteString("Disallow: /*" + strings.Repeat(letter, 1+i%40) + "*" + string(rune('a'+i%26)) + "\n")
		}
		return Parse([]byte(b.String()))
	}
	if _, complete := Diff(made("x"), made("y")); complete {
		t.Error("complete, want a part")
	}
}

// Each path of a change has the verdicts that the change tells, and where two
// files differ on a path there is a change.
func FuzzDiff(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b\n"), []byte("User-agent: *\nAllow: /*b$\nUser-agent: x\nCrawl-delay: 1\n"), "/ab")
	f.Add([]byte("User-agent: x\nDisallow: /\nAllow: /b\n"), []byte("User-agent: *\nDisallow: /*?a\n"), "/b?a")
	f.Fuzz(func(t *testing.T, x, y []byte, path string) {
		if len(x) > 1000 || len(y) > 1000 || len(path) > 100 {
			return
		}
		before, after := Parse(x), Parse(y)
		changes, complete := Diff(before, after)
		noticed := map[string]bool{}
		for _, c := range changes {
			for _, crawler := range c.Crawlers {
				if c.What != "verdict" {
					continue
				}
				noticed[canonical.Lower(crawler)] = true
				a, b := before.Group(crawler), after.Group(crawler)
				for _, p := range c.Paths {
					if a.Match(p).Allowed == c.Allowed || b.Match(p).Allowed != c.Allowed {
						t.Fatalf("%q for %q: before %v, after %v, want a change to %v",
							p, crawler, a.Match(p).Allowed, b.Match(p).Allowed, c.Allowed)
					}
				}
			}
		}
		for _, crawler := range append(before.Tokens(), "*") {
			a, b := before.Group(crawler).Match(path), after.Group(crawler).Match(path)
			if a.Allowed != b.Allowed && complete && !noticed[canonical.Lower(crawler)] {
				t.Fatalf("%q for %q: before %v, after %v, and no change", path, crawler, a.Allowed, b.Allowed)
			}
		}
		if same, _ := Diff(before, before); len(same) > 0 {
			t.Fatalf("a file differs from itself: %+v", same)
		}
	})
}

func TestScheduleString(t *testing.T) {
	for line, want := range map[string]string{
		"1/10":           "1/10s",
		"100/15m":        "100/15m",
		"400/60m":        "400/1h",
		"1/1d 0600-0845": "1/24h 0600-0845",
	} {
		r, ok := parseRequestRate(line)
		if !ok || r.String() != want {
			t.Errorf("%s: %s, want %s", line, r, want)
		}
		again, ok := parseRequestRate(r.String())
		if !ok || again != r {
			t.Errorf("%s: read again %v, want %v", line, again, r)
		}
	}
	if got := (CrawlDelay{Delay: 1500 * time.Millisecond}).String(); got != "1.5" {
		t.Errorf("Crawl-delay %s, want 1.5", got)
	}
}

// A crawler obeys the groups that its operator documents, in their order.
func TestDiffWithCrawlers(t *testing.T) {
	known := WithCrawlers(
		Crawler{Tokens: []string{"Googlebot-Image", "Googlebot"}},
		Crawler{Tokens: []string{"Applebot", "Googlebot"}},
		Crawler{Tokens: []string{"AdsBot-Google"}, IgnoresStar: true},
		Crawler{},
	)
	for name, tt := range map[string]struct {
		before, after string
		want          []string // crawlers, and what changes for them
	}{
		"a lost group falls to that of the parent": {
			"User-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /s\n",
			[]string{"Googlebot-Image: Disallow: /i => ", "Googlebot-Image:  => Disallow: /g"},
		},
		"one that is not named follows its parent and is not told of": {
			"User-agent: Googlebot\nDisallow: /a\n", "User-agent: Googlebot\nDisallow: /b\n",
			[]string{"Googlebot: Disallow: /a => ", "Googlebot:  => Disallow: /b"},
		},
		"one that is not named is told of where it alone changes": {
			"User-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: Googlebot\nUser-agent: Googlebot-Image\nDisallow: /i\n\nUser-agent: *\nDisallow: /s\n",
			[]string{"Googlebot:  => Disallow: /i", "Googlebot: Disallow: /s => "},
		},
		"one that no group names is one of all others": {
			"User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n",
			[]string{"*: Disallow: /a => ", "*:  => Disallow: /b"},
		},
		"one that ignores * is free without a group of its own": {
			"User-agent: AdsBot-Google\nDisallow: /a\n\nUser-agent: *\nDisallow: /s\n",
			"User-agent: *\nDisallow: /s\n",
			[]string{"AdsBot-Google: Disallow: /a => "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes, _ := Diff(Parse([]byte(tt.before)), Parse([]byte(tt.after)), known)
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
