package counters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// rulesOf compiles a robots.txt.
func rulesOf(t testing.TB, text string) *judge.Rules {
	t.Helper()
	compiled, err := judge.Settings{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return compiled.RulesOf(judge.Content{Body: []byte(text), Outcome: judge.Loaded})
}

func allowed(r *judge.Rules) *judge.Decision {
	return &judge.Decision{Reason: judge.Allowed, Rules: r, Subject: judge.Subject{Agent: goodbot, Group: r.File().Star()}}
}

func TestMissed(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	rules, other := rulesOf(t, "User-agent: *\nDisallow: /a$\n"), rulesOf(t, "User-agent: *\nDisallow: /b$\n")
	count := func(d *judge.Decision, host, target string) {
		r := clock.requestTo(host)
		r.Source, r.Target = 7, target
		site.Count(d, r)
	}
	missed := func(source uint64, r *judge.Rules, host string) string {
		_, text := c.Missed(source, r.Tag(), func(o judge.Origin) bool { return host == "" || o.Host == host }).Of(2, "")
		return text
	}
	for range 3 {
		count(allowed(rules), "one.test", "/a/?secret")
		count(allowed(rules), "two.test", "/a/x")
	}
	count(allowed(rules), "one.test", "/about")
	if got, want := missed(7, rules, ""), `robots requested /a/ and others 6 times: add "Disallow: /a/"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := missed(7, rules, "two.test"), `robots requested /a/x 3 times: add "Disallow: /a/"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if missed(8, rules, "") != "" || missed(7, other, "") != "" || missed(7, rules, "three.test") != "" {
		t.Error("another source, version or host has them")
	}
	count(allowed(other), "one.test", "/b/")
	if got, want := missed(7, other, "one.test"), `robots requested /b/ 1 time: add "Disallow: /b/"`; got != want {
		t.Errorf("a new version: %q, want %q", got, want)
	}
	refused := allowed(rules)
	refused.Action, refused.Reason = judge.Throttle, judge.CrawlDelay
	count(refused, "four.test", "/a/")
	count(allowed(rules), "four.test", "/a/"+strings.Repeat("x", maxPassText))
	if got := missed(7, rules, "four.test"); got != "" {
		t.Errorf("a refusal, or a long target: %q", got)
	}
}

// Strangers can't fill the memory, and requests that are not kept cost nothing.
func TestMissedIsBounded(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("*.example.com")
	d := allowed(rulesOf(t, "User-agent: *\nDisallow: /a$\n"))
	all := func(judge.Origin) bool { return true }
	for round := range 3 {
		for i := range 2 * maxPassed {
			r := clock.requestTo(fmt.Sprintf("h%d-%d.example.com", round, i))
			r.Target = fmt.Sprintf("/a/%d", i)
			site.Count(d, r)
		}
		c.Missed(0, d.Rules.Tag(), all)
	}
	if n := len(c.passes.missed); n != maxNearFiles || cap(c.passes.list) != maxPassed {
		t.Errorf("%d files, room for %d requests", n, cap(c.passes.list))
	}
	if c.passes.list[:1][0].rules != nil {
		t.Error("requests that were looked at keep a version in memory")
	}
	r := clock.request()
	if n := testing.AllocsPerRun(3*maxPassed, func() { site.Count(d, r) }); n != 0 {
		t.Errorf("%v allocations for each request", n)
	}
}
