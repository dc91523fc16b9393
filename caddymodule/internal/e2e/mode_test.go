package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// The admin API can set monitor mode at once. The next load of the configuration
// ends it.
func TestModeIsSetUntilTheNextLoad(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	var mode statusapi.Mode
	s.adminRequest(http.MethodPost, "mode?mode=monitor&site=shop.test", 200, &mode)
	if !slices.Equal(mode.Sites, []string{"shop.test"}) {
		t.Errorf("%+v", mode)
	}
	s.wants(404, s.at("shop.test", gptbot, "/private/x"), "a disallowed path that does not exist")
	for range 3 {
		s.wants(200, s.at("shop.test", bingbot, "/"), "without a Crawl-delay")
	}
	s.wants(403, s.at("a.pages.test", gptbot, "/drafts/1"), "another site")
	h := adminValue[statusapi.Health](s, "health?site=shop.test")
	if len(h.Problems) != 1 || h.Problems[0].Kind != "mode" || h.OK {
		t.Errorf("health: %+v", h)
	}
	i := slices.IndexFunc(adminValue[statusapi.Summary](s, "").Sites, func(site statusapi.Site) bool {
		return site.Name == "shop.test" && site.Overridden && site.Mode == "monitor" && site.Crawlers.Total.WouldDeny == 1
	})
	if i < 0 {
		t.Errorf("summary: %+v", adminValue[statusapi.Summary](s, "").Sites)
	}
	s.adminRequest(http.MethodPost, "mode?mode=configured", 200, nil)
	s.wants(403, s.at("shop.test", gptbot, "/private/x"), "after the return to the configured mode")
	if set, returned := s.lines("the mode was set until the next load of the configuration"), s.lines("the mode is again the one of the configuration"); len(set) != 1 || set[0]["mode"] != "monitor" || len(returned) != 1 || returned[0]["mode"] != "enforce" {
		t.Errorf("log lines: %v and %v", set, returned)
	}
	s.adminRequest(http.MethodPost, "mode?mode=monitor", 200, nil)
	s.wants(200, s.at("a.pages.test", gptbot, "/drafts/1"), "in monitor mode")
	if err := s.reload(tenants); err != nil {
		t.Fatal(err)
	}
	s.wants(403, s.at("a.pages.test", gptbot, "/drafts/1"), "after the next load")
	s.wants(403, s.at("shop.test", gptbot, "/private/x"), "after the next load")
	if h := adminValue[statusapi.Health](s, "health"); !h.OK {
		t.Errorf("health after the next load: %+v", h)
	}
}

// A site in monitor mode can be switched to enforce.
func TestModeEnforce(t *testing.T) {
	t.Parallel()
	s := start(t, `
http://:$PORT {
	robots {
		mode monitor
		source inline "User-agent: *
Disallow: /private/"
	}
	respond "hello"
}`)
	s.wants(200, s.get(gptbot, "/private/x"), "in monitor mode")
	s.adminRequest(http.MethodPost, "mode?mode=enforce", 200, nil)
	s.wants(403, s.get(gptbot, "/private/x"), "in enforce mode")
	s.wants(200, s.get(chrome, "/private/x"), "a person")
	if sites := adminValue[statusapi.Summary](s, "").Sites; len(sites) != 1 || sites[0].Name != statusapi.AnySite || sites[0].Mode != "enforce" || sites[0].Crawlers.Total.WouldDeny != 1 || sites[0].Crawlers.Total.Denied != 1 {
		t.Errorf("sites: %+v", sites)
	}
}

// In monitor mode, the crawlers and purposes that enforce names are refused, and
// only they read the published file.
func TestEnforceStepByStep(t *testing.T) {
	t.Parallel()
	s := start(t, `
http://:$PORT {
	robots {
		mode monitor {
			enforce ai-training Bingbot
		}
		policy {
			deny seo
			deny GPTBot /drafts/
		}
		source inline "User-agent: *
Disallow: /private/
Crawl-delay: 600"
	}
	header >X-Action {http.robots.action}
	respond "hello"
}`)
	action := func(want, agent, path string) {
		t.Helper()
		if got := s.get(agent, path).header.Get("X-Action"); got != want {
			t.Errorf("%s at %s: %s, want %s", agent, path, got, want)
		}
	}
	s.wants(403, s.get(gptbot, "/private/x"), "a purpose that is enforced")
	s.wants(403, s.get(gptbot, "/drafts/x"), "by the policy")
	s.wants(403, s.get(bingbot, "/private/x"), "a crawler that is enforced")
	s.wants(200, s.get(bingbot, "/"), "its first request")
	s.wants(429, s.get(bingbot, "/"), "its second request")
	action("would_deny", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "/")
	action("would_deny", "Mozilla/5.0 (compatible; AnyBot/1.0)", "/private/x")
	action("pass", "Mozilla/5.0 (compatible; AnyBot/1.0)", "/")
	action("would_throttle", "Mozilla/5.0 (compatible; AnyBot/1.0)", "/")
	s.wants(200, s.get(chrome, "/private/x"), "a person")
	for agent, published := range map[string]bool{gptbot: true, chrome: false, "AhrefsBot": false} {
		if got := strings.Contains(s.get(agent, "/robots.txt").body, "/drafts/"); got != published {
			t.Errorf("%s reads the published file: %v", agent, got)
		}
	}
	s.reasonsAddUp("disallowed", "pace")
	for series, want := range map[string]float64{
		`{action="deny",crawler="GPTBot",reason="disallowed"}`:          2,
		`{action="throttle",crawler="bingbot",reason="crawl_delay"}`:    1,
		`{action="would_deny",crawler="AhrefsBot",reason="disallowed"}`: 1,
	} {
		if n := s.metric("caddy_robots_decisions_total" + series); n != want {
			t.Errorf("%s: %v", series, n)
		}
	}
	sites := adminValue[statusapi.Summary](s, "").Sites
	if total := sites[0].Crawlers.Total; sites[0].Mode != statusapi.Both || total.Denied != 3 || total.Throttled != 1 || total.WouldDeny != 2 || total.WouldThrottle != 1 {
		t.Errorf("%+v", sites[0])
	}
	s.adminRequest(http.MethodPost, "mode?mode=monitor", 200, nil)
	s.wants(200, s.get(gptbot, "/private/x"), "after the switch to monitor mode")
	s.adminRequest(http.MethodPost, "mode?mode=configured", 200, nil)
	s.wants(403, s.get(gptbot, "/private/x"), "after the switch back")
}

// The mode of one crawler changes that of no other. Its name is compared by its row in the
// registry, and goes before a purpose. The answer says what is in force. A load that drops
// a mode is told.
func TestModeOfACrawlerWithAPurpose(t *testing.T) {
	t.Parallel()
	const config = `
http://shop.test:$PORT {
	robots {
		mode monitor {
			enforce seo AhrefsBot
		}
		source inline "User-agent: *
Disallow: /private/"
	}
	respond "hello"
}`
	s := start(t, config)
	for _, step := range []struct {
		query, mode, crawler    string
		semrush, ahrefs, gptbot int
	}{
		{"mode=monitor&crawler=SemrushBot", "monitor", "SemrushBot", 200, 403, 200},
		{"mode=monitor&crawler=ahrefsbot", "monitor", "AhrefsBot", 200, 200, 200},
		{"mode=enforce&crawler=gptbot", "enforce", "GPTBot", 200, 200, 403},
		{"mode=monitor&crawler=GPTBot", "monitor", "GPTBot", 200, 200, 200},
		{"mode=enforce&crawler=GPTBOT&site=shop.test", "enforce", "GPTBot", 200, 200, 403},
		{"mode=configured&crawler=AhrefsBot", "enforce", "AhrefsBot", 200, 403, 403},
		{"mode=configured", "both", "", 403, 403, 200},
		{"mode=enforce", "enforce", "", 403, 403, 403},
		{"mode=configured&crawler=GPTBot", "monitor", "GPTBot", 403, 403, 200},
		{"mode=configured", "both", "", 403, 403, 200},
	} {
		var answer statusapi.Mode
		s.adminRequest(http.MethodPost, "mode?"+step.query, 200, &answer)
		if answer.Mode != step.mode || answer.Crawler != step.crawler || answer.Note != "" {
			t.Errorf("%s: %+v", step.query, answer)
		}
		s.wants(step.semrush, s.at("shop.test", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", "/private/x"), "SemrushBot after "+step.query)
		s.wants(step.ahrefs, s.at("shop.test", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "/private/x"), "AhrefsBot after "+step.query)
		s.wants(step.gptbot, s.at("shop.test", gptbot, "/private/x"), "GPTBot after "+step.query)
	}
	if h := adminValue[statusapi.Health](s, "health"); slices.ContainsFunc(h.Problems, func(p statusapi.Problem) bool { return p.Kind == "mode" }) {
		t.Errorf("in the configured mode: %+v", h.Problems)
	}
	s.adminRequest(http.MethodPost, "mode?mode=enforce&crawler=GPTBot", 200, nil)
	if err := s.reload(config + "\n"); err != nil {
		t.Fatal(err)
	}
	const dropped = "GPTBot at shop.test was in enforce mode until this load"
	h := adminValue[statusapi.Health](s, "health")
	if !slices.ContainsFunc(h.Problems, func(p statusapi.Problem) bool { return p.Kind == "mode_dropped" && p.Message == dropped }) {
		t.Errorf("health after the load: %+v", h.Problems)
	}
	if len(s.lines("the load of the configuration ended a mode: "+dropped)) != 1 {
		t.Error("the log does not say that a mode ended")
	}
}
