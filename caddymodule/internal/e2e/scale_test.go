package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// manySites returns a Caddyfile with n sites. Each has a robots.txt in its own
// folder.
func manySites(n int, dir, options string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "http://s%d.test:$PORT {\n\trobots {\n\t\tsource file %s\n\t\t%s\n\t}\n\trespond page\n}\n", i, manyFile(dir, i), options)
	}
	return b.String()
}

func manyFile(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprint(i), "robots.txt")
}

// By default, Linux allows a user 128 inotify instances, so 200 sites must not use
// one each.
func TestHundredsOfSitesWithFiles(t *testing.T) {
	t.Parallel()
	const n = 200
	dir := t.TempDir()
	for i := range n {
		writeFile(t, manyFile(dir, i), disallow(fmt.Sprintf("/of-%d/", i)))
	}
	s := start(t, manySites(n, dir, "refresh 1h\n\t\tgrace off"))
	enforced := func(when string, i int) {
		t.Helper()
		host := s.named(fmt.Sprintf("s%d.test", i))
		s.wants(403, s.at(host, googlebot, fmt.Sprintf("/of-%d/x", i)), fmt.Sprintf("%s: %s, a disallowed path", when, host))
		s.wants(200, s.at(host, googlebot, fmt.Sprintf("/of-%d/x", (i+1)%n)), fmt.Sprintf("%s: %s, a path that another site disallows", when, host))
	}
	for i := range n {
		enforced("at first", i)
	}
	for _, options := range []string{"refresh 1h\n\t\tgrace off\n\t\tmode enforce", "refresh 1h\n\t\tgrace off"} {
		if err := s.reload(manySites(n, dir, options)); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 77, 127, 128, 150, n - 1} {
			enforced("after a reload", i)
		}
	}
	for _, i := range []int{77, n - 1} {
		path := manyFile(dir, i)
		writeFile(t, path+".new", disallow("/new/"))
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		host := s.named(fmt.Sprintf("s%d.test", i))
		s.eventually(fmt.Sprintf("the new file of %s is in force", host), func() bool { return s.at(host, googlebot, "/new/x").status == 403 })
	}
	s.wants(200, s.at(s.named("s0.test"), googlebot, "/new/x"), "a site whose file did not change")
}

// Each host has its own budget, also one that only a pattern names: an obedient
// crawler is not throttled at one host because it came to another.
func TestEachHostHasItsOwnBudget(t *testing.T) {
	t.Parallel()
	back := newFlaky(t)
	back.answerWith(text(200, "User-agent: *\nDisallow: /private/\nCrawl-delay: 600\n"))
	const inline = "robots {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\nCrawl-delay: 600\"\n\t\tpublish\n\t}\n\trespond page"
	for _, tt := range []struct{ name, address, host, site string }{
		{"any host", "http://:$PORT", "h%d.test", "robots\n\treverse_proxy " + back.URL},
		{"a wildcard", "http://*.wild.test:$PORT", "h%d.wild.test", "robots\n\treverse_proxy " + back.URL},
		{"any host, inline", "http://:$PORT", "h%d.test", inline},
		{"a wildcard, inline", "http://*.wild.test:$PORT", "h%d.wild.test", inline},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.address+" {\n\t"+tt.site+"\n}\nhttp://one.named.test:$PORT, http://two.named.test:$PORT {\n\t"+tt.site+"\n}\n")
			host := func(i int) string { return fmt.Sprintf(tt.host, i) }
			for i := range 30 {
				s.wants(200, s.rawAt(host(i), "/", bingbot), "the first request to "+host(i))
				s.wants(429, s.rawAt(host(i), "/", bingbot), "the second one to "+host(i))
			}
			s.wants(200, s.rawAt(host(1), "/", gptbot), "the first one of another crawler")
			s.wants(429, s.rawAt(host(1), "/", gptbot), "its second one")

			// Their budgets are listed, and can be reset.
			list := adminValue[statusapi.Budgets](s, "budgets?crawler=bingbot&limit=100").Budgets
			i := slices.IndexFunc(list, func(b statusapi.Budget) bool { return strings.Contains(b.Origin, host(7)) })
			if len(list) < 30 || i < 0 || list[i].Free {
				t.Errorf("%d budgets are listed: %+v", len(list), list)
			}
			s.adminRequest("POST", "budgets/reset?crawler=bingbot", 200, nil)
			s.wants(200, s.rawAt(host(7), "/", bingbot), "after the budgets were reset")

			// Hosts that the configuration names have budgets of their own.
			for _, name := range []string{"one.named.test", "two.named.test"} {
				s.wants(200, s.rawAt(name, "/", bingbot), "the first request to "+name)
				s.wants(429, s.rawAt(name, "/", bingbot), "the second one to "+name)
			}
			if origins := adminValue[statusapi.Origins](s, "origins").Origins; len(origins) > 4 {
				for i, want := range []string{"one.named.test", "two.named.test"} {
					if !strings.Contains(origins[i].Origin, want) {
						t.Errorf("origin %d is %s, want the hosts that a site names first", i, origins[i].Origin)
					}
				}
			}
		})
	}
}
