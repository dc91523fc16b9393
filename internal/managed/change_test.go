package managed

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// A new registry has another crawler of a purpose that is denied. So the file
// changes, and Changed describes the change.
func TestChanged(t *testing.T) {
	site := []byte("User-agent: *\nDisallow: /p\n")
	merge := func(p Policy, r *crawler.Registry, site []byte) []byte {
		t.Helper()
		l, err := p.Compile(r)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Merge(site, new(judge.Settings))
		if err != nil {
			t.Fatal(err)
		}
		return m.Text()
	}
	registry := smallRegistry(t)
	more, err := registry.With(crawler.Crawler{Name: "NewBot", UserAgents: []string{"NewBot"}, Robots: []string{"NewBot"}, Purposes: []crawler.Purpose{crawler.AIData}, Class: crawler.Registered})
	if err != nil {
		t.Fatal(err)
	}
	if got := Changed(merge(deny("ai-data"), registry, site), merge(deny("ai-data"), registry, append(site, "# more"...))); got != "" {
		t.Errorf("%q, although only the site's own lines changed", got)
	}
	old := merge(deny("ai-data"), registry, site)
	for want, after := range map[string][]byte{
		"":                                       merge(deny("ai-data"), registry, site),
		"new: NewBot":                            merge(deny("ai-data"), more, site),
		"new: NewBot; no longer named: Gatherer": merge(Policy{Deny: []Deny{{Crawlers: []string{"ai-data"}}}, Allow: []Allow{{Crawlers: []string{"Gatherer"}}}}, more, site),
		"other rules: Gatherer":                  merge(denyPath("ai-data", "/x"), registry, site),
	} {
		if got := Changed(old, after); got != want {
			t.Errorf("%q, want %q\n%s", got, want, after)
		}
	}
}
