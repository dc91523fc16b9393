package crawler_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// identify returns "class token" for each agent.
func identify(m *crawler.Matcher, ua string) []string {
	var id crawler.Identity
	m.Identify(ua, &id)
	var out []string
	for _, a := range id.Agents() {
		out = append(out, a.Class.String()+" "+a.Token)
	}
	return out
}

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"

func TestSitesWithoutOwnTokensShareOneMatcher(t *testing.T) {
	r := crawler.Builtin()
	if r.Matcher(nil) != r.Matcher([]string{"*", "Googlebot", "gptbot", ""}) {
		t.Error("a site that names only the registry's tokens does not share the base matcher")
	}
	if r.Matcher([]string{"Acme"}) == r.Matcher(nil) {
		t.Error("a site that names another token shares the base matcher")
	}
}

func TestIdentifyReadsAtMostMaxUserAgentOctets(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	pad := strings.Repeat("x ", crawler.MaxUserAgent/2)
	for _, c := range []struct {
		behaviour string
		ua        string
		person    bool
	}{
		{"a token before the end", pad[:crawler.MaxUserAgent-10] + "Googlebot ", false},
		{"a browser's, exactly MaxUserAgent octets long", chrome + pad[:crawler.MaxUserAgent-len(chrome)], true},
		{"a browser's, longer than MaxUserAgent octets", chrome + pad, false},
		{"a token at the end, but the word continues after MaxUserAgent octets", chrome + pad[:crawler.MaxUserAgent-len(chrome)-9] + "Googlebot-Unknown", false},
		{"one word of 64 KiB", strings.Repeat("ab", 32<<10), false},
		{"64 KiB of spaces", strings.Repeat(" ", 64<<10), false},
	} {
		var id crawler.Identity
		m.Identify(c.ua, &id)
		if got := id.Class() == crawler.Person; got != c.person {
			t.Errorf("%s: person %v, want %v (%v)", c.behaviour, got, c.person, agents(&id))
		}
		for _, a := range id.Agents() {
			if a.Start < 0 || a.End < a.Start || a.End > crawler.MaxUserAgent {
				t.Errorf("%s: the evidence is octets %d to %d, outside of what is read", c.behaviour, a.Start, a.End)
			}
		}
	}
}

func TestIdentifyYieldsAtMostMaxAgents(t *testing.T) {
	var b strings.Builder
	for c := range crawler.Builtin().All() {
		if len(c.UserAgents) > 0 && b.Len() < 400 {
			b.WriteString(c.UserAgents[0] + "; ")
		}
	}
	var id crawler.Identity
	crawler.Builtin().Matcher(nil).Identify(b.String(), &id)
	if id.Len() != crawler.MaxAgents {
		t.Errorf("%d agents, want %d", id.Len(), crawler.MaxAgents)
	}
}

func TestIdentifyAllocatesNothing(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Acme"})
	for _, c := range typicalUAs {
		var id crawler.Identity
		if n := testing.AllocsPerRun(100, func() { m.Identify(c.ua, &id) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
