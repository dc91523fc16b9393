package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestExtendDoesNotChangeKnownCrawlers(t *testing.T) {
	base := crawler.Builtin()
	googlebot := *base.Lookup("Googlebot")
	change := func(f func(c *crawler.Crawler)) crawler.Crawler {
		c := googlebot
		f(&c)
		return c
	}
	row := func(name string, tokens ...string) crawler.Crawler {
		return crawler.Crawler{Name: name, Class: crawler.Registered, UserAgents: tokens, Robots: []string{name}}
	}
	preference := func(token string) crawler.Crawler {
		return crawler.Crawler{Name: "Preference " + token, Class: crawler.Registered, ControlOnly: true, Robots: []string{token}}
	}
	for _, c := range []struct {
		row  crawler.Crawler
		want string // part of the refusal; "" if the row is added or changes nothing
	}{
		{row("Acme", "AcmeFetch"), ""},
		{googlebot, ""},
		{change(func(c *crawler.Crawler) { c.UserAgents = []string{"Evilbot"} }), "can't change its facts"},
		{change(func(c *crawler.Crawler) { c.Robots = []string{"Evil"} }), "can't change its facts"},
		{change(func(c *crawler.Crawler) { c.Purposes = []crawler.Purpose{crawler.AITraining} }), "can't change its facts"},
		{change(func(c *crawler.Crawler) { c.Verify.Hosts = []string{"evil.example"} }), "can't change its facts"},
		{change(func(c *crawler.Crawler) { c.Name = "googleBOT"; c.Star = crawler.No }), "can't change its facts"},
		{row("Evil1", "googlebot"), `is, or contains, a token of crawler "Googlebot"`},
		{row("Evil2", "Googlebot/2.1"), `is, or contains, a token of crawler "Googlebot"`},
		{row("Evil3", "compatible; Googlebot"), `is, or contains, a token of crawler "Googlebot"`},
		{row("Evil4", "Googlebot-2"), `is, or contains, a token of crawler "Googlebot"`},
		{row("Evil5", "Chrome"), "browsers send the word"},
		{row("Evil6", "Mozilla/5.0 (compatible"), "browsers send the word"},
		{row("Evil7"), "user_agents is empty"},
		{row("Evil9", "acme-"), "begins the names of a family"},
		{crawler.Crawler{Name: "AcmeBot", Class: crawler.App, UserAgents: []string{"AcmeBot"}, Robots: []string{"AcmeBot"}}, "an app is bound by no group"},
		{preference("Any-Training"), ""},
		{preference("GPTBot"), `is, or contains, a token of crawler "GPTBot"`},
		{preference("Yandex"), "already belongs to crawler"}, // a group that several crawlers obey
		{preference("Google-Extended"), "already belongs to crawler"},
		{row("Evil8", "Google-Extended"), "already belongs to crawler"},
		{preference("Firefox"), "browsers send one of these words"},
	} {
		r, refused := base.Extend([]crawler.Crawler{c.row})
		got := ""
		if len(refused) > 0 {
			got = refused[0].String()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.row.Name, c.row.UserAgents, got, c.want)
		}
		if got := identify(r.Matcher(nil), "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"); !slices.Equal(got, []string{"crawler Googlebot"}) {
			t.Errorf("%s %q: Googlebot is %q", c.row.Name, c.row.UserAgents, got)
		}
		if known := r.Lookup("Googlebot"); known.Purpose() != crawler.Search || !slices.Equal(known.Robots, googlebot.Robots) {
			t.Errorf("%s %q: Googlebot is now %+v", c.row.Name, c.row.UserAgents, known)
		}
	}

	r, refused := base.Extend([]crawler.Crawler{row("Acme", "AcmeFetch"), row("acme", "Other"), row("Third", "acmefetch"), row("Fourth", "Fourthfetch")})
	if len(refused) != 2 || r.Len() != base.Len()+2 || r.Lookup("Fourthfetch") == nil {
		t.Errorf("refused %v and added %d rows, want 2 and 2", refused, r.Len()-base.Len())
	}
}

func TestReadAdditionsLeavesOutInvalidRows(t *testing.T) {
	rows, refused, err := crawler.ReadAdditions([]byte("# ours\n" + `{"name":"Acme"}
{"name":"Firefox"}
{"name":
{"name":"Beta","star":"no"}
`))
	if err != nil || len(rows) != 2 || len(refused) != 2 {
		t.Fatalf("%v, %v, %v", rows, refused, err)
	}
	if refused[0].Name != "Firefox" || refused[1].Name != "line 4" {
		t.Errorf("refused %v", refused)
	}
	for _, in := range []string{"", "<!DOCTYPE html>\n<html></html>\n", strings.Repeat("{}\n", 10_000+1)} {
		if rows, _, err := crawler.ReadAdditions([]byte(in)); err == nil {
			t.Errorf("%.20q yields %d rows, want an error", in, len(rows))
		}
	}
}
