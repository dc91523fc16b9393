package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestEvidence(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Acme"})
	for _, c := range []struct {
		ua     string
		octets string // the evidence
		reason crawler.Reason
	}{
		{"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot", crawler.RegistryToken},
		{chrome + " acme/2", "acme", crawler.SiteToken},
		{"FooSpider/1", "FooSpider", crawler.CrawlerWord},
		{"Foo/1.0 (+https://foo.example)", "https://foo.example", crawler.Contact},
		{"Foo 1 (a at b dot de)", "at b dot", crawler.Contact},
		{"Mozilla/5.0 (compatible; Foo/1.0)", "Foo", crawler.CompatibleName},
		{"Google-Extended", "Google-Extended", crawler.ControlToken},
		{"Mozilla/5.0 Fooware", "Fooware", crawler.BareMozilla},
		{"Fooware/2", "Fooware", crawler.ProgramName},
		{"foo.example.com", "foo.example.com", crawler.HostName},
		{"", "", crawler.NoUserAgent},
		{chrome, "", crawler.NoReason},
	} {
		var id crawler.Identity
		if m.Identify(c.ua, &id); id.Len() == 0 {
			if c.reason != crawler.NoReason {
				t.Errorf("%q is a person, want %q", c.ua, c.reason)
			}
		} else if a := id.At(0); c.ua[a.Start:a.End] != c.octets || a.Reason != c.reason {
			t.Errorf("%q: the evidence is %q (%s), want %q (%s)", c.ua, c.ua[a.Start:a.End], a.Reason, c.octets, c.reason)
		}
	}
}
