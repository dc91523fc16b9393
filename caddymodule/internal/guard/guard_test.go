package guard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// world has requests of a verified Googlebot to a site whose file changes.
type world struct {
	*Guard
	now   time.Time
	rules *judge.Rules
	t     *testing.T
}

func newWorld(t *testing.T) *world {
	return &world{Guard: New(), now: time.Date(2026, 11, 21, 14, 30, 10, 0, time.UTC), t: t}
}

func (g *world) pass(d time.Duration) { g.now = g.now.Add(d) }

func (g *world) file(text string) {
	var err error
	if g.rules, err = (judge.Settings{}).Rules(judge.Response{Status: 200, Body: []byte(text)}); err != nil {
		g.t.Fatal(err)
	}
}

// get reports whether a request passes.
func (g *world) get(ua, target string) bool {
	q, d := &judge.Request{Target: target, UserAgents: []string{ua}, Origin: judge.NewOrigin("https", "a.test", 443), Time: g.now}, new(judge.Decision)
	g.rules.Check(q, d)
	d.Claim.State = verify.Verified
	if !g.Concerns(d) {
		return d.Action == judge.Pass
	}
	if d.Action == judge.Pass {
		g.Served("a.test", q, d)
		return true
	}
	return g.Spares("a.test", q, d)
}

// acted returns the lines that do not refuse, such as "Googlebot 3".
func (g *world) acted() string {
	var list []string
	for _, a := range g.Acted(g.now) {
		list = append(list, fmt.Sprint(a.Crawler, " ", a.Line))
	}
	return strings.Join(list, ", ")
}

// restart begins a process that has only what persist keeps.
func (g *world) restart() {
	guard := New()
	if err := guard.Load(g.Save()); err != nil {
		g.t.Error(err)
	}
	g.Guard = guard
}

// A verified search engine keeps, for 72 hours, what it was served in the week before a
// change, and nothing else.
func TestGuard(t *testing.T) {
	const before, after = "User-agent: *\nDisallow: /private/\n", "User-agent: *\nDisallow: /private/\nDisallow: /shop/\nDisallow: /*?sort=\n"
	google, bing := "Googlebot/2.1", "bingbot/2.0"
	begin := func(served string) *world {
		g := newWorld(t)
		g.file(before)
		for range 3 {
			for _, path := range strings.Fields(served) {
				g.get(google, path)
			}
			g.get(google, "/private/x") // it ignores this line
			g.get(bing, "/about")
			g.pass(2 * time.Minute)
		}
		return g
	}
	refuse := func(g *world, ua string, targets ...string) (passed bool) {
		for range 4 {
			passed = true
			for _, target := range targets {
				passed = g.get(ua, target) && passed
			}
			g.pass(30 * time.Second)
		}
		return passed
	}
	for _, tt := range []struct {
		name, served, ua, target string
		later                    time.Duration
		want                     bool
	}{
		{"the path", "/shop/x", google, "/shop/x", 0, true},
		{"below the rule", "/shop/x", google, "/shop/y", 0, true},
		{"with a query", "/list?sort=name /list?page=2", google, "/other?sort=size", 0, true},
		{"after six days", "/shop/x", google, "/shop/x", 6 * 24 * time.Hour, true},
		{"after eight days", "/shop/x", google, "/shop/x", 8 * 24 * time.Hour, false},
		{"not served there", "/about", google, "/shop/x", 0, false},
		{"another search engine", "/shop/x", bing, "/shop/x", 0, false},
		{"another crawler", "/shop/x", "GPTBot/1.0", "/shop/x", 0, false},
		{"a line that was always there", "/shop/x", google, "/private/x", 0, false},
	} {
		g := begin(tt.served)
		g.file(after)
		g.pass(tt.later)
		if got := refuse(g, tt.ua, tt.target); got != tt.want {
			t.Errorf("%s: passes %v", tt.name, got)
		}
	}

	g := begin("/shop/x")
	g.restart()
	g.file(after)
	if g.get(google, "/shop/x") {
		t.Error("it passes at once")
	}
	refuse(g, google, "/shop/x")
	if got := g.acted(); got != "Googlebot 3" {
		t.Error(got)
	}
	g.pass(70 * time.Hour)
	if !g.get(google, "/shop/x") || g.get(google, "/list?sort=name") {
		t.Error("after 70 hours it passes only where the guard has acted")
	}
	g.pass(2 * time.Hour)
	if refuse(g, google, "/shop/x") {
		t.Error("it passes after 72 hours")
	}
	if got := g.acted(); got != "" {
		t.Error(got)
	}
	g.file(before)
	g.get(google, "/shop/x")
	g.file(after)
	g.pass(time.Hour)
	if refuse(g, google, "/shop/x"); !refuse(g, google, "/shop/x") {
		t.Error("it does not pass after another change")
	}
	g.restart()
	if !g.get(google, "/shop/x") || g.get(google, "/list?sort=name") || g.get(bing, "/shop/x") {
		t.Error("after a restart it does not pass, or not only where the guard has acted")
	}
	g.End([]string{"a.test"}, g.now)
	if refuse(g, google, "/shop/x") || g.acted() != "" {
		t.Error("it passes although the operator insists")
	}
	for i := range 100 { // bounded
		g.file(fmt.Sprintf("User-agent: *\nDisallow: /%d/\n", i))
		g.get(google, fmt.Sprintf("/%d/x", i))
	}
	for e := range g.engines.All() {
		if len(e.Spared) > maxSpared {
			t.Errorf("%d lines", len(e.Spared))
		}
	}
}

// What persist keeps is bounded, what is damaged of it is left out, and what nobody can
// need any more is forgotten.
func TestGuardOfAFile(t *testing.T) {
	g := newWorld(t)
	served := make(map[uint64]servedTarget)
	for i := range uint64(2 * maxServed) {
		served[i] = servedTarget{"/x", g.now}
	}
	many, _ := json.Marshal(&guarded{Site: "a.test", Host: "a.test", Crawler: "Googlebot", Served: served, Spared: make([]sparedLine, 2*maxSpared)})
	guard := g.Guard
	damaged := []json.RawMessage{json.RawMessage("null"), json.RawMessage("7"), json.RawMessage(`{"crawler":"bingbot","served":7}`)}
	if err := guard.Load(append(damaged, many)); err == nil {
		t.Error("no error about what is damaged")
	}
	if saved := guard.Save(); len(saved) != 1 || !strings.Contains(string(saved[0]), "Googlebot") {
		t.Errorf("%s", saved)
	}
	for e := range guard.engines.All() {
		if len(e.Served) != maxServed || len(e.Spared) > maxSpared {
			t.Errorf("%d targets, %d lines", len(e.Served), len(e.Spared))
		}
	}
	guard.Acted(g.now.Add(servedFor))
	if len(guard.Save()) != 1 {
		t.Error("it is forgotten after 7 days")
	}
	guard.Acted(g.now.Add(servedFor + time.Second))
	if saved := guard.Save(); len(saved) > 0 {
		t.Errorf("later: %s", saved)
	}
}
