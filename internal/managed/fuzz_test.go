package managed

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// fuzzPolicies have each kind of statement about the crawlers of smallRegistry.
var fuzzPolicies = []Policy{
	deny("ai-training", "SeekBot"),
	deny("Teacher", "Oldster", "Linkster", "SeekBot-Image"),
	denyPath("seo", "/archive/*"),
	denyPath("Teacher", "/*.pdf$"),
	denyPath("SeekBot", "/"),
	{Signal: []Statement{{Values: []string{"ai-train=no"}}}, License: []Statement{{Values: []string{"https://example.com/l"}}}},
}

// For every site's file, Merge does not panic, the merged file is not larger
// than the limit, crawlers that the policy denies by name are denied, and each rule has its origin.
func FuzzMerge(f *testing.F) {
	var lines []*Lines
	for _, p := range fuzzPolicies {
		lines = append(lines, compile(f, p))
	}
	for i := range fuzzPolicies {
		for _, site := range []string{
			"", "User-agent: *\nDisallow: /a\nCrawl-delay: 2\n", "\ufeffUser-agent: Teacher\rUser-agent: Linkster\rDisallow: /*?x=\r",
			"Disallow: /o\nUser-agent: SeekBot\nUser-agent: OlderBot/2\nCrawl-delay: 3\nUser-agent: *\nAllow: /\nDisallow: /",
		} {
			f.Add([]byte(site), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, site []byte, n byte) {
		if len(site) > 3000 {
			return
		}
		o := &judge.Settings{Dialect: []robots.Dialect{robots.RFC9309, robots.Koster1994, robots.Kollar1996}[int(n)/len(lines)%3]}
		l := lines[int(n)%len(lines)]
		m, err := l.Merge(site, o)
		if err != nil {
			return
		}
		if len(m.Text()) > robots.MaxSize {
			t.Fatalf("%d octets", len(m.Text()))
		}
		file := robots.Parse(m.Text(), robots.WithDialect(o.Dialect))
		for row := range l.registry.All() {
			if l.covers[row.Index()].named.all && file.Group(row.Robots...).Match("/").Allowed {
				t.Fatalf("%s is not denied:\n%q", row.Name, m.Text())
			}
		}
		n2 := 0
		for line := range file.Lines() {
			if n2++; m.origins[line.Number-1] == (origin{}) && line.Value != "" && (line.Directive == robots.DirectiveAllow || line.Directive == robots.DirectiveDisallow) {
				t.Fatalf("line %d has no origin: %q", line.Number, line.Raw)
			}
		}
		if n2 != len(m.origins) {
			t.Fatalf("%d origins for %d lines", len(m.origins), n2)
		}
	})
}
