package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestExplain(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Acme"})
	for _, c := range []struct {
		ua     string
		octets string // the evidence
		reason crawler.Reason
		words  map[string]string
	}{
		{"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "GPTBot", crawler.RegistryToken, map[string]string{"GPTBot": "a token of GPTBot"}},
		{chrome + " acme/2", "acme", crawler.SiteToken, map[string]string{"acme": "a token of the site's robots.txt", "Chrome": "a browser or an app"}},
		{"FooSpider/1", "FooSpider", crawler.CrawlerWord, map[string]string{"FooSpider": "a word for a crawler"}},
		{"Foo/1.0 (+https://foo.example)", "https://foo.example", crawler.Contact, nil},
		{"Foo 1 (a at b dot de)", "at b dot", crawler.Contact, nil},
		{"Mozilla/5.0 (compatible; Foo/1.0)", "Foo", crawler.CompatibleName, map[string]string{"compatible": "the client's name follows"}},
		{"Google-Extended", "Google-Extended", crawler.ControlToken, nil},
		{"Mozilla/5.0 Fooware", "Fooware", crawler.BareMozilla, nil},
		{"Fooware/2", "Fooware", crawler.ProgramName, nil},
		{"foo.example.com", "foo.example.com", crawler.HostName, nil},
		{"", "", crawler.NoUserAgent, nil},
		{chrome, "", crawler.NoReason, map[string]string{"Mozilla": "the word with which browsers' User-Agents begin", "AppleWebKit": "a layout engine"}},
	} {
		x := m.Explain(c.ua)
		if x.Identity.Len() == 0 {
			if c.reason != crawler.NoReason {
				t.Errorf("%q is a person, want %q", c.ua, c.reason)
			}
		} else if a := x.Identity.At(0); c.ua[a.Start:a.End] != c.octets || a.Reason != c.reason {
			t.Errorf("%q: the evidence is %q (%s), want %q (%s)", c.ua, c.ua[a.Start:a.End], a.Reason, c.octets, c.reason)
		}
		for word, says := range c.words {
			found := false
			for _, w := range x.Words {
				found = found || w.Text == word && w.Meaning == says && c.ua[w.Start:w.End] == word
			}
			if !found {
				t.Errorf("%q: the words are %+v, want %q with %q", c.ua, x.Words, word, says)
			}
		}
	}
}
