package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// bob has the credentials for the dashboards of these tests.
var bob = http.Header{"Authorization": {"Basic Ym9iOmhpY2N1cA=="}}

const bobsPassword = `basic_auth {
			bob $2a$04$iHJw53EGjO.GTwn6dZgdeeKPuJuwQh4Jj5GDzVvwV93hluXXHOXiK
		}`

// dashboards is a configuration with the sites of two tenants, each with a
// dashboard.
const dashboards = `http://a.test:$PORT, http://also-a.test:$PORT {
	handle /robots-dashboard* {
		` + bobsPassword + `
		robots_dashboard
	}
	handle /open* {
		robots_dashboard
	}
	robots {
		source inline "User-agent: *
Disallow: /of-a/
"
		publish
		policy {
			hidden /hidden-of-a/*
		}
	}
	respond "a"
}
http://b.test:$PORT {
	handle /robots-dashboard* {
		` + bobsPassword + `
		robots_dashboard
	}
	robots {
		source inline "User-agent: *
Disallow: /of-b/
"
		publish
		policy {
			hidden /hidden-of-b/*
		}
		fleet redis://:fleet-password@127.0.0.1:1
	}
	respond "b"
}
http://admin.test:$PORT {
	` + bobsPassword + `
	handle /a* {
		robots_dashboard {
			hosts a.test
		}
	}
	handle {
		robots_dashboard {
			all_sites
		}
	}
}
`

// dashboard gets data from a dashboard with bob's credentials.
func (s *server) dashboard(host, path, query string) string {
	s.t.Helper()
	resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s?%s", s.port, path, query), chrome, host, bob)
	s.wants(200, resp, host+path+"?"+query)
	return resp.body
}

// A dashboard shows neither the hosts of another tenant nor any secret.
func TestDashboardShowsNoOtherTenant(t *testing.T) {
	t.Parallel()
	s := start(t, dashboards)
	for _, host := range []string{"a.test", "also-a.test", "b.test"} {
		letter := host[strings.Index(host, ".test")-1:][:1]
		s.wants(403, s.at(host, googlebot, "/of-"+letter+"/x?token=secret-of-"+letter), "a disallowed path")
		s.wants(404, s.at(host, googlebot, "/hidden-of-"+letter+"/path"), "a hidden path")
		s.wants(200, s.at(host, chrome, "/"), "a person")
	}
	queries := []string{"", "data=live", "data=live&span=day", "data=live&span=month&after=0", "data=origins&text=1"}
	foreign := map[string]string{"a.test": "b", "also-a.test": "b", "b.test": "a"}
	for host, other := range foreign {
		for _, query := range queries {
			body := s.dashboard(host, "/robots-dashboard", query)
			for _, secret := range []string{other + ".test", "/of-" + other, "secret-of", "/hidden-of", "fleet-password", "127.0.0.1", "hiccup"} {
				if strings.Contains(body, secret) {
					t.Errorf("%s?%s shows %q: %.2000s", host, query, secret, body)
				}
			}
		}
	}
	if body := s.dashboard("a.test", "/robots-dashboard", "data=live"); !strings.Contains(body, "/of-a/x") || !strings.Contains(body, `"also-a.test"`) {
		t.Errorf("the dashboard does not show its own sites: %s", body)
	}
	if body := s.dashboard("admin.test", "/a", "data=live"); !strings.Contains(body, "/of-a/x") || strings.Contains(body, "b.test") || strings.Contains(body, "also-a.test") {
		i := strings.Index(body, "also-a.test")
		t.Errorf("the dashboard with hosts: %s", body[max(0, i-300):])
	}
	if body := s.dashboard("admin.test", "/", "data=live"); !strings.Contains(body, "/of-a/x") || !strings.Contains(body, "/of-b/x") || strings.Contains(body, "fleet-password") {
		t.Errorf("the dashboard of all sites: %s", body)
	}

	// Requests for the origins and checks of the other tenant get nothing.
	var live struct {
		Origins struct {
			Origins []struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(s.dashboard("b.test", "/robots-dashboard", "data=live")), &live); err != nil || len(live.Origins.Origins) == 0 {
		t.Fatalf("%v, %d origins", err, len(live.Origins.Origins))
	}
	for _, site := range []string{"b.test", "elsewhere.test"} {
		resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots-dashboard?data=live&site=a.test&site=%s", s.port, site), chrome, "a.test", bob)
		if resp.status != 404 || !strings.Contains(resp.body, `is not the name of a site with a robots handler: the sites are a.test, also-a.test"`) {
			t.Errorf("site %s: %d %s", site, resp.status, resp.body)
		}
	}
	id := url.QueryEscape(live.Origins.Origins[0].ID)
	for _, query := range []string{"data=origins&text=1&id=" + id, "data=live&id=" + id, "data=check&ua=Googlebot&url=http://b.test/of-b/"} {
		resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots-dashboard?%s", s.port, query), chrome, "a.test", bob)
		if strings.Contains(resp.body, "Disallow: /of-b") || strings.Contains(resp.body, `"action":"deny","reason":"disallowed","crawler"`) {
			t.Errorf("a.test?%s: %d %s", query, resp.status, resp.body)
		}
	}
	check := s.dashboard("a.test", "/robots-dashboard", "data=check&ua=Googlebot&url="+url.QueryEscape("http://a.test/hidden-of-a/path"))
	if !strings.Contains(check, `"hidden"`) || strings.Contains(check, "/hidden-of-a/*") {
		t.Errorf("a check of a hidden path: %s", check)
	}
}

// The dashboard answers authenticated requests only, and does not count them, whatever
// their User-Agent.
func TestDashboardBehindAuthentication(t *testing.T) {
	t.Parallel()
	s := start(t, dashboards)
	s.wants(401, s.at("a.test", chrome, "/robots-dashboard"), "a request without credentials")
	if resp := s.at("a.test", chrome, "/open?data=live"); resp.status != 403 || !strings.Contains(resp.body, "access external") {
		t.Errorf("an unprotected dashboard: %d %s", resp.status, resp.body)
	}
	s.wants(403, s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/open", s.port), chrome, "a.test", bob), "credentials that Caddy did not check")
	s.wants(405, s.do(http.MethodPost, fmt.Sprintf("http://localhost:%d/robots-dashboard?data=live", s.port), chrome, "a.test", bob), "POST")
	for range 5 {
		s.dashboard("a.test", "/robots-dashboard", "data=live")
		for _, ua := range []string{"Mozilla/5.0 (compatible; GPTBot/1.2)", "curl/8.5.0", "NewBot/1.0", ""} {
			s.wants(200, s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/robots-dashboard?data=live", s.port), ua, "a.test", bob), ua)
		}
	}
	s.wants(200, s.at("a.test", chrome, "/"), "a person")
	var live struct {
		Summary struct {
			People   struct{ Hour int }
			Crawlers struct{ Hour struct{ Requests int } }
		}
	}
	if err := json.Unmarshal([]byte(s.dashboard("a.test", "/robots-dashboard", "data=live")), &live); err != nil {
		t.Fatal(err)
	}
	// The two requests refused at /open, the one for / and the one without
	// credentials count: the dashboard did not answer them.
	if got := live.Summary.People.Hour; got != 4 {
		t.Errorf("%d requests of people, want 4", got)
	}
	if got := live.Summary.Crawlers.Hour.Requests; got != 0 {
		t.Errorf("%d requests of crawlers, want 0", got)
	}
}

// tenantNames are the names of five tenants of one server. They share site blocks,
// robots handlers, a named route and a file in every way that a configuration allows.
var tenantNames = []string{"alfa", "bravo", "charlie", "delta", "echo"}

const fiveTenants = `&(shared) {
	robots
}
&(dash) {
	robots_dashboard {
		access external
	}
}
http://alfa.test:$PORT, http://bravo.test:$PORT {
	robots {
		source file $DIR/robots.txt
		publish
	}
	@alfa host alfa.test
	handle @alfa {
		handle /dash* {
			` + bobsPassword + `
			robots_dashboard
		}
	}
	handle /dash* {
		` + bobsPassword + `
		robots_dashboard {
			hosts bravo.test
		}
	}
	handle /named* {
		invoke dash
	}
	respond hello
}
http://*.shop.test:$PORT {
	handle /dash* {
		` + bobsPassword + `
		robots_dashboard {
			hosts charlie.shop.test
		}
	}
	@delta not host delta.shop.test charlie.test
	robots @delta {
		source inline "User-agent: *
Disallow: /charlie/
"
		publish
	}
	@rest host delta.shop.test charlie.test
	robots @rest
	respond hello
}
http://delta.shop.test:$PORT {
	handle /dash* {
		` + bobsPassword + `
		robots_dashboard
	}
	invoke shared
	respond hello
}
http://echo.test:$PORT {
	handle /dash* {
		` + bobsPassword + `
		robots_dashboard
	}
	invoke shared
	respond hello
}
http://:$PORT {
	` + bobsPassword + `
	robots_dashboard
}
`

// What a tenant's page shows, in all its data, has no octet of another tenant's names:
// neither of hosts, paths and crawlers, nor in accidents and matchers.
func TestNoDataOfOtherTenants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir+"/robots.txt", disallow("/private/"))
	s := start(t, strings.ReplaceAll(fiveTenants, "$DIR", dir))
	hosts := map[string]string{"alfa": "alfa.test", "bravo": "bravo.test", "charlie": "charlie.shop.test", "delta": "delta.shop.test", "echo": "echo.test"}
	for name, host := range hosts {
		for _, path := range []string{"/" + name + "/x", "/private/x", "/robots.txt"} {
			s.at(host, "Mozilla/5.0 (compatible; "+name+"bot/1.0)", path)
			s.at(host, googlebot, path)
		}
	}
	writeFile(t, dir+"/robots.txt", "")
	s.refresh("") // an accident of alfa and bravo
	queries := []string{"", "data=live", "data=live&span=month&after=0", "data=origins&text=1"}
	for name, host := range hosts {
		for _, query := range append(queries, "data=check&ua=GPTBot&url=http://"+s.named(host)+"/"+name+"/") {
			body := strings.ToLower(s.dashboard(host, "/dash", query))
			if query == "data=live" && !strings.Contains(body, host) {
				t.Errorf("%s?%s shows nothing: %s", host, query, body)
			}
			for _, other := range tenantNames {
				if i := strings.Index(body, other); other != name && i >= 0 && query != "" {
					t.Errorf("%s?%s shows %s: … %s", host, query, other, body[max(0, i-200):min(len(body), i+100)])
				}
			}
		}
		// The data of another host is that of a host which does not exist.
		ask := func(other, query string) string {
			resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/dash?%s", s.port, strings.ReplaceAll(query, "HOST", other)), chrome, host, bob)
			return fmt.Sprint(resp.status, " ", strings.ReplaceAll(resp.body, other, "HOST"))
		}
		for other, at := range hosts {
			for _, query := range []string{"data=check&ua=GPTBot&url=http://HOST:1/", "data=live&site=HOST", "data=origins&text=1&site=HOST"} {
				if other == name {
					continue
				}
				if got, want := ask(at, query), ask("nobody.test", query); got != want {
					t.Errorf("%s asks about %s: %s, want %s", host, at, got, want)
				}
			}
		}
	}
	// Where the configuration does not say which sites it shows, the page is closed.
	for host, path := range map[string]string{"bravo.test": "/named?data=live", "nobody.test": "/?data=live", "": "/"} {
		resp := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), chrome, host, bob)
		if resp.status != 403 || !strings.Contains(resp.body, "hosts") || !strings.Contains(resp.body, "all_sites") {
			t.Errorf("%s%s: %d %s", host, path, resp.status, resp.body)
		}
	}
}
