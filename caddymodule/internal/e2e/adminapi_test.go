package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// adminValue gets a value from the admin API.
func adminValue[T any](s *server, route string) (value T) {
	s.t.Helper()
	s.adminRequest(http.MethodGet, route, 200, &value)
	return value
}

// adminRequest sends a request to the admin API. It decodes the answer into value,
// unless value is nil.
func (s *server) adminRequest(method, route string, want int, value any) response {
	s.t.Helper()
	got := s.do(method, fmt.Sprintf("http://localhost:%d/robots/%s", s.admin, route), "test", "", nil)
	if got.status != want {
		s.t.Fatalf("%s /robots/%s: status %d, want %d: %s", method, route, got.status, want, got.body)
	}
	if value != nil {
		if err := json.Unmarshal([]byte(got.body), value); err != nil {
			s.t.Fatalf("%s /robots/%s: %v: %s", method, route, err, got.body)
		}
	}
	return got
}

// end stops a server with SIGTERM, and waits until it has ended.
func (s *server) end() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the server has ended", func() bool {
		return s.cmd.Process.Signal(syscall.Signal(0)) != nil
	})
}

// tenants is a configuration of two sites. The first one has a hidden path, the
// address of the second one is a pattern.
const tenants = `
http://shop.test:$PORT {
	robots {
		refresh 1h
		policy {
			hidden /secret-area/*
		}
	}
	file_server {
		root $DIR/shop
	}
}
http://*.pages.test:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /drafts/
			Crawl-delay: 600
			TXT
	}
	respond "page"
}`

const shopRobots = "User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 600\n"

// startTenants starts a server with tenants and calls visit.
func startTenants(t *testing.T, global string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	writeFile(t, filepath.Join(s.dir, "shop/robots.txt"), shopRobots)
	writeFile(t, filepath.Join(s.dir, "shop/index.html"), "hello")
	s.run(global + tenants)
	s.visit()
	return s
}

// visit sends six requests: three of crawlers that are refused, one of a crawler
// that is allowed, and two of people.
func (s *server) visit() {
	s.t.Helper()
	s.wants(403, s.at("shop.test", gptbot, "/private/report?token=hunter2"), "a disallowed path")
	s.wants(404, s.at("shop.test", googlebot, "/secret-area/x?token=hunter2"), "a hidden path")
	s.wants(200, s.at("shop.test", googlebot, "/"), "an allowed path")
	s.wants(403, s.at("a.pages.test", "Mozilla/5.0 (compatible; PageBot/1.0)", "/drafts/1"), "a disallowed path of a page")
	for range 2 {
		s.wants(200, s.at("a.pages.test", chrome, "/drafts/1"), "a person")
	}
}

func TestAdminAPISummary(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "{\n\trobots {\n\t\tmetrics per_site 1\n\t}\n}")
	sum := adminValue[statusapi.Summary](s, "")
	if c := sum.Crawlers.Hour; c.Requests != 4 || c.Denied != 3 || c.Passed != 1 || sum.People.Hour != 2 || sum.Crawlers.Total != c {
		t.Errorf("summary: %+v, people %+v", sum.Crawlers, sum.People)
	}
	if !sum.Health.OK || len(sum.Health.Problems) != 0 || sum.Health.Memory == nil || sum.Health.Memory.Crawlers != 4 { // PageBot at the host and at its pattern
		t.Errorf("health: %+v", sum.Health)
	}
	s.visit()
	if c := adminValue[statusapi.Summary](s, "").Crawlers.Hour; c.Requests != 8 || c.Denied != 6 {
		t.Errorf("the counters did not change: %+v", c)
	}

	shop := adminValue[statusapi.Summary](s, "?site=shop.test")
	if len(shop.Sites) != 1 || shop.Crawlers.Hour.Requests != 6 || shop.People.Hour != 0 || shop.Health.Memory != nil {
		t.Errorf("one site: %+v", shop)
	}
	crawlers := adminValue[statusapi.Crawlers](s, "crawlers?limit=2&span=hour")
	if crawlers.Total != 3 || crawlers.Next != 2 || len(crawlers.Crawlers) != 2 || crawlers.Crawlers[0].Name != "Googlebot" || crawlers.Steps.Count != 60 {
		t.Errorf("crawlers: %+v", crawlers)
	}
	rest := adminValue[statusapi.Crawlers](s, "crawlers?limit=2&offset=2")
	if rest.Next != 0 || len(rest.Crawlers) != 1 || rest.Crawlers[0].Name != "PageBot" || rest.Crawlers[0].Class != "self-declared" {
		t.Errorf("the next page: %+v", rest)
	}
	rules := adminValue[statusapi.Lines](s, "lines").Lines
	if i := slices.IndexFunc(rules, func(r statusapi.Line) bool { return r.Rule == "Disallow: /private/" }); i < 0 || rules[i].Denied != 2 || rules[i].Number != 2 || rules[i].Layer != "file" {
		t.Errorf("rules: %+v", rules)
	}
	refusing := adminValue[statusapi.Lines](s, "lines?refused=1")
	if len(refusing.Lines) == 0 || refusing.Total != len(refusing.Lines) || slices.ContainsFunc(refusing.Lines, func(r statusapi.Line) bool { return r.Refused() == 0 }) {
		t.Errorf("rules that refused requests: %+v", refusing)
	}
	for _, metric := range []string{`caddy_robots_site_decisions_total{action="deny",site="shop.test"}`, `caddy_robots_site_people_total{site="(other)"}`} {
		if got := s.metric(metric); got != 4 {
			t.Errorf("%s is %v, want 4", metric, got)
		}
	}
}

func TestAdminAPIPoliciesAndBudgets(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	list := adminValue[statusapi.Origins](s, "origins")
	if len(list.Origins) != 2 {
		t.Fatalf("policies: %+v", list)
	}
	i := slices.IndexFunc(list.Origins, func(p statusapi.Origin) bool { return p.Origin != "" })
	p := list.Origins[i]
	if p.Source != "site" || p.State != "loaded" || !p.OK || p.ReadAt == nil || p.Rules != 1 || p.Hidden != 1 || p.Text != "" || !slices.Equal(p.Sites, []string{"shop.test"}) {
		t.Errorf("the policy of the shop: %+v", p)
	}
	full := adminValue[statusapi.Origins](s, "origins?text=1&id="+p.ID).Origins
	if len(full) != 1 || full[0].Text != shopRobots || len(full[0].Lines) != 1 || full[0].Lines[0].Number != 2 || full[0].Lines[0].Counts.Denied != 1 {
		t.Errorf("with its text: %+v", full)
	}
	s.adminRequest(http.MethodGet, "origins?id=none", 404, nil)

	s.wants(200, s.at("shop.test", bingbot, "/"), "the first request")
	s.wants(429, s.at("shop.test", bingbot, "/"), "the second one")
	budgets := adminValue[statusapi.Budgets](s, "budgets?crawler=bingbot")
	i = slices.IndexFunc(budgets.Budgets, func(b statusapi.Budget) bool { return b.Site == "shop.test" })
	if i < 0 || !budgets.Known || budgets.Budgets[i].Free || !budgets.Budgets[i].Used || budgets.Budgets[i].Line != 5 {
		t.Fatalf("budgets: %+v", budgets)
	}
	var reset statusapi.Reset
	s.adminRequest(http.MethodPost, "budgets/reset?crawler=bingbot&id="+p.ID, 200, &reset)
	if reset.Budgets != 1 {
		t.Errorf("%d budgets were reset", reset.Budgets)
	}
	s.wants(200, s.at("shop.test", bingbot, "/"), "after the reset")
	s.adminRequest(http.MethodPost, "budgets/reset", 400, nil)
	s.adminRequest(http.MethodPost, "budgets/reset?crawler=bingbot&id=none", 404, nil)
}

func TestAdminAPIChecksAURL(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	for _, tt := range []struct{ ua, url, action, reason, line string }{
		{"GPTBot", "http://shop.test/private/x?y=1", "deny", "disallowed", "2 file"},
		{"GPTBot", "http://shop.test/public", "pass", "allowed", "0 "},
		{"Googlebot", "http://shop.test/secret-area/x", "deny", "hidden", "6 hidden"},
		{chrome, "http://shop.test/private/x", "pass", "person", "0 "},
		{"PageBot/1.0", "http://never-asked.pages.test/drafts/x", "deny", "disallowed", fmt.Sprint(s.lineOf("Disallow: /drafts/"), " file")},
		{"PageBot/1.0", "http://shop.test/robots.txt", "pass", "exempt_path", "0 "},
	} {
		c := adminValue[statusapi.Check](s, "check?ua="+queryOf(tt.ua)+"&url="+queryOf(tt.url))
		if line := fmt.Sprint(c.Line, " ", c.Layer); c.Action != tt.action || c.Reason != tt.reason || c.Reason != "hidden" && line != tt.line || c.Message == "" {
			t.Errorf("%s for %s: %+v", tt.url, tt.ua, c)
		}
	}
	s.adminRequest(http.MethodGet, "check?ua=x&url=/private/", 400, nil)
	s.adminRequest(http.MethodGet, "check?ua=x", 400, nil)
	s.adminRequest(http.MethodGet, "check?ua=x&url=http://elsewhere.test/", 404, nil)
}

// A check reads a robots.txt that was never read.
func TestAdminAPICheckReadsAnUnreadFile(t *testing.T) {
	t.Parallel()
	s := start(t, "http://new.test:$PORT {\n\trobots\n\trespond /robots.txt \"User-agent: *\nDisallow: /private/\"\n}\n")
	if c := adminValue[statusapi.Check](s, "check?ua=GPTBot&url=http://new.test/private/"); c.Action != "deny" || c.State != "loaded" {
		t.Errorf("%+v", c)
	}
}

// No answer has a query string, a hidden path or a whole IP address.
func TestAdminAPIShowsNoSecrets(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	s.at("shop.test", googlebot, "//user:hunter2@x/secret-area/y")
	for _, route := range []string{"", "origins?text=1", "crawlers", "lines", "recent", "suspects", "budgets?crawler=GPTBot", "health"} {
		body := s.adminRequest(http.MethodGet, route, 200, nil).body
		for _, secret := range []string{"hunter2", "secret-area", `"127.0.0.1"`} {
			if strings.Contains(body, secret) {
				t.Errorf("/robots/%s contains %s: %s", route, secret, body)
			}
		}
	}
	recent := adminValue[statusapi.Recent](s, "recent").Refusals
	if len(recent) < 3 || recent[len(recent)-1].Path != "/private/report" || !strings.HasSuffix(recent[len(recent)-1].Client, "/24") && !strings.HasSuffix(recent[len(recent)-1].Client, "/48") {
		t.Errorf("refusals: %+v", recent)
	}
	if newer := adminValue[statusapi.Recent](s, fmt.Sprintf("recent?after=%d", recent[0].Seq)); len(newer.Refusals) != 0 || newer.Last != recent[0].Seq {
		t.Errorf("after the last one: %+v", newer)
	}
}

// GET can't change anything. A value that did not change is answered with 304.
func TestAdminAPIMethods(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	for _, tt := range []struct {
		method, route string
		want          int
	}{
		{"GET", "mode?mode=monitor", 405}, {"GET", "refresh", 405}, {"GET", "budgets/reset?crawler=x", 405}, {"POST", "crawlers", 405},
		{"DELETE", "", 405}, {"GET", "nothing", 404}, {"GET", "crawlers?limit=-1", 400}, {"GET", "crawlers?sort=size", 400},
		{"GET", "?span=year", 400}, {"POST", "mode", 400}, {"POST", "mode?mode=off", 400}, {"POST", "mode?mode=monitor&site=elsewhere.test", 404},
		{"GET", "origins?text=yes", 400}, {"POST", "refresh?id=none", 404}, {"GET", "budgets", 400},
	} {
		got := s.adminRequest(tt.method, tt.route, tt.want, nil)
		var answer struct{ Error string }
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil || !strings.HasPrefix(answer.Error, "robots: ") {
			t.Errorf("%s %s: %s", tt.method, tt.route, got.body)
		}
	}
	first := s.adminRequest(http.MethodGet, "origins", 200, nil)
	again := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots/origins", s.admin), "test", "", http.Header{"If-None-Match": {`"x", W/` + first.header.Get("Etag")}})
	if again.status != http.StatusNotModified || again.body != "" {
		t.Errorf("status %d, %q", again.status, again.body)
	}
	if head := s.adminRequest(http.MethodHead, "origins", 200, nil); head.header.Get("Etag") != first.header.Get("Etag") || head.body != "" {
		t.Errorf("HEAD: %v", head)
	}
}

func TestAdminAPIRefresh(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	writeFile(t, filepath.Join(s.dir, "shop/robots.txt"), "User-agent: *\nDisallow: /other/\n")
	var refresh statusapi.Refresh
	s.adminRequest(http.MethodPost, "refresh", 200, &refresh)
	if refresh.More != 0 || len(refresh.Reads) != 2 {
		t.Errorf("%+v", refresh)
	}
	s.wants(403, s.at("shop.test", gptbot, "/other/x"), "what the new file disallows")
	s.wants(404, s.at("shop.test", gptbot, "/private/x"), "what the new file allows")
	if i := slices.IndexFunc(refresh.Reads, func(r statusapi.Read) bool { return r.State == "loaded" && strings.Contains(r.Origin, "shop.test") }); i < 0 {
		t.Errorf("reads: %+v", refresh.Reads)
	} else {
		s.adminRequest(http.MethodPost, "refresh?id="+refresh.Reads[i].OriginID, 200, &refresh)
		if len(refresh.Reads) != 1 || refresh.Reads[0].State != "unchanged" {
			t.Errorf("a second time: %+v", refresh)
		}
	}
}

// A request for one site of a handler shows and changes no other site.
func TestAdminAPIOfOneSiteOfAHandler(t *testing.T) {
	t.Parallel()
	s := start(t, `
http://one.test:$PORT, http://two.test:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/

User-agent: bingbot
Crawl-delay: 600"
	}
	respond "hello"
}`)
	for _, host := range []string{"one.test", "two.test"} {
		s.wants(403, s.at(host, gptbot, "/private/"+host), "a disallowed path")
		s.wants(200, s.at(host, bingbot, "/"), "the first request")
		s.wants(429, s.at(host, bingbot, "/"), "the second one")
	}
	for _, route := range []string{"?", "origins?text=1&", "crawlers?", "lines?", "recent?", "budgets?crawler=bingbot&", "health?"} {
		body := s.adminRequest(http.MethodGet, route+"site=one.test", 200, nil).body
		if i := strings.Index(body, "two.test"); i >= 0 && !strings.HasPrefix(route, "origins") {
			t.Errorf("/robots/%s names another site: %.200s", route, body[i:])
		}
	}
	if p := adminValue[statusapi.Origins](s, "origins?text=1&site=one.test").Origins; len(p) != 1 || !slices.Equal(p[0].Sites, []string{"one.test"}) || p[0].Lines[0].Counts.Denied != 1 {
		t.Errorf("%+v", p)
	}
	var reset statusapi.Reset
	s.adminRequest(http.MethodPost, "budgets/reset?crawler=bingbot&site=one.test", 200, &reset)
	if reset.Budgets != 1 {
		t.Errorf("%d budgets were reset", reset.Budgets)
	}
	s.wants(200, s.at("one.test", bingbot, "/"), "after the reset")
	s.wants(429, s.at("two.test", bingbot, "/"), "the other site")
	if got := s.adminRequest(http.MethodPost, "mode?mode=monitor&site=one.test", 200, nil); strings.Contains(got.body, "two.test") {
		t.Errorf("another site is named: %s", got.body)
	}
	s.wants(200, s.at("one.test", gptbot, "/private/x"), "in monitor mode")
	s.wants(403, s.at("two.test", gptbot, "/private/x"), "another host of the block")
	if h := adminValue[statusapi.Health](s, "health?site=one.test"); len(h.Problems) != 1 || h.Problems[0].Subject != "one.test" {
		t.Errorf("problems: %+v", h.Problems)
	}
}

// A name that is no site and no host of one is an error, not an empty answer.
func TestAdminAPIUnknownSite(t *testing.T) {
	t.Parallel()
	s := startTenants(t, "")
	for _, route := range []string{"?", "origins?", "crawlers?", "lines?", "recent?", "suspects?", "budgets?crawler=bingbot&", "health?"} {
		for _, site := range []string{"shop.test", "SHOP.test", "*.pages.test", "a.pages.test", "b.pages.test"} {
			s.adminRequest(http.MethodGet, route+"site="+site, 200, nil)
		}
		got := s.adminRequest(http.MethodGet, route+"site=shop.test&site=elsewhere.test", 404, nil)
		if want := `robots: site=\"elsewhere.test\" is not the name of a site with a robots handler: the sites are *.pages.test, shop.test`; !strings.Contains(got.body, want) {
			t.Errorf("/robots/%s: %s, want %s", route, got.body, want)
		}
	}
}

// queryOf escapes a parameter.
func queryOf(s string) string {
	return strings.NewReplacer(" ", "%20", "&", "%26", "+", "%2B", "#", "%23", ";", "%3B", "?", "%3F", "=", "%3D", "(", "%28", ")", "%29", ",", "%2C").Replace(s)
}
