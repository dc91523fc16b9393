package managed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// smallRegistry has one crawler of each kind that makes a difference to a
// merge.
func smallRegistry(t testing.TB) *crawler.Registry {
	t.Helper()
	rows, err := crawler.ReadRows([]byte(`
{"name":"SeekBot","purposes":["search"]}
{"name":"SeekBot-Image","purposes":["search"],"robots":["SeekBot-Image","SeekBot"],"crawl_delay":"no"}
{"name":"Fallback","purposes":["search"],"robots":["Fallback","SeekBot"]}
{"name":"Iconster","purposes":["favicon"],"robots":["SeekBot-Image","SeekBot"]}
{"name":"Teacher","purposes":["ai-training"]}
{"name":"Oldster","purposes":["ai-training"],"user_agents":["OldBot","OlderBot"],"robots":["OldBot"]}
{"name":"Control","purposes":["ai-training"],"control_only":true,"robots":["Control"]}
{"name":"Gatherer","purposes":["ai-data"]}
{"name":"Linkster","purposes":["seo"],"crawl_delay":"yes"}
{"name":"Rankster","purposes":["seo"],"crawl_delay":"no"}
{"name":"Advertiser","purposes":["ads"],"star":"no"}
{"name":"Fetchlib","purposes":["library"],"class":"library"}
{"name":"Two Words","purposes":["data"]}
{"name":"Mapper","purposes":["ai-search","maps"]}
{"name":"Mixed","purposes":["search","maps"]}
{"name":"Slashed","purposes":["monitor"],"user_agents":["https://slashed.example"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	var empty crawler.Registry
	r, err := empty.With(rows...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compile(t testing.TB, p Policy) *Lines {
	t.Helper()
	l, err := p.Compile(smallRegistry(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// section returns the lines between the markers, without comments and blank
// lines.
func section(text string) string {
	_, rest, _ := strings.Cut(text, beginMarker)
	rest, _, _ = strings.Cut(rest, endMarker)
	var lines []string
	for line := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func deny(crawlers ...string) Policy { return Policy{Deny: []Statement{{Values: crawlers, Line: 7}}} }

func denyPath(crawler, path string) Policy {
	return Policy{Deny: []Statement{{Values: []string{crawler}, Paths: []string{path}, Line: 7}}}
}

func TestMerge(t *testing.T) {
	const star = "User-agent: *\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 5\n"
	for name, tt := range map[string]struct {
		policy Policy
		site   string
		want   string // the lines of the policy, as section returns them
		kept   string // the site's part of the merged file; "" if it must not change
		keeps  string // the crawlers whose groups stay
	}{
		"no file": {
			policy: deny("ai-training"),
			want:   "User-agent: Teacher\nUser-agent: OldBot\nUser-agent: Control\nDisallow: /",
		},
		"purpose, with a group for * in the file": {
			policy: deny("ai-training"), site: star,
			want: "User-agent: Teacher\nUser-agent: OldBot\nUser-agent: Control\nDisallow: /",
		},
		"one of several purposes, and a crawler that crawls for a search engine too": {
			policy: deny("maps"), site: star,
			want: "User-agent: Mapper\nDisallow: /",
		},
		"a crawler of a search engine by name, next to one of its purposes": {
			policy: deny("maps", "Mixed"), site: star,
			want: "User-agent: Mapper\nUser-agent: Mixed\nDisallow: /",
		},
		"purpose, crawler with its own group": {
			policy: deny("ai-training"), site: star + "\nUser-agent: teacher\nDisallow: /t\n",
			want: "User-agent: OldBot\nUser-agent: Control\nDisallow: /", keeps: "Teacher",
		},
		"purpose, crawler with a group for a User-Agent token": {
			policy: deny("ai-training"), site: "User-agent: OlderBot\nDisallow: /t\n",
			want: "User-agent: Teacher\nUser-agent: Control\nDisallow: /", keeps: "Oldster",
		},
		"name, crawler with its own group": {
			policy: deny("Teacher"), site: "User-agent: teacher/2.0 # old\nDisallow: /t\nCrawl-delay: 3\nSitemap: https://example.com/s.xml\n",
			kept: "# replaced by a policy: User-agent: teacher/2.0 # old\n# replaced by a policy: Disallow: /t\n# replaced by a policy: Crawl-delay: 3\nSitemap: https://example.com/s.xml\n",
			want: "User-agent: Teacher\nDisallow: /",
		},
		"name, group with several crawlers": {
			policy: deny("Teacher"), site: "User-agent: Linkster\nUser-agent: Teacher\nDisallow: /t\n",
			kept: "# replaced by a policy: User-agent: Linkster\n# replaced by a policy: User-agent: Teacher\n# replaced by a policy: Disallow: /t\n",
			want: "User-agent: Linkster\nDisallow: /t\nUser-agent: Teacher\nDisallow: /",
		},
		"name, crawler in several groups": {
			policy: deny("Oldster"), site: "User-agent: OldBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: OlderBot\nUser-agent: oldbot\nDisallow: /c\n",
			kept: "# replaced by a policy: User-agent: OldBot\n# replaced by a policy: Disallow: /a\n\nUser-agent: *\nDisallow: /b\n\n# replaced by a policy: User-agent: OlderBot\n# replaced by a policy: User-agent: oldbot\n# replaced by a policy: Disallow: /c\n",
			want: "User-agent: OldBot\nDisallow: /",
		},
		"name, limit that belongs to another crawler": {
			policy: deny("Teacher"), site: "User-agent: Linkster\nCrawl-delay: 5\nUser-agent: Teacher\nCrawl-delay: 1\nDisallow: /t\nCrawl-delay: 2\n",
			kept: "# replaced by a policy: User-agent: Linkster\n# replaced by a policy: Crawl-delay: 5\n# replaced by a policy: User-agent: Teacher\n# replaced by a policy: Crawl-delay: 1\n# replaced by a policy: Disallow: /t\n# replaced by a policy: Crawl-delay: 2\n",
			want: "User-agent: Linkster\nDisallow: /t\nCrawl-delay: 5\nUser-agent: Teacher\nDisallow: /",
		},
		"path, rules of * are copied": {
			policy: denyPath("seo", "/archive/*"), site: star,
			want: "User-agent: Linkster\nDisallow: /archive/\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 5\n" +
				"User-agent: Rankster\nDisallow: /archive/\nDisallow: /private/\nAllow: /private/open/",
		},
		"path with a longer Allow": {
			policy: denyPath("ai-data", "/private/"), site: star,
			want: "User-agent: Gatherer\nDisallow: /private/\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 5",
		},
		"path by name, rules of the own group are copied": {
			policy: denyPath("Teacher", "/archive/"), site: star + "\nUser-agent: Teacher\nDisallow: /t\n",
			kept: star + "\n# replaced by a policy: User-agent: Teacher\n# replaced by a policy: Disallow: /t\n",
			want: "User-agent: Teacher\nDisallow: /archive/\nDisallow: /t",
		},
		"path for a crawler that ignores *": {
			policy: denyPath("ads", "/shop/"), site: star,
			want: "User-agent: Advertiser\nDisallow: /shop/",
		},
		"Allow: / is never copied": {
			policy: denyPath("ai-data", "/x"), site: "User-agent: *\nAllow: /\nDisallow: /\nDisallow: /b\n",
			want: "User-agent: Gatherer\nDisallow: /x\nDisallow: /b",
		},
		"crawlers that fall back to the new group": {
			policy: deny("SeekBot"), site: star,
			want: "User-agent: SeekBot\nDisallow: /\n" +
				"User-agent: SeekBot-Image\nDisallow: /private/\nAllow: /private/open/\n" +
				"User-agent: Fallback\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 5",
		},
		"crawlers that fall back to the replaced group": {
			policy: deny("SeekBot"), site: "User-agent: SeekBot\nDisallow: /s\n",
			kept: "# replaced by a policy: User-agent: SeekBot\n# replaced by a policy: Disallow: /s\n",
			want: "User-agent: SeekBot\nDisallow: /\nUser-agent: SeekBot-Image\nUser-agent: Fallback\nDisallow: /s",
		},
		"crawler without its own token": {
			policy: deny("favicon"), site: star, want: "",
		},
		"crawler whose group another one obeys": {
			policy: deny("SeekBot-Image"), site: star, want: "User-agent: SeekBot-Image\nDisallow: /",
		},
		"two crawlers with one group": {
			policy: deny("SeekBot-Image", "favicon"), site: star, want: "User-agent: SeekBot-Image\nDisallow: /",
		},
		"crawler that no line can name": {
			policy: deny("monitor"), site: star, want: "",
		},
		"exception": {
			policy: Policy{Deny: []Statement{{Values: []string{"ai-training", "ai-data"}}}, Allow: []Statement{{Values: []string{"Gatherer", "OlderBot"}}}},
			want:   "User-agent: Teacher\nUser-agent: Control\nDisallow: /",
		},
		"signals in every group that may crawl": {
			policy: Policy{Deny: []Statement{{Values: []string{"ai-data"}}}, Signal: []Statement{{Values: []string{"search=yes"}}, {Values: []string{"ai-train=no"}}}},
			site:   star + "\nUser-agent: Linkster\nDisallow: /\n\nUser-agent: Rankster\nAllow: /r\nDisallow: /\n",
			want: "User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 5\n" +
				"User-agent: Rankster\nContent-Signal: search=yes, ai-train=no\nAllow: /r\nDisallow: /\n" +
				"User-agent: Gatherer\nDisallow: /",
		},
		"signals in a group with limits": {
			policy: Policy{Signal: []Statement{{Values: []string{"search=yes"}}}}, site: "User-agent: *\nRequest-rate: 1/10\nVisit-time: 0400-0845\nDisallow: /p\n",
			want: "User-agent: *\nContent-Signal: search=yes\nDisallow: /p\nRequest-rate: 1/10s\nVisit-time: 0400-0845",
		},
		"signals without a group in the file": {
			policy: Policy{Signal: []Statement{{Values: []string{"ai-train=no"}}}},
			want:   "User-agent: *\nContent-Signal: ai-train=no\nDisallow:",
		},
		"signal with another value in the file": {
			policy: Policy{Signal: []Statement{{Values: []string{"search=yes"}}, {Values: []string{"ai-train=no"}}}},
			site:   "User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /p\n",
			want:   "User-agent: *\nContent-Signal: ai-train=yes\nContent-Signal: search=yes\nDisallow: /p",
		},
		"licence": {
			policy: Policy{License: []Statement{{Values: []string{"https://example.com/rsl.xml"}}}}, site: star, want: "License: https://example.com/rsl.xml",
		},
		"file ends with an open group": {
			policy: deny("ai-data"), site: star + "\nUser-agent: Linkster\nCrawl-delay: 7\n",
			want: "Disallow:\nUser-agent: Gatherer\nDisallow: /",
		},
		"file ends with an open group and without line ending": {
			policy: deny("ai-data"), site: "User-agent: Linkster", kept: "User-agent: Linkster\n",
			want: "Disallow:\nUser-agent: Gatherer\nDisallow: /",
		},
		"rules before the first group": {
			policy: deny("ai-data"), site: "Disallow: /a\nCrawl-delay: 4\n",
			want: "User-agent: Gatherer\nDisallow: /",
		},
		"rules before a replaced group": {
			policy: deny("Teacher"), site: "Disallow: /a\nUser-agent: Teacher\nDisallow: /b\n",
			kept: "Disallow: /a\n# replaced by a policy: User-agent: Teacher\n# replaced by a policy: Disallow: /b\n",
			want: "User-agent: Teacher\nDisallow: /",
		},
		"line ending CR": {
			policy: deny("Teacher"), site: "User-agent: Teacher\rDisallow: /b\rUser-agent: *\rDisallow: /c\r",
			kept: "# replaced by a policy: User-agent: Teacher\r# replaced by a policy: Disallow: /b\rUser-agent: *\rDisallow: /c\r",
			want: "User-agent: Teacher\nDisallow: /",
		},
		"line ending CRLF": {
			policy: deny("ai-data"), site: "User-agent: *\r\nDisallow: /c\r\n", want: "User-agent: Gatherer\nDisallow: /",
		},
		"byte order mark": {
			policy: deny("Teacher"), site: "\ufeffUser-agent: Teacher\nDisallow: /b\n",
			kept: "\ufeff# replaced by a policy: User-agent: Teacher\n# replaced by a policy: Disallow: /b\n",
			want: "User-agent: Teacher\nDisallow: /",
		},
		"line with more words than the token": {
			policy: deny("Teacher"), site: "User-agent: Teacher crawler\nAllow: /very/long\n",
			kept: "# replaced by a policy: User-agent: Teacher crawler\n# replaced by a policy: Allow: /very/long\n",
			want: "User-agent: Teacher\nDisallow: /",
		},
		"token of two words": {
			policy: deny("data"), site: star, want: "User-agent: Two Words\nDisallow: /",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := compile(t, tt.policy)
			m, err := l.Merge([]byte(tt.site), new(judge.Settings))
			if err != nil {
				t.Fatal(err)
			}
			if got := section(string(m.Text())); got != tt.want {
				t.Errorf("section:\n%s\nwant:\n%s\nof:\n%s", got, tt.want, m.Text())
			}
			kept := tt.kept
			if kept == "" {
				kept = tt.site
			}
			if !strings.HasPrefix(string(m.Text()), kept) {
				t.Errorf("the site's part has changed:\n%q\nwant\n%q", m.Text(), kept)
			}
			var keeps []string
			for _, k := range m.Kept {
				keeps = append(keeps, k.Crawlers...)
			}
			if got := strings.Join(keeps, " "); got != tt.keeps {
				t.Errorf("keeps %q, want %q", got, tt.keeps)
			}
			checkMerged(t, l, m, tt.site)
		})
	}
}

// checkMerged checks properties of every merged file.
func checkMerged(t testing.TB, l *Lines, m *Merged, site string) {
	t.Helper()
	if strings.Contains(section(string(m.Text())), "Allow: /\n") {
		t.Errorf("Allow: / was added:\n%s", m.Text())
	}
	f := robots.Parse(m.Text())
	source := robots.Parse([]byte(site))
	lines := 0
	for line := range f.Lines() {
		lines++
		layer, number := m.Origin(line.Number)
		rule := line.Directive == robots.DirectiveAllow || line.Directive == robots.DirectiveDisallow || line.Directive == robots.DirectiveCrawlDelay
		if !rule || line.Value == "" || layer != judge.FileLayer {
			if rule && line.Value != "" && layer == judge.NoLayer {
				t.Errorf("line %d has no origin: %s", line.Number, line.Raw)
			}
			continue
		}
		if want, _ := source.Line(number); want.Directive != line.Directive || rule && want.Value != line.Value && line.Directive != robots.DirectiveCrawlDelay {
			t.Errorf("line %d, %q, has the origin line %d of the site, which is %q", line.Number, line.Raw, number, want.Raw)
		}
	}
	for _, beyond := range []int{0, lines + 1} {
		if layer, number := m.Origin(beyond); layer != judge.NoLayer || number != 0 || len(m.origins) != lines {
			t.Errorf("%d origins for %d lines; line %d has the origin %v %d", len(m.origins), lines, beyond, layer, number)
		}
	}
}

// The group for `*` does not apply to HTTP libraries by default, so their own
// group must not have a copy of its rules.
func TestStarBinds(t *testing.T) {
	l := compile(t, denyPath("library", "/api/"))
	for binds, want := range map[bool]string{true: "User-agent: Fetchlib\nDisallow: /api/\nDisallow: /p", false: "User-agent: Fetchlib\nDisallow: /api/"} {
		m, err := l.Merge([]byte("User-agent: *\nDisallow: /p\n"), &judge.Settings{HTTPClients: binds})
		if err != nil || section(string(m.Text())) != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", binds, err, m.Text(), want)
		}
	}
}

func TestMergeByDialect(t *testing.T) {
	l := compile(t, deny("Teacher"))
	const site = "User-agent: Linkster Teacher other\nDisallow: /a /b\n\nUser-agent: *\nAllow: /x\nDisallow: /\nAllow: /y\n"
	m, err := l.Merge([]byte(site), &judge.Settings{Dialect: robots.Kollar1996})
	if err != nil {
		t.Fatal(err)
	}
	if want := "User-agent: Linkster\nUser-agent: other\nDisallow: /a\nDisallow: /b\nUser-agent: Teacher\nDisallow: /"; section(string(m.Text())) != want {
		t.Errorf("%s\nwant\n%s", m.Text(), want)
	}

	l = compile(t, denyPath("ai-data", "/z"))
	m, err = l.Merge([]byte("User-agent: *\nDisallow: /b\nAllow: /\nDisallow: /c\n"), &judge.Settings{Dialect: robots.Koster1994})
	if want := "User-agent: Gatherer\nDisallow: /z\nDisallow: /b"; err != nil || section(string(m.Text())) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, m.Text(), want)
	}
}

func TestMergeErrors(t *testing.T) {
	l := compile(t, deny("ai-data"))
	var alone, together strings.Builder // a thousand crawlers above a thousand rules, each with one more
	for i := range 1000 {
		fmt.Fprintf(&alone, "User-agent: a%[1]d\nDisallow: /%[1]d\n", i)
		fmt.Fprintf(&together, "User-agent: a%d\n", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&together, "Disallow: /b%d\n", i)
	}
	for site, want := range map[string]string{
		alone.String() + together.String():               "a million rules",
		strings.Repeat("#", robots.MaxSize+1):            "500 KiB",
		strings.Repeat("# comment\n", robots.MaxSize/10): "500 KiB",
	} {
		if _, err := l.Merge([]byte(site), new(judge.Settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q", site, err, want)
		}
	}
}
