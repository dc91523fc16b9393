package e2e_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Budgets of hosts that only a pattern or a catch-all site serves, and of crawlers
// that only a group names, are listed and reset.
func TestBudgetsAreListedAndReset(t *testing.T) {
	t.Parallel()
	inline := func(seconds string) string {
		return "robots {\n\t\tsource inline \"User-agent: *\nUser-agent: AcmeCrawler\nCrawl-delay: " + seconds + "\"\n\t}\n\t"
	}
	s := start(t, "http://*.wild.test:$PORT {\n\t"+inline("600")+"respond page\n}\nhttp://z.named.test:$PORT {\n\troute {\n\t"+inline("600")+"respond page\n\t}\n}\nhttp://:$PORT {\n\t"+inline("60")+"respond page\n}\n")
	const acme = "AcmeCrawler/1.0"
	hosts := []string{"a.wild.test", "b.wild.test", "c.any.test", "z.named.test"}
	for _, ua := range []string{bingbot, acme} {
		name, _, _ := strings.Cut(map[string]string{bingbot: "bingbot", acme: acme}[ua], "/")
		for _, host := range hosts {
			s.wants(200, s.rawAt(host, "/", ua), "the first request to "+host)
			s.wants(429, s.rawAt(host, "/", ua), "another one to "+host)
		}
		all := adminValue[statusapi.Budgets](s, "budgets?limit=100&crawler="+name)
		if want := map[string]string{bingbot: "crawler", acme: "named"}[ua]; all.Class != want {
			t.Errorf("%s: class %s", name, all.Class)
		}
		seen := make(map[string]int)
		for i, b := range all.Budgets {
			seen[b.Site]++
			if named := strings.Contains(b.Origin, "z.named.test"); b.Free || !b.Used || named != (i < 1) {
				t.Errorf("%s: budget %d: %+v", name, i, b)
			}
		}
		if seen["*.wild.test"] != 2 || seen["*"] != 1 || seen["z.named.test"] != 1 {
			t.Errorf("%s: budgets by site: %v", name, seen)
		}
		for _, host := range []string{"a.wild.test", "c.any.test"} {
			one := adminValue[statusapi.Budgets](s, "budgets?site="+host+"&crawler="+name).Budgets
			if len(one) != 1 || !strings.Contains(one[0].Origin, host) || one[0].Free {
				t.Errorf("%s: budgets of %s: %+v", name, host, one)
			}
			if list := adminValue[statusapi.Origins](s, "origins?site="+host).Origins; len(list) != 1 {
				t.Errorf("origins of %s: %+v", host, list)
			}
		}
		s.adminRequest("POST", "budgets/reset?site=a.wild.test&crawler="+name, 200, nil)
		s.wants(200, s.rawAt("a.wild.test", "/", ua), "after its reset")
		s.wants(429, s.rawAt("b.wild.test", "/", ua), "another host, which was not reset")
		s.adminRequest("POST", "budgets/reset?crawler="+name, 200, nil)
		for _, host := range hosts {
			s.wants(200, s.rawAt(host, "/", ua), "after the reset, at "+host)
		}
	}
	s.adminRequest("GET", "budgets?site=unknown.test&crawler=bingbot", 404, nil)
}

// A budget is listed once for each site that serves it: not under a site at another port,
// and not again for another handler of the site, though all have the same file. The line
// that set it is shown with its value.
func TestBudgetsAreListedOnce(t *testing.T) {
	t.Parallel()
	file, other := filepath.Join(t.TempDir(), "robots.txt"), freePort(t)
	writeFile(t, file, "User-agent: bingbot\nCrawl-delay: 600\nRequest-rate: 1/10m\n")
	source := " {\n\t\tsource file " + file + "\n\t}\n\t"
	s := start(t, "http://:$PORT {\n\trobots"+source+"respond page\n}\n"+
		fmt.Sprintf("http://*.wild.test:%d {\n\t@api path /api/*\n\t@rest not path /api/*\n\trobots @api%srobots @rest%srespond page\n}\n", other, source, source))
	for range 2 {
		s.at("a.any.test", bingbot, "/")
		s.do("GET", fmt.Sprintf("http://localhost:%d/", other), bingbot, "b.wild.test", nil)
	}
	var got []string
	for _, b := range adminValue[statusapi.Budgets](s, "budgets?crawler=bingbot").Budgets {
		got = append(got, fmt.Sprintf("%s at %s", b.Origin, b.Site))
	}
	slices.Sort(got)
	if want := []string{fmt.Sprintf("http://a.any.test:%d at *", s.port), fmt.Sprintf("http://b.wild.test:%d at *.wild.test", other)}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, line := range adminValue[statusapi.Lines](s, "lines?refused=1").Lines {
		if want := map[int]string{2: "Crawl-delay: 600", 3: "Request-rate: 1/10m"}[line.Number]; line.Rule != want {
			t.Errorf("line %d: %q, want %q", line.Number, line.Rule, want)
		}
	}
	if out, _ := s.status(); !strings.Contains(out, "Crawl-delay: 600") {
		t.Errorf("status does not show the value:\n%s", out)
	}
}
