package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// A client is identified by octets of its User-Agent, for a reason that is as strong as it is plain.
func TestEvidence(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Acme"})
	for _, c := range []struct {
		ua     string
		octets string // the evidence
		reason crawler.Reason
		by     crawler.Strength
	}{
		{"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot", crawler.RegistryToken, crawler.ByToken},
		{chrome + " acme/2", "acme", crawler.SiteToken, crawler.ByToken},
		{"FooSpider/1", "FooSpider", crawler.CrawlerWord, crawler.Declaration},
		{"Foo/1.0 (+https://foo.example)", "https://foo.example", crawler.Contact, crawler.Declaration},
		{"Foo 1 (a at b dot de)", "at b dot", crawler.Contact, crawler.Declaration},
		{"Mozilla/5.0 (compatible; Foo/1.0)", "Foo", crawler.CompatibleName, crawler.Declaration},
		{"Google-Extended", "Google-Extended", crawler.ControlToken, crawler.Declaration},
		{"Mozilla/5.0 Fooware", "Fooware", crawler.BareMozilla, crawler.ByForm},
		{"Fooware/2", "Fooware", crawler.ProgramName, crawler.ByForm},
		{"foo.example.com", "foo.example.com", crawler.HostName, crawler.ByForm},
		{"", "", crawler.NoUserAgent, crawler.ByForm},
		{"Mozilla/5.0", "Mozilla", crawler.BareMozilla, crawler.ByForm},
		{"python-requests/2.31.0", "python-requests", crawler.RegistryToken, crawler.ByToken},
		{chrome, "", crawler.NoReason, ""},
	} {
		if by := c.reason.Strength(); by != c.by {
			t.Errorf("%q: strength %q, want %q", c.ua, by, c.by)
		}
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
